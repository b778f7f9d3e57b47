"""Mistakes: where a system was surest and wrong (or just wrong, without scores), so many, the rest counted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import escape

from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.wording import visible
from heldout.eval.slices import words_of
from heldout.eval.table import FloatArray, Table
from heldout.eval.tabulate import tabulate
from heldout.eval.tags import TagTable
from heldout.records import Example, Prediction

#: All mistakes shown, over systems and test sets: a page to read, not a dump. Their texts share TEXT_BYTES.
SHOWN = 400
TEXT_BYTES = 3_200_000
#: Characters of a text that stand open; the rest is folded away, and past WHOLE it is left out and counted.
OPEN, WHOLE = 600, 6_000
#: The longest that one character becomes once escaped and in UTF-8 (a quote is &#34;).
ESCAPED = 5

Slicer = Callable[[Example, Prediction], Sequence[str]]


@dataclass(frozen=True)
class Mistake:
    """One wrong answer. ``fields`` are (name, open part, folded part, characters left out) of its text."""

    system: str
    data: str
    id: str
    gold: str
    answer: str
    confidence: float | None
    slices: tuple[str, ...]
    fields: tuple[tuple[str, str, str, int], ...]


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
    wrong = {
        (system.name, data.name): _wrong(inputs, system, data)
        for system in inputs.systems
        for data in inputs.tests
        if data.name in system.predictions
    }
    wrong_somewhere = [key for key, found in wrong.items() if found]
    # Of 5 mistakes over 3 lists the first two get 2; of 2 the third gets none.
    share, rest = divmod(limit, max(1, len(wrong_somewhere)))
    quota = {key: share + (number < rest) for number, key in enumerate(wrong_somewhere)}
    room = min(TEXT_BYTES // max(1, limit), WHOLE * ESCAPED)
    shown: list[Mistake] = []
    for system in inputs.systems:
        of_system = [
            _mistake(system.name, data, example, prediction, confidence, slices_of, room if text else 0)
            for (name, data), found in wrong.items()
            if name == system.name
            for confidence, example, prediction in found[: quota.get((name, data), 0)]
        ]
        shown += sorted(of_system, key=lambda mistake: -(mistake.confidence or 0.0))
    return Mistakes(tuple(shown), sum(len(found) for found in wrong.values()))


def _wrong(inputs: Inputs, system: System, data: DataSet) -> list[tuple[float | None, Example, Prediction]]:
    """The wrong answers with the confidence they were given with, the surest first; in gold's order without scores."""
    predictions = system.predictions[data.name]
    answers = tabulate(inputs.card, data.examples, predictions)
    rows = np.flatnonzero(answers.correct == 0)
    if not answers.scored:
        return [(None, data.examples[k], predictions[k]) for k in rows]
    sure = _sureness(answers)
    order = rows[np.argsort(-sure[rows], kind="stable")]
    return [(float(sure[k]) if sure[k] >= 0 else None, data.examples[k], predictions[k]) for k in order]


def _sureness(answers: Table) -> FloatArray:
    """The confidence of each answer (n,); of tags its surest wrong entity's, -1 where it only missed some."""
    events, sure = answers.events, np.full(len(answers), -1.0)
    shown = np.flatnonzero(events.event == 0) if isinstance(answers, TagTable) else np.arange(len(events.owner))
    np.maximum.at(sure, events.owner[shown], events.confidence[shown])
    return sure


def _mistake(
    system: str,
    data: str,
    example: Example,
    prediction: Prediction,
    sure: float | None,
    slices_of: Slicer,
    room: int,
) -> Mistake:
    fields = _fields(example.text, room) if room else ()
    return Mistake(
        system,
        data,
        example.id[:200],
        str(example.gold),
        str(prediction.answer),
        sure,
        tuple(slices_of(example, prediction)),
        fields,
    )


def _fields(text: Mapping[str, Any], room: int) -> tuple[tuple[str, str, str, int], ...]:
    """Each field of a text, cut so that all of them escaped stay within ``room`` bytes."""
    return tuple(_field(name, value, room // max(1, len(text))) for name, value in text.items())


def _field(name: str, value: Any, room: int) -> tuple[str, str, str, int]:
    whole = visible(words_of(value))
    kept = whole[:WHOLE]
    if len(str(escape(kept)).encode("utf-8", "replace")) > room:
        kept = kept[: room // ESCAPED]
    # Fold at a space, so that no word is torn; a rest of a few words is not worth folding.
    fold = len(kept) if len(kept) <= OPEN + 120 else max(kept.rfind(" ", 0, OPEN), OPEN // 2)
    return name, kept[:fold], kept[fold:], len(whole) - len(kept)
