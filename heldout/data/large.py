"""Sources of a million rows or more: read twice as a stream and written to disk, by the rules of those that are held.

The first time for what depends on all rows (columns, label values, whether ids repeat, whether there is markup), the
second to make examples, a block at a time, by the very code that makes them of a whole table. What was written is kept
in the cache (heldout/cache.py) under a hash of the file, of how it is read and of our code.
"""

import hashlib
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heldout.cache import cached
from heldout.data.corpus_files import JSON_LINES
from heldout.data.files import stem, suffix
from heldout.data.labelled import Form, read_some
from heldout.data.names import Reading
from heldout.data.row_writer import RowWriter
from heldout.data.rows import META, Rows, Store
from heldout.data.sources import Loaded
from heldout.data.streams import CHUNK, Seen, lines, opened
from heldout.data.survey import (
    as_parquet,
    blocks,
    class_names_of,
    labels_by_value,
    raw_labels,
    renumbered,
    survey,
    texts_have_markup,
)
from heldout.data.table import Table
from heldout.data.tables import header_delimiter
from heldout.errors import Failed, Refused
from heldout.records import Example
from heldout.runs import read_json, write_json

#: A file with this many lines is read so; smaller files than BYTES (a tenth of that where packed) are not even counted.
ROWS, BYTES = 1_000_000, 100_000_000
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

        with as_parquet(path):
            return not packed and bool(pyarrow.parquet.read_metadata(path).num_rows >= ROWS)
    if kind == ".csv" and header_delimiter(_first_line(path, how), ",") not in ("", ","):
        return False
    return _lines(path) >= ROWS


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
    found = survey(path, large.form, how)
    table = Table(str(path), stem(path), tuple(found.columns), (), names=class_names_of(path))
    notes = renumbered(table, found, large.form, how)
    # Rows that are numbered have no other column of ids either: whether one repeats is not seen in a block.
    form = replace(large.form, identity=()) if notes else large.form
    raw, classes = raw_labels(table, found, how)
    named = labels_by_value(raw, classes, large.form, how, known)
    if how.clean == "auto":
        how = replace(how, clean="on" if texts_have_markup(table, found, large.form, how) else "off")
    # Where there is no column of labels, reading the first block says so (or keeps rows without).
    how = replace(how, labels=named)
    writer = RowWriter(folder, large.group, large.key)
    dropped, counted, cleaning = Counter[str](), Counter[str](notes), tuple[str, ...]()
    for rows in blocks(path, how):
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
