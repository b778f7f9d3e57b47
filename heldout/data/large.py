"""Sources of a million rows or more: read twice as a stream and written to disk, by the rules of those that are held.

The first time for what depends on all rows (columns, label values, whether ids repeat, whether there is markup), the
second to make examples, a block at a time, by the very code that makes them of a whole table. What was written is kept
in the cache (heldout/cache.py) under a hash of the file, of how it is read and of our code.
"""

import hashlib
import json
import sys
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from heldout.cache import cached
from heldout.data import minhash
from heldout.data.cleaning import LOOK, has_markup
from heldout.data.corpus_files import JSON_LINES, records
from heldout.data.defaults import LABEL
from heldout.data.duplicates import fold_example, fold_field
from heldout.data.files import stem, suffix
from heldout.data.labelled import Form, read_some
from heldout.data.labels import NO_LABEL, label_names, raw_label, with_numbers
from heldout.data.names import Reading
from heldout.data.rows import META, TYPES, UNCODED, Array, Rows, Store
from heldout.data.sources import Loaded
from heldout.data.streams import CHUNK, Seen, lines, opened
from heldout.data.table import Row, Table, column
from heldout.data.tables import header_delimiter
from heldout.errors import Failed, Refused
from heldout.records import Example, canonical
from heldout.runs import read_json, write_json

#: A file with this many lines is read so; smaller files than BYTES (a tenth of that where packed) are not even counted.
ROWS, BYTES = 1_000_000, 100_000_000
#: Rows that are examples in memory at a time.
BLOCK = 4096
#: Label values a source may have before it is called none of labels.
VALUES = 10_000
#: The code that decides what is written.
CODE = (
    *sorted(Path(__file__).parent.glob("*.py")),
    *(Path(__file__).parents[1] / f"{n}.py" for n in ("records", "cases")),
)


@dataclass(frozen=True)
class Large:
    """What of a task reads rows in blocks: their form, the group that it makes of an example ("" for none), the text
    field that near duplicates are looked for in ("" for all), and what refuses labels that mean nothing."""

    form: Form
    group: Callable[[Example], str] = lambda example: ""
    key: str = ""
    check: Callable[[str, Collection[str]], None] = lambda source, labels: None


@dataclass
class Survey:
    """What is known of a source after the first reading."""

    columns: dict[str, None] = field(default_factory=dict)
    labels: dict[str, dict[str, None]] = field(default_factory=dict)
    ids: "dict[str, array[int]]" = field(default_factory=dict)
    markup: set[str] = field(default_factory=set)
    rows: int = 0


def is_large(path: Path, how: Reading) -> bool:
    """Whether a file is read by this module: rows of named columns, ROWS of them or more.

    Not where columns stand between other delimiters than commas, nor a packed .parquet: those are held.
    """
    kind, packed = suffix(path), path.suffix.lower() in (".gz", ".bz2")
    if kind not in (*JSON_LINES, ".csv", ".parquet") or how.header or how.delimiter:
        return False
    if not path.is_file() or path.stat().st_size < (BYTES // 10 if packed else BYTES):
        return False
    if kind == ".parquet":
        import pyarrow.parquet

        with _as_parquet(path):
            return not packed and bool(pyarrow.parquet.read_metadata(path).num_rows >= ROWS)
    if kind == ".csv" and header_delimiter(_first_line(path, how), ",") not in ("", ","):
        return False
    return _lines(path) >= ROWS


@contextmanager
def _as_parquet(path: Path) -> Iterator[None]:
    """Refused where a .parquet is none, or is damaged."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise Refused(f"{path}: not a parquet file ({str(error).splitlines()[0]})") from None


def _first_line(path: Path, how: Reading) -> str:
    with opened(path, Seen()) as read:
        return next(lines(str(path), read, how.encoding), "")


def _lines(path: Path) -> int:
    n = 0
    with opened(path, Seen()) as read:
        while content := read():
            n += content.count(b"\n")
    return n


def read_large(path: Path, name: str, large: Large, how: Reading, known: Collection[str]) -> Loaded:
    """The examples of a file on disk; Refused as a file that is held is, naming the row."""
    key = _key(path, name, how, known)

    def make(folder: Path) -> None:
        _write(folder, path, large, how, known)

    return cached("rows", key, make, lambda folder: _opened(path, folder)) or _beside(path, make)


def _opened(path: Path, folder: Path, held: Any = None) -> Loaded:
    meta = read_json(folder / META)
    found = Rows(Store(folder, held))
    cleaning, values = tuple(meta["cleaning"]), frozenset(meta["values"])
    return Loaded(str(path), found, meta["hash"], meta["dropped"], meta["notes"], cleaning, values)


def _beside(path: Path, make: Callable[[Path], None]) -> Loaded:
    """The rows in a temporary folder, which goes with them."""
    try:
        with ExitStack() as failing:
            held = tempfile.TemporaryDirectory(prefix="heldout-rows-")
            failing.callback(held.cleanup)
            make(Path(held.name))
            found = _opened(path, Path(held.name), held)
            failing.pop_all()
            return found
    except OSError as error:
        why = f"its rows could not be written to disk ({error.strerror or error})"
        advice = "free some space, or name a folder that has it with HELDOUT_CACHE or TMPDIR"
        raise Failed(f"{path}: {why}; {advice}") from error


def _key(path: Path, name: str, how: Reading, known: Collection[str]) -> str:
    digest = hashlib.sha256(repr([name, path.name, how, list(known)]).encode("utf-8", "surrogatepass"))
    for code in CODE:
        digest.update(code.read_bytes())
    with path.open("rb") as file:
        while content := file.read(CHUNK):
            digest.update(content)
    return digest.hexdigest()


def _write(folder: Path, path: Path, large: Large, how: Reading, known: Collection[str]) -> None:
    print(f"{path}: too large to be held; it is read to disk, which takes minutes", file=sys.stderr, flush=True)
    found = _survey(path, large.form, how)
    table = Table(str(path), stem(path), tuple(found.columns), (), names=_names(path))
    notes = _ids(table, found, large.form, how)
    # Rows that are numbered have no other column of ids either: whether one repeats is not seen in a block.
    form = replace(large.form, identity=()) if notes else large.form
    raw, classes = _raw(table, found, how)
    named = _labels(raw, classes, large.form, how, known)
    if how.clean == "auto":
        how = replace(how, clean="on" if _has_markup(table, found, large.form, how) else "off")
    # Where there is no column of labels, reading the first block says so (or keeps rows without).
    how = replace(how, labels=named)
    writer = _Writer(folder, large)
    dropped, counted, cleaning = Counter[str](), Counter[str](notes), tuple[str, ...]()
    for rows in _blocks(path, how):
        some = read_some(replace(table, rows=rows), how, known, form)
        writer.add(some.examples)
        dropped.update(some.dropped)
        counted.update(some.notes)
        cleaning = cleaning or some.cleaning
    if not writer.total:
        why = ", ".join(f"{n} rows {reason.replace('_', ' ')}" for reason, n in dropped.items()) or "no rows"
        raise Refused(f"{path}: no example is left ({why})")
    large.check(str(path), list(writer.labels))
    values = {*raw, *classes, *map(str, range(len(classes)))}
    write_json(
        folder / META,
        {
            "labels": list(writer.labels),
            "fields": list(large.form.texts),
            "grouped": writer.grouped(),
            "hash": writer.digest.hexdigest(),
            "dropped": dict(dropped),
            "notes": dict(counted),
            "cleaning": list(cleaning),
            "values": sorted(values - {""}),
        },
    )


def _rows(path: Path, how: Reading) -> Generator[tuple[str, Mapping[str, Any]], None, None]:
    seen = Seen()
    if suffix(path) == ".parquet":
        import pyarrow.parquet

        with _as_parquet(path), pyarrow.parquet.ParquetFile(path) as table:
            number = 0
            for batch in table.iter_batches(BLOCK):
                for values in batch.to_pylist():
                    number += 1
                    yield f"row {number}", values
        return
    with opened(path, seen) as read:
        yield from records(str(path), suffix(path), read, how.encoding)


def _blocks(path: Path, how: Reading) -> Iterator[list[Row]]:
    with closing(_rows(path, how)) as rows:
        numbered = (Row(place, number, values) for number, (place, values) in enumerate(rows, 1))
        while block := list(islice(numbered, BLOCK)):
            yield block


def _names(path: Path) -> dict[str, list[str]]:
    if suffix(path) != ".parquet":
        return {}
    import pyarrow.parquet

    from heldout.data.tables import class_names

    with _as_parquet(path):
        return class_names(path, pyarrow.parquet.read_schema(path).metadata)


def _survey(path: Path, form: Form, how: Reading) -> Survey:
    """Read the file once for what depends on all of its rows."""
    found, classes = Survey(), _names(path)
    labels = {how.columns.get("label"), *LABEL}
    ids = {how.columns.get("id"), *form.identity}
    for _, values in _rows(path, how):
        found.rows += 1
        for name, value in values.items():
            if name not in found.columns:
                found.columns[name] = None
                if name in labels or name.casefold() in labels:
                    found.labels[name] = {}
                if name in ids or name.casefold() in ids:
                    found.ids[name] = array("Q")
            if name in found.labels and len(found.labels[name]) <= VALUES:
                found.labels[name][raw_label(value, classes.get(name, ()))] = None
            if name in found.ids:
                identity = "" if value is None else str(value).strip()
                found.ids[name].append(minhash.fingerprint(identity) if identity else 0)
        if found.rows <= LOOK:
            found.markup |= {name for name, value in values.items() if isinstance(value, str) and has_markup([value])}
    return found


def _has_markup(table: Table, found: Survey, form: Form, how: Reading) -> bool:
    """Whether there is markup in a column of texts."""
    names = {column(table, how.columns.get(name), usual, name) for name, usual in form.texts.items()}
    return not found.markup.isdisjoint(names)


def _identity(table: Table, form: Form, how: Reading) -> str | None:
    return column(table, how.columns.get("id"), form.identity, "id")


def _ids(table: Table, found: Survey, form: Form, how: Reading) -> dict[str, int]:
    """The note of ids that repeat, whose rows are numbered instead; Refused where that column was asked for."""
    name = _identity(table, form, how)
    if name is None:
        return {}
    ids = np.array(found.ids[name], np.uint64)
    if len(ids) == found.rows and ids.all() and len(np.unique(ids)) == len(ids):
        return {}
    if how.columns.get("id") is not None:
        raise Refused(f"{table.source}: {name}: some id is empty or stands there twice; leave out --column id={name}")
    return {"rows_renumbered_as_ids_repeat": found.rows}


def _raw(table: Table, found: Survey, how: Reading) -> tuple[Collection[str], Sequence[str]]:
    """The raw values of the column of labels, and the names of its classes."""
    name = column(table, how.columns.get("label"), LABEL, "label")
    raw = found.labels.get(name or "", {})
    if len(raw) > VALUES:
        many = f"{name} has over {VALUES:,} values"
        raise Refused(f"{table.source}: {many}; name the column of labels with --column label=COLUMN")
    return raw, table.names.get(name or "", ())


def _labels(
    raw: Collection[str], classes: Sequence[str], form: Form, how: Reading, known: Collection[str]
) -> dict[str, str]:
    """--label with every raw value of the source in it, named as all values together ask it."""
    said = with_numbers(how.labels, classes)
    named = label_names(raw, said, known, form.naming)
    return said | {value: label or "-" for value, label in named.items() if value not in NO_LABEL and value not in said}


class _Writer:
    """Appends examples to a store's files."""

    def __init__(self, folder: Path, large: Large) -> None:
        self.folder, self.large = folder, large
        self.labels: dict[str, int] = {}
        self.digest = hashlib.sha256()
        self.total = self._end = 0
        self._append("ends", [0])

    def add(self, examples: Sequence[Example]) -> None:
        """Append a block."""
        if not examples:
            return
        groups = [self.large.group(example) for example in examples]
        questions = [canonical([one.id, one.text, one.gold]).encode("utf-8", "surrogatepass") for one in examples]
        lines = [
            b"%s\t%s\t%s\n" % (question, json.dumps(dict(one.about)).encode(), _added(one, group))
            for question, one, group in zip(questions, examples, groups, strict=True)
        ]
        with (self.folder / "rows.txt").open("ab") as file:
            file.writelines(lines)
        for question in questions:
            self.digest.update(question + b"\n")
        ends = self._end + np.cumsum([len(line) for line in lines])
        self._end = int(ends[-1])
        self._append("ends", ends)
        self._append("code", [self._code(one.gold) for one in examples])
        folds = [fold_example(example) for example in examples]
        keys = [fold_field(one, self.large.key) for one in examples] if self.large.key else folds
        self._append("print", [minhash.fingerprint(text) for text in folds])
        self._append("key", [minhash.fingerprint(text) for text in keys])
        self._append("own", [_mark(one.about.get("group")) for one in examples])
        self._append("made", [_mark(group or None) for group in groups])
        self._append("pair", [_mark(one.about.get("pair")) for one in examples])
        for band, column_ in enumerate(minhash.keys(keys).T):
            self._append(f"band-{band:02}", column_)
        self.total += len(examples)

    def _code(self, gold: str | None) -> int:
        return UNCODED if gold is None else self.labels.setdefault(gold, len(self.labels))

    def grouped(self) -> bool:
        """Whether rows share what the task makes a group of."""
        made = np.fromfile(self.folder / "made.bin", np.uint64)
        return bool(made.any()) and len(np.unique(made)) < len(made)

    def _append(self, name: str, values: Sequence[int] | Array) -> None:
        with (self.folder / f"{name}.bin").open("ab") as file:
            file.write(np.asarray(values, TYPES.get(name, "uint64")).tobytes())


def _added(example: Example, group: str) -> bytes:
    return b"" if "group" in example.about else group.encode()


def _mark(value: Any) -> int:
    """A group or pair as 64 bits, 0 for none."""
    return 0 if value is None else minhash.fingerprint(str(value)) or 1


def marks_of(examples: Sequence[Example]) -> Array:
    """The groups of examples as 64 bits each, 0 for none."""
    if isinstance(examples, Rows):
        return examples.groups
    return np.array([_mark(example.about.get("group")) for example in examples], np.uint64)
