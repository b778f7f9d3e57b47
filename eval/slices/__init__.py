"""Slices, one file a slice: a module here has a SLICE and is found by listing the folder.

A slice is a function of one example, so that systems can be paired on it. ``truncated`` is the exception: it reads the
prediction, belongs to one system, and stays out of comparisons (``of_system``). An EntitySlice cuts finer: it is a
function of one gold entity of an example.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from heldout.bio import Entity
from heldout.errors import Refused
from heldout.eval import own_slices
from heldout.eval.own_slices.fields import text_of as text_of
from heldout.eval.own_slices.fields import words_of as words_of
from heldout.eval.table import IntArray, Table
from heldout.eval.tags import TagTable
from heldout.options import nearest
from heldout.records import Card, Example, Prediction

#: The part that is the whole set.
WHOLE = ""


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


@dataclass(frozen=True)
class EntitySlice:
    """A way to cut the entities of a data set: ``value`` names the part a gold entity is in, None for no part.

    An entity of an answer is in the part of its own words and type; ``by_met`` in that of the gold entity that it
    shares most words with, where only gold can say (an entity that shares none is in no part). ``read`` is the metric
    to read where that makes the main one flatter.
    """

    name: str
    value: Callable[[Example, Entity], str | None]
    order: tuple[str, ...] = ()
    by_met: bool = False
    read: str = ""


@dataclass(frozen=True)
class Part:
    """A part of a slice: a table of the whole set and the rows that count, or all rows and a table of entities."""

    table: Table
    rows: IntArray
    of_system: bool = False
    entities: bool = False
    read: str = ""

    @property
    def n(self) -> int:
        """How many examples, or gold entities, are in it."""
        return len(self.table.strict.gold) if self.entities and isinstance(self.table, TagTable) else len(self.rows)


@cache
def known() -> dict[str, Slice | EntitySlice]:
    """Every slice of this folder by name."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return {module.SLICE.name: module.SLICE for module in modules}


def chosen(card: Card) -> list[Slice | EntitySlice]:
    """The card's slices, those that are always shown and the user's own; every slice that suits its kind where the card
    names none. A function of the user's own that this call's command line does not name is left out.
    """
    suited = {name: found for name, found in known().items() if card.kind == "tags" or isinstance(found, Slice)}
    definitions = own_slices.of_card(card)
    names = [name for name in card.slices if "=" not in name]
    for name in names:
        if name not in known():
            raise Refused(f"card {card.name!r}: slice {name!r} is unknown{nearest(name, list(known()))}")
        if name not in suited:
            raise Refused(f"card {card.name!r}: slice {name!r} is for tags cards only")
    own = [_own(name, text) for name, text in definitions.items() if own_slices.runnable(name, text)]
    if not names:
        return [*suited.values(), *own]
    always = [name for name, found in suited.items() if isinstance(found, Slice) and found.always]
    return [*(suited[name] for name in dict.fromkeys([*names, *always])), *own]


def _own(name: str, text: str) -> Slice:
    if name in known():
        raise Refused(f"slice {name}={text}: {name!r} is a slice of heldout's own; choose another name")
    value, of_system, rest = own_slices.value_of(name, text)
    return Slice(name, value, order=(own_slices.YES, own_slices.REST), rest=rest, of_system=of_system)


def cut(
    card: Card, pairs: Sequence[tuple[Example, Prediction]], tables: Mapping[str, Table]
) -> dict[str, dict[str, Part]]:
    """The whole and every part of the card's slices of each of these tables of the same examples, by "NAME=part".

    The parts are the same for all tables, since they are functions of the examples and of gold.
    """
    every = np.arange(len(pairs))
    found = {name: {WHOLE: Part(table, every)} for name, table in tables.items()}
    for slice_ in chosen(card):
        rows = parts(slice_, pairs) if isinstance(slice_, Slice) else {}
        for name, table in tables.items():
            if isinstance(slice_, Slice):
                found[name] |= {key: Part(table, np.array(at), slice_.of_system) for key, at in rows.items()}
            elif isinstance(table, TagTable):
                found[name] |= _entity_parts(slice_, pairs, table)
    return found


def _entity_parts(slice_: EntitySlice, pairs: Sequence[tuple[Example, Prediction]], table: TagTable) -> dict[str, Part]:
    tables = table.parts(lambda row, entity: slice_.value(pairs[row][0], entity), by_met=slice_.by_met)
    rows = np.arange(len(table))
    return {
        f"{slice_.name}={part}": Part(tables[part], rows, entities=True, read=slice_.read)
        for part in _in_order(slice_.order, tables)
    }


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
    return {f"{slice_.name}={part}": rows[part] for part in _in_order(slice_.order, rows) if rows[part]}


def _in_order(order: Sequence[str], there: Iterable[str]) -> list[str]:
    """The parts that are there, those of the order first, then the others sorted."""
    return [part for part in order if part in there] + sorted(set(there) - set(order))


def first_answer(example: Example) -> Mapping[str, Any] | None:
    """The first gold answer of a question; None where it has none, and where gold is of another kind."""
    answers = example.gold
    return answers[0] if isinstance(answers, list) and answers and isinstance(answers[0], dict) else None
