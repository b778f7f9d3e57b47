"""What became of the expectations of test cases: for each example what it is compared with, and how that came out.

A changed text is compared with the original of its pair: the one whose role is original, else the first of the pair
that expects nothing, else its first. All is told per example, from the whole set, so that a slice that holds the
changed texts alone (a phenomenon) still knows how their originals were answered.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np

from heldout.cases import ANSWER, CHANGED, EXPECT, ORIGINAL, direction, originals
from heldout.errors import Refused
from heldout.eval.table import FloatArray, IntArray
from heldout.records import Card, Example, Prediction

Answered: TypeAlias = tuple[Example, Prediction]
#: Whether two answers are the same, where texts may differ.
Same: TypeAlias = Callable[[Answered, Answered], bool]


@dataclass(frozen=True)
class Expected:
    """Arrays of n, 1.0 or 0.0: whether an example is such a case, and whether it came out so.

    twin: a changed text whose original is in the set, where they have gold; twin_right: and the original is answered
    right.
    mft, inv, dir: what it expects; same: the answer is the original's; moved: the score moved as it should.
    unscored: a dir case that lacks the scores for it, or whose original does.
    """

    twin: FloatArray
    twin_right: FloatArray
    mft: FloatArray
    inv: FloatArray
    same: FloatArray
    dir: FloatArray
    moved: FloatArray
    unscored: FloatArray

    def take(self, rows: IntArray) -> "Expected":
        """Those of these rows only."""
        return Expected(*(getattr(self, field.name)[rows] for field in fields(self)))


def expected(card: Card, pairs: Sequence[Answered], correct: FloatArray, same: Same) -> Expected | None:
    """The expectations of examples with their answers; None where no example has a role or expects anything.

    Refused for an expectation that is none, and for one that has nothing to be compared with.
    """
    # A column of roles of one's own (agent, customer) makes no test case.
    if not any("expect" in e.about or e.about.get("role") in (ORIGINAL, CHANGED) for e, _ in pairs):
        return None
    found = originals([example.about for example, _ in pairs])
    columns = {field.name: np.zeros(len(pairs)) for field in fields(Expected)}
    for row, (example, _) in enumerate(pairs):
        of = found.get(str(example.about.get("pair")), row)
        _fill(columns, row, card, pairs, None if of == row else of, correct, same)
    return Expected(**columns)


def _fill(
    columns: Mapping[str, FloatArray],
    row: int,
    card: Card,
    pairs: Sequence[Answered],
    original: int | None,
    correct: FloatArray,
    same: Same,
) -> None:
    example = pairs[row][0]
    expect = example.about.get("expect")
    if expect is not None and expect not in EXPECT:
        raise Refused(f"id {example.id!r}: expect {expect!r} is none of {', '.join(EXPECT)}")
    if expect in ("inv", "dir") and original is None:
        raise Refused(
            f"id {example.id!r}: expect {expect} needs the original of its pair, and no other text has its pair"
        )
    if expect is not None:
        columns[expect][row] = 1.0
    if original is None or example.about.get("role") == ORIGINAL:
        return
    columns["twin"][row], columns["twin_right"][row] = example.gold is not None, correct[original]
    columns["same"][row] = same(pairs[original], pairs[row])
    if expect == "dir":
        moved = _moved(card, pairs[original][1], *pairs[row])
        columns["moved"][row], columns["unscored"][row] = bool(moved), moved is None


def _moved(card: Card, before: Prediction, example: Example, after: Prediction) -> bool | None:
    """Whether the score moved as expected; None where one of both has no scores."""
    where = f"id {example.id!r}"
    wanted = direction(str(example.about.get("direction", "")), where)
    label = str(before.answer) if wanted.label == ANSWER and ANSWER not in card.labels else wanted.label
    if card.kind != "label" or label not in card.labels:
        raise Refused(f"{where}: direction {wanted.label!r} is none of the card's labels ({', '.join(card.labels)})")
    if before.scores is None or after.scores is None:
        return None
    at = card.labels.index(label)
    return wanted.met(before.scores[at], after.scores[at])


def brought(table: object) -> list[str]:
    """The names of the metrics that a table's expectations bring."""
    found = getattr(table, "expected", None)
    if not isinstance(found, Expected):
        return []
    by_case = {
        "both_right": found.twin,
        "twin_gap": found.twin,
        "flip_rate": found.inv,
        "moved": found.dir,
        "expectation_met": found.mft + found.inv + found.dir,
    }
    return [name for name, which in by_case.items() if which.any()]
