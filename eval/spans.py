"""Tables of kind span: how well each answer matches gold, and how sure the system was of its best span."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heldout.errors import Refused
from heldout.eval.expected import Answered, Expected, expected
from heldout.eval.squad import judge, normalise
from heldout.eval.table import BINS, Events, FloatArray, IntArray
from heldout.records import Card, Example, Prediction, join


@dataclass(frozen=True)
class SpanTable:
    """n questions in gold's order: exact match and F1 of the answer, whether gold has one, the best span; all (n,).

    ``confidence`` is the probability of the best span, which a system has even where it answers nothing, and
    ``best_right`` whether that span matches gold exactly; both None where a row has no scores (``unscored``).
    """

    em: FloatArray
    f1: FloatArray
    answerable: NDArray[np.bool_]
    confidence: FloatArray | None
    best_right: FloatArray | None
    unscored: int = 0
    bins: int = BINS
    expected: Expected | None = None

    def __len__(self) -> int:
        return len(self.em)

    @property
    def scored(self) -> bool:
        """Whether every row has a best span with its probability."""
        return self.confidence is not None

    @property
    def correct(self) -> FloatArray:
        """1.0 where the answer matches gold exactly, else 0.0; shape (n,)."""
        return self.em

    @cached_property
    def events(self) -> Events:
        """Each question's best span; the event is that it matches gold exactly, which it never does without gold."""
        if self.confidence is None or self.best_right is None:
            raise Refused(f"{self.unscored} of {len(self)} predictions have no scores")
        return Events(self.confidence, self.best_right, np.arange(len(self)))

    def take(self, rows: IntArray) -> "SpanTable":
        """The table of these rows only."""
        cases = None if self.expected is None else self.expected.take(rows)
        cut = replace(self, em=self.em[rows], f1=self.f1[rows], answerable=self.answerable[rows], expected=cases)
        if self.confidence is None or self.best_right is None:
            return cut
        return replace(cut, confidence=self.confidence[rows], best_right=self.best_right[rows])


def second_rules(card: Card, gold: Sequence[Example]) -> bool:
    """Whether SQuAD's version 2.0 judges: the card's version begins with 2, or a question has no answer.

    Version 1.1 has no rule for such a question, so gold that holds one is read by the other's whatever the card says.
    """
    return card.version.split(".")[0] == "2" or any(not example.gold for example in gold)


def gold_texts(example: Example) -> list[str]:
    """The texts of a question's gold answers."""
    return [answer["text"] for answer in example.gold]


def tabulate_spans(
    card: Card, gold: Sequence[Example], predictions: Sequence[Prediction], bins: int = BINS
) -> SpanTable:
    """Join by id and judge every answer, and every best span where all rows have one; Refused where ids don't match."""
    pairs, second = join(gold, predictions), second_rules(card, gold)
    judged = np.array([judge(gold_texts(example), said.answer, second=second) for example, said in pairs])
    answerable = np.array([bool(example.gold) for example, _ in pairs])
    unscored = sum(said.scores is None for _, said in pairs)
    confidence = best_right = None
    if not unscored:
        best = [said.scores["best"] for _, said in pairs]
        confidence = np.array([span["p"] for span in best], dtype=np.float64)
        texts = [gold_texts(example) for example, _ in pairs]
        hits = [judge(golds, span["text"], second=second)[0] for golds, span in zip(texts, best, strict=True)]
        # Without gold no span is right, not even one of which normalising leaves nothing.
        best_right = np.array(hits) * answerable
    table = SpanTable(judged[:, 0], judged[:, 1], answerable, confidence, best_right, unscored, bins)
    return replace(table, expected=expected(card, pairs, table.correct, _same))


def _same(one: Answered, other: Answered) -> bool:
    """Whether two questions were answered with the same text, as SQuAD compares texts."""
    return normalise(one[1].answer) == normalise(other[1].answer)
