"""Who a row is and what is known about it: its id, and the columns that land in an example's ``about``."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heldout.data.defaults import IDENTITY
from heldout.data.names import Reading
from heldout.data.table import Row, Table, column
from heldout.errors import Refused

#: What every task's rows may say of themselves.
ABOUT: Mapping[str, Sequence[str]] = {
    **{name: (name,) for name in ("group", "domain", "pair", "phenomenon", "role", "expect", "direction")},
    # CAD's counterfactual reviews (Kaushik, Hovy and Lipton 2020) number their pairs so.
    "pair": ("pair", "batch_id"),
}
#: What phenomena are called where a file is one of cases (it has pairs or expectations): elsewhere a tag is anything.
TAG = "tag"


def ids(table: Table, reading: Reading, usual: Sequence[str] = IDENTITY) -> tuple[list[str], dict[str, int]]:
    """The source's own ids where they are there and unique, else its name and the row's number; with a note if so."""
    wanted = reading.columns.get("id")
    name = column(table, wanted, usual, "id")
    numbered = [f"{table.stem}:{row.number}" for row in table.rows]
    if name is None:
        return numbered, {}
    own = ["" if row.values.get(name) is None else str(row.values.get(name)).strip() for row in table.rows]
    repeated = _first_bad(own)
    if repeated is None:
        return own, {}
    if wanted is not None:
        raise Refused(
            f"{table.source}, {table.rows[repeated].place}: id {own[repeated]!r} is empty or stands there twice"
        )
    return numbered, {"rows_renumbered_as_ids_repeat": len(own)}


def _first_bad(identities: Iterable[str]) -> int | None:
    seen = set[str]()
    for position, identity in enumerate(identities):
        if not identity or identity in seen:
            return position
        seen.add(identity)
    return None


def about_columns(table: Table, reading: Reading, usual: Mapping[str, Sequence[str]] = ABOUT) -> dict[str, str]:
    """The columns of ``about``; where no column groups the texts, a pair is their group and is resampled whole."""
    found = {field: column(table, reading.columns.get(field), names, field) for field, names in usual.items()}
    found["group"] = found["group"] or found["pair"]
    if found.get("pair") or found.get("expect"):
        found["phenomenon"] = found["phenomenon"] or column(table, None, (TAG,), "phenomenon")
    return {field: name for field, name in found.items() if name is not None}


def about(row: Row, columns: Mapping[str, str]) -> dict[str, Any]:
    """What a row says of itself in these columns, as text; what is blank is left out."""
    values = {field: row.values.get(name) for field, name in columns.items()}
    return {field: str(value).strip() for field, value in values.items() if value is not None and str(value).strip()}
