"""The one shape that every source is read into: rows of named columns, each with its place for error messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heldout.errors import Refused
from heldout.options import nearest


@dataclass(frozen=True)
class Row:
    """One row: its place in the source ("row 3 (line 5)"), its number from 1, its values by column."""

    place: str
    number: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A source as read. ``names`` holds the names of integer labels by column (a ClassLabel feature of the hub's sets);
    ``markup`` says that the source is known to hold HTML; ``notes`` counts what was noticed while reading, ``dropped``
    the rows that cannot be examples and are not among ``rows`` (of a stream, of which only a sample is kept), and
    ``values`` are all of the stream's label values."""

    source: str
    stem: str
    columns: tuple[str, ...]
    rows: Sequence[Row]
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    markup: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict)
    values: frozenset[str] = frozenset()


def column(table: Table, wanted: str | None, defaults: Sequence[str], purpose: str) -> str | None:
    """The table's column for a purpose: the one asked for, else the first default name it has (any case), else None.

    Refused where the one asked for is missing, naming the nearest and all there are.
    """
    if wanted is not None:
        if wanted in table.columns:
            return wanted
        raise Refused(
            f"{table.source}: no column {wanted!r} for {purpose}{nearest(wanted, table.columns)}; "
            f"its columns are {', '.join(table.columns)}"
        )
    folded = {name.casefold(): name for name in reversed(table.columns)}
    return next((folded[name] for name in defaults if name in folded), None)


def need_column(table: Table, wanted: str | None, defaults: Sequence[str], purpose: str) -> str:
    """As ``column``; Refused where there is none, saying how to name it."""
    found = column(table, wanted, defaults, purpose)
    if found is None:
        raise Refused(
            f"{table.source}: no column for {purpose} (looked for {', '.join(defaults)}); its columns are "
            f"{', '.join(table.columns)}; name it with --column {purpose}=COLUMN"
        )
    return found
