"""Mistakes: where a system was surest and wrong (or just wrong, without scores), so many, the rest counted.

What is a mistake, which come first and what the card of one shows is the affair of its kind (view.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.kinds import view_of
from heldout.eval.report.marks import ESCAPED, WHOLE
from heldout.eval.report.view import Body, Cards
from heldout.records import Example, Prediction

#: All mistakes shown, over systems and test sets: a page to read, not a dump. Their texts share TEXT_BYTES.
SHOWN = 400
TEXT_BYTES = 3_200_000

Slicer = Callable[[Example, Prediction], Sequence[str]]


@dataclass(frozen=True)
class Mistake:
    """One wrong answer: whose, where, how sure it was if that is known, its slices, and its card."""

    system: str
    data: str
    id: str
    confidence: float | None
    slices: tuple[str, ...]
    body: Body


@dataclass(frozen=True)
class Mistakes:
    """Those shown, in order of systems and then of confidence, and how many there are in all and were left out."""

    shown: tuple[Mistake, ...]
    total: int

    @property
    def left_out(self) -> int:
        """How many mistakes the page does not show."""
        return self.total - len(self.shown)


def most_confident(inputs: Inputs, slices_of: Slicer, *, text: bool = True, limit: int = SHOWN) -> Mistakes:
    """The mistakes of each system, the surest first; each system on each set gets an equal share of ``limit``."""
    cards = view_of(inputs).cards
    wrong = {
        (system.name, data.name): cards(inputs, system, data)
        for system in inputs.systems
        for data in inputs.tests
        if data.name in system.predictions
    }
    quota = _quota(wrong, limit)
    room = min(TEXT_BYTES // max(1, limit), WHOLE * ESCAPED) if text else 0
    shown: list[Mistake] = []
    for system in inputs.systems:
        of_system = [
            mistake
            for data in inputs.tests
            if (key := (system.name, data.name)) in wrong
            for mistake in _first(wrong[key], quota[key], system, data, slices_of, room)
        ]
        shown += sorted(of_system, key=lambda mistake: -(mistake.confidence or 0.0))
    return Mistakes(tuple(shown), sum(len(found.order) for found in wrong.values()))


def _quota(wrong: Mapping[tuple[str, str], Cards], limit: int) -> dict[tuple[str, str], int]:
    """How many of each list are shown: of 5 over 3 lists the first two get 2; of 2 the third gets none."""
    somewhere = [key for key, found in wrong.items() if found.order]
    share, rest = divmod(limit, max(1, len(somewhere)))
    return dict.fromkeys(wrong, 0) | {key: share + (number < rest) for number, key in enumerate(somewhere)}


def _first(cards: Cards, n: int, system: System, data: DataSet, slices_of: Slicer, room: int) -> list[Mistake]:
    predictions = system.predictions[data.name]
    return [
        Mistake(
            system.name,
            data.name,
            data.examples[row].id[:200],
            confidence,
            tuple(slices_of(data.examples[row], predictions[row])),
            cards.body(row, room),
        )
        for confidence, row in cards.order[:n]
    ]
