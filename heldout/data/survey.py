"""A file of rows read once, before its examples are made: what depends on all of its rows.

Which columns there are, what values the labels have, whether ids repeat, whether the texts hold markup.
"""

from array import array
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from heldout.data import minhash
from heldout.data.cleaning import LOOK, has_markup
from heldout.data.corpus_files import records
from heldout.data.defaults import LABEL
from heldout.data.files import suffix
from heldout.data.labelled import Form
from heldout.data.labels import NO_LABEL, label_names, raw_label, with_numbers
from heldout.data.names import Reading
from heldout.data.streams import Seen, opened
from heldout.data.table import Row, Table, column
from heldout.errors import Refused

#: Rows that are in memory at a time.
BLOCK = 4096
#: Label values a source may have before it is called none of labels.
VALUES = 10_000


@dataclass
class Survey:
    """What is known of a source after the first reading."""

    columns: dict[str, None] = field(default_factory=dict)
    labels: dict[str, dict[str, None]] = field(default_factory=dict)
    ids: "dict[str, array[int]]" = field(default_factory=dict)
    markup: set[str] = field(default_factory=set)
    rows: int = 0


@contextmanager
def as_parquet(path: Path) -> Iterator[None]:
    """Refused where a .parquet is none, or is damaged."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise Refused(f"{path}: not a parquet file ({str(error).splitlines()[0]})") from None


def _rows(path: Path, how: Reading) -> Generator[tuple[str, Mapping[str, Any]], None, None]:
    seen = Seen()
    if suffix(path) == ".parquet":
        import pyarrow.parquet

        with as_parquet(path), pyarrow.parquet.ParquetFile(path) as table:
            number = 0
            for batch in table.iter_batches(BLOCK):
                for values in batch.to_pylist():
                    number += 1
                    yield f"row {number}", values
        return
    with opened(path, seen) as read:
        yield from records(str(path), suffix(path), read, how.encoding)


def blocks(path: Path, how: Reading) -> Iterator[list[Row]]:
    """The rows of a file, BLOCK at a time."""
    with closing(_rows(path, how)) as rows:
        numbered = (Row(place, number, values) for number, (place, values) in enumerate(rows, 1))
        while block := list(islice(numbered, BLOCK)):
            yield block


def class_names_of(path: Path) -> dict[str, list[str]]:
    """The names of classes by column, where the file has them (a .parquet of datasets)."""
    if suffix(path) != ".parquet":
        return {}
    import pyarrow.parquet

    from heldout.data.tables import class_names

    with as_parquet(path):
        return class_names(path, pyarrow.parquet.read_schema(path).metadata)


def survey(path: Path, form: Form, how: Reading) -> Survey:
    """Read the file once for what depends on all of its rows."""
    found, classes = Survey(), class_names_of(path)
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


def texts_have_markup(table: Table, found: Survey, form: Form, how: Reading) -> bool:
    """Whether there is markup in a column of texts."""
    names = {column(table, how.columns.get(name), usual, name) for name, usual in form.texts.items()}
    return not found.markup.isdisjoint(names)


def _identity(table: Table, form: Form, how: Reading) -> str | None:
    return column(table, how.columns.get("id"), form.identity, "id")


def renumbered(table: Table, found: Survey, form: Form, how: Reading) -> dict[str, int]:
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


def raw_labels(table: Table, found: Survey, how: Reading) -> tuple[Collection[str], Sequence[str]]:
    """The raw values of the column of labels, and the names of its classes."""
    name = column(table, how.columns.get("label"), LABEL, "label")
    raw = found.labels.get(name or "", {})
    if len(raw) > VALUES:
        many = f"{name} has over {VALUES:,} values"
        raise Refused(f"{table.source}: {many}; name the column of labels with --column label=COLUMN")
    return raw, table.names.get(name or "", ())


def labels_by_value(
    raw: Collection[str], classes: Sequence[str], form: Form, how: Reading, known: Collection[str]
) -> dict[str, str]:
    """--label with every raw value of the source in it, named as all values together ask it."""
    said = with_numbers(how.labels, classes)
    named = label_names(raw, said, known, form.naming)
    return said | {value: label or "-" for value, label in named.items() if value not in NO_LABEL and value not in said}
