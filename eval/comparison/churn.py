"""Churn: which answers one system has right and another wrong, and the other way round, however equal their scores.

Of several seeds an answer is right where most of them have it right; a tie is neither. How much two seeds of one recipe
differ from each other says how much churn training alone makes (Milani Fard et al. 2016, "Launch and iterate: reducing
prediction churn").
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from heldout.eval.comparison.inputs import Contender
from heldout.eval.entities import BoolArray
from heldout.eval.table import FloatArray, Table
from heldout.eval.tags import TagTable
from heldout.records import Example


def right(tables: Sequence[Table]) -> FloatArray:
    """1.0 where most members have the whole answer right, 0.0 where most have it wrong, 0.5 at a tie; shape (n,)."""
    share = np.mean([table.correct for table in tables], axis=0)
    most: FloatArray = np.where(share > 0.5, 1.0, np.where(share < 0.5, 0.0, 0.5))
    return most


def churn(
    gold: Sequence[Example],
    data: str,
    systems: Sequence[Contender],
    tables: Sequence[Sequence[Table]],
    examples: int,
) -> dict[str, Any]:
    """How many answers turned from right to wrong and from wrong to right between two systems, with examples of both.

    {"right_to_wrong": {"n", "examples": [{"id", "text", "gold", "reference", "other"}]}, "wrong_to_right": the same,
    "both_right", "both_wrong", "between_seeds"?, "entities"?}. Examples are spread evenly over the data set; an answer
    of several seeds is the first's whose answer is as most of them.
    """
    first, second = (right(side) for side in tables)
    ways = {"right_to_wrong": first > second, "wrong_to_right": second > first}
    found: dict[str, Any] = {
        way: {"n": int(which.sum()), "examples": _examples(gold, data, systems, tables, _spread(which, examples))}
        for way, which in ways.items()
    }
    found["both_right"] = int(((first == 1) & (second == 1)).sum())
    found["both_wrong"] = int(((first == 0) & (second == 0)).sum())
    between = {s.name: _between_seeds(side) for s, side in zip(systems, tables, strict=True) if len(side) > 1}
    found |= {"between_seeds": between} if between else {}
    sides = [side[0] for side in tables]
    if isinstance(sides[0], TagTable) and isinstance(sides[1], TagTable) and not between:
        found["entities"] = _entities(sides[0], sides[1])
    return found


def _between_seeds(tables: Sequence[Table]) -> float:
    """The share of examples that two seeds of one system answer differently (one right, one wrong), over all twos."""
    pairs = list(combinations([table.correct for table in tables], 2))
    return float(np.mean([np.mean(a != b) for a, b in pairs]))


def _entities(first: TagTable, second: TagTable) -> dict[str, int]:
    """Gold's entities by who found them exactly."""
    a, b = first.strict.gold.hit, second.strict.gold.hit
    return {
        "both": int((a & b).sum()),
        "only_reference": int((a & ~b).sum()),
        "only_other": int((b & ~a).sum()),
        "neither": int((~a & ~b).sum()),
    }


def _spread(which: BoolArray, most: int) -> list[int]:
    """At most so many of the rows that a mask chooses, evenly spread: a data set sorted by label shows all labels."""
    rows = np.flatnonzero(which)
    places = np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(int))
    return [int(row) for row in rows[places]]


def _examples(
    gold: Sequence[Example],
    data: str,
    systems: Sequence[Contender],
    tables: Sequence[Sequence[Table]],
    rows: Sequence[int],
) -> list[dict[str, Any]]:
    members = [[s.members[_typical(side, row)][data] for row in rows] for s, side in zip(systems, tables, strict=True)]
    return [
        {
            "id": gold[row].id,
            "text": dict(gold[row].text),
            "gold": gold[row].gold,
            "reference": members[0][k][row].answer,
            "other": members[1][k][row].answer,
        }
        for k, row in enumerate(rows)
    ]


def _typical(tables: Sequence[Table], row: int) -> int:
    """The first member that is right or wrong on a row as most members are."""
    hits = [table.correct[row] for table in tables]
    return hits.index(float(np.mean(hits) >= 0.5))
