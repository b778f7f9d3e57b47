"""The mistakes of tagged sentences: the sentence with the entities of gold and of the answer marked in it."""

from collections import Counter
from itertools import accumulate
from typing import Any

import numpy as np

from heldout.bio import Entity, strict
from heldout.eval.entities import met
from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.marks import Mark, marked, plain
from heldout.eval.report.pieces import Field
from heldout.eval.report.view import Body, Cards, in_turn
from heldout.eval.report.wording import count, listed, sure
from heldout.eval.table import FloatArray
from heldout.eval.tags import TagTable
from heldout.records import Example

MISSED, SPURIOUS, TYPE, BORDERS = "missed", "spurious", "wrong type", "wrong borders"
#: A fate as a heading tells it of several entities.
TOLD = {MISSED: "missed", TYPE: "of the wrong type", BORDERS: "with wrong borders", SPURIOUS: "spurious"}


def cards(inputs: Inputs, system: System, data: DataSet) -> Cards:
    """The sentences whose entities are not exactly gold's."""
    predictions, table = system.predictions[data.name], inputs.table(system, data)
    assert isinstance(table, TagTable)
    found = table.strict.answer
    confidence = {
        (int(row), (int(start), int(end), table.types[kind])): float(p)
        for row, (start, end, kind), p in zip(found.owner, found.span, found.p, strict=True)
    }

    def body(row: int, room: int) -> Body:
        example, answer = data.examples[row], strict(predictions[row].answer)
        p = {entity: confidence[row, entity] for entity in answer}
        fates = entity_fates(strict(example.gold), answer, len(example.gold))
        kinds = dict.fromkeys(entity[2] for entity in fates)
        keys = {"type": list(kinds), "fate": list(dict.fromkeys(fates.values()))}
        return Body(_heading(fates, answer, p), _fields(example, answer, fates, p, room), keys)

    return Cards(_order(table), body)


def entity_fates(gold: list[Entity], found: list[Entity], words: int) -> dict[Entity, str]:
    """What became of every entity of either side that the other does not hold.

    >>> entity_fates([(0, 1, "place"), (3, 5, "person")], [(3, 4, "person")], 6)
    {(0, 1, 'place'): 'missed', (3, 5, 'person'): 'wrong borders', (3, 4, 'person'): 'wrong borders'}
    """
    fates = {}
    for mine, others, alone in ((gold, found, MISSED), (found, gold, SPURIOUS)):
        for entity, other in zip(mine, met(mine, others, words), strict=True):
            if other is None:
                fates[entity] = alone
            elif other != entity:
                fates[entity] = TYPE if other[:2] == entity[:2] else BORDERS
    return fates


def _heading(fates: dict[Entity, str], answer: list[Entity], p: dict[Entity, float]) -> str:
    """How many went wrong and how, and how sure the surest wrong one was; no word of the text."""
    found = [entity for entity in answer if entity in fates]
    # One of the wrong type or with wrong borders is told once, though gold's and the one found both went wrong.
    told = Counter(fate for entity, fate in fates.items() if entity in found or fate == MISSED)
    parts = [f"{count(told[fate])} {words}" for fate, words in TOLD.items() if told[fate]]
    surest = max(found, key=lambda entity: np.nan_to_num(p[entity], nan=-1), default=None)
    if surest is None or np.isnan(p[surest]):
        return listed(parts)
    return f"{listed(parts)}; the surest wrong one is {surest[2]}, with {sure(p[surest])} confidence"


def _fields(
    example: Example, answer: list[Entity], fates: dict[Entity, str], p: dict[Entity, float], room: int
) -> tuple[Field, ...]:
    share = room // max(1, len(example.text))
    return tuple(
        marked(name, " ".join(value), _marks(value, example, answer, fates, p), share)
        if name == "words"
        else plain(name, value, share)
        for name, value in example.text.items()
        if room
    )


def _marks(
    words: list[str], example: Example, answer: list[Entity], fates: dict[Entity, str], p: dict[Entity, float]
) -> list[Mark]:
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))

    def mark(entity: Entity, side: Any, label: str) -> Mark:
        start, end, _ = entity
        return Mark(starts[start], starts[end] - 1, side, label, wrong=side != "both")

    gold = strict(example.gold)
    exact = [mark(entity, "both", entity[2]) for entity in gold if entity not in fates]
    missed = [mark(entity, "gold", f"gold {entity[2]}") for entity in gold if entity in fates]
    found = [
        mark(entity, "found", f"found {entity[2]}" + ("" if np.isnan(p[entity]) else f" {sure(p[entity])}"))
        for entity in answer
        if entity in fates
    ]
    return [*exact, *missed, *found]


def _order(table: TagTable) -> list[tuple[float | None, int]]:
    """Sentences with a wrong entity, the surest first, in turn with those that only miss some."""
    found = table.strict.answer
    wrong = np.flatnonzero(~found.hit)
    surest = np.full(len(table), -1.0)
    np.maximum.at(surest, found.owner[wrong], np.nan_to_num(found.p[wrong], nan=-1.0))
    rows = np.flatnonzero(table.correct == 0)
    has_wrong = np.isin(rows, found.owner[wrong])
    sides = [
        part[np.argsort(-by[part], kind="stable")]
        for part, by in ((rows[has_wrong], surest), (rows[~has_wrong], _sure_of_less(table)))
    ]
    return [
        (float(surest[row]) if surest[row] >= 0 else None, int(row))
        for row in in_turn(sides[0].tolist(), sides[1].tolist())
    ]


def _sure_of_less(table: TagTable) -> FloatArray:
    """How sure each sentence's tags were where gold has an entity that is missed: the largest mean probability (n,)."""
    sure_of = np.zeros(len(table))
    gold, words = table.strict.gold, table.words
    if words.scores is None:
        return sure_of
    given = words.scores[np.arange(len(words.answer)), words.answer]
    first = np.searchsorted(words.owner, gold.owner)
    for k in np.flatnonzero(~gold.hit):
        start, end, _ = gold.span[k]
        mean = given[first[k] + start : first[k] + end].mean()
        sure_of[gold.owner[k]] = max(sure_of[gold.owner[k]], mean)
    return sure_of
