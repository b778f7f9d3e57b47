"""Slices, one file a slice: a module here has a SLICE and is found by listing the folder.

A slice is a function of one example, so that systems can be paired on it. ``truncated`` is the exception: it reads the
prediction, belongs to one system, and stays out of comparisons (``of_system``).
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from heldout.errors import Refused
from heldout.options import nearest
from heldout.records import Card, Example, Prediction


@dataclass(frozen=True)
class Slice:
    """A way to cut a data set: ``value`` names the part an example is in, or None where the slice says nothing of it.

    rest: the part of the examples with None, once any example of the set has a value; None leaves them out.
    order: parts in the order to show them; those not named follow, sorted.
    always: shown whatever slices the card asks for, since a reader would be misled without it.
    """

    name: str
    value: Callable[[Example, Prediction], str | None]
    order: tuple[str, ...] = ()
    rest: str | None = None
    of_system: bool = False
    always: bool = False


@cache
def known() -> dict[str, Slice]:
    """Every slice of this folder by name."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return {module.SLICE.name: module.SLICE for module in modules}


def chosen(card: Card) -> list[Slice]:
    """The card's slices and those that are always shown; every slice where the card names none."""
    for name in card.slices:
        if name not in known():
            raise Refused(f"card {card.name!r}: slice {name!r} is unknown{nearest(name, list(known()))}")
    if not card.slices:
        return list(known().values())
    names = [*card.slices, *(name for name, found in known().items() if found.always and name not in card.slices)]
    return [known()[name] for name in names]


def parts(slice_: Slice, pairs: Sequence[tuple[Example, Prediction]]) -> dict[str, list[int]]:
    """The rows in each part, keyed "NAME=part", in the slice's order; empty where it says nothing of any row."""
    values = [slice_.value(example, prediction) for example, prediction in pairs]
    if all(value is None for value in values):
        return {}
    rows: dict[str, list[int]] = {part: [] for part in slice_.order}
    for row, value in enumerate(values):
        part = slice_.rest if value is None else value
        if part is not None:
            rows.setdefault(part, []).append(row)
    given = list(slice_.order) + sorted(set(rows) - set(slice_.order))
    return {f"{slice_.name}={part}": rows[part] for part in given if rows[part]}


def text_of(text: Mapping[str, object]) -> str:
    """The text fields of an example as one string, a line a field."""
    return "\n".join(map(words_of, text.values()))


def words_of(field: object) -> str:
    """One text field as a string; a list of words is joined by spaces."""
    return " ".join(map(str, field)) if isinstance(field, list | tuple) else str(field)
