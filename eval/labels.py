"""Tables of kind label: one label an example, with its probabilities where the system gave some."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heldout.errors import Refused
from heldout.eval.expected import Answered, Expected, expected
from heldout.eval.table import BINS, Events, FloatArray, IntArray
from heldout.records import Card, Example, Prediction, join

#: In the place of a label's index.
NO_GOLD = -1


@dataclass(frozen=True)
class LabelTable:
    """n examples in gold's order: label indices of gold and answer, probabilities (n, L) where all rows have them.

    ``gold`` is −1 in every row where the set has none: such changes are judged by their originals alone.
    ``unscored`` counts the rows without probabilities; one is enough to leave ``scores`` None: nothing is made up.
    ``pairs`` (n, 2), where there are any: the number of an example's pair and its size in the whole set, −1 and 0 for
    examples in none. ``costs`` (L, L), where a person gave some: of each gold label the cost of each answer. ``sets``
    (n, L), where they were fitted: the labels in each example's conformal set.
    """

    labels: tuple[str, ...]
    gold: IntArray
    answer: IntArray
    scores: FloatArray | None
    unscored: int = 0
    bins: int = BINS
    pairs: IntArray | None = None
    costs: FloatArray | None = None
    sets: NDArray[np.bool_] | None = None
    expected: Expected | None = None

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def scored(self) -> bool:
        """Whether every row has probabilities."""
        return self.scores is not None

    @property
    def goldless(self) -> bool:
        """Whether the examples have no gold: a set has it for all or for none."""
        return bool((self.gold < 0).any())

    @property
    def correct(self) -> FloatArray:
        """1.0 where the answer is the gold label, else 0.0; shape (n,)."""
        hits: FloatArray = (self.answer == self.gold).astype(np.float64)
        return hits

    @property
    def confidence(self) -> FloatArray:
        """The probability of the answer given, whether or not it is the largest; shape (n,)."""
        scores: FloatArray = self.probabilities[np.arange(len(self)), self.answer]
        return scores

    @property
    def probabilities(self) -> FloatArray:
        """The probabilities (n, L); Refused where a row lacks them."""
        if self.scores is None:
            raise Refused(f"{self.unscored} of {len(self)} predictions have no scores")
        return self.scores

    @cached_property
    def events(self) -> Events:
        """Each example's answer; the event is that it is the gold label."""
        return Events(self.confidence, self.correct, np.arange(len(self)))

    def take(self, rows: IntArray) -> "LabelTable":
        """The table of these rows only."""
        scores = None if self.scores is None else self.scores[rows]
        pairs = None if self.pairs is None else self.pairs[rows]
        cases = None if self.expected is None else self.expected.take(rows)
        sets = None if self.sets is None else self.sets[rows]
        whole = replace(self, scores=scores, pairs=pairs, expected=cases, sets=sets)
        return replace(whole, gold=self.gold[rows], answer=self.answer[rows])


def tabulate_labels(
    card: Card, gold: Sequence[Example], predictions: Sequence[Prediction], bins: int = BINS
) -> LabelTable:
    """Join by id and number the labels by name; Refused where ids don't match.

    Where gold uses labels of the card's ``collapse`` (HANS: neutral and contradiction are one), answers are mapped
    to them and the probabilities of labels that become one are summed.
    """
    pairs = join(gold, predictions)
    target = _target(card, gold)
    labels = tuple(dict.fromkeys(target.values()))
    index = {label: position for position, label in enumerate(labels)}
    index_of_gold = index | {None: NO_GOLD}
    golds = np.array([index_of_gold[target.get(example.gold, example.gold)] for example, _ in pairs])
    answers = np.array([index[target[prediction.answer]] for _, prediction in pairs])
    unscored = sum(prediction.scores is None for _, prediction in pairs)
    scores = None
    if not unscored:
        given = np.array([prediction.scores for _, prediction in pairs], dtype=np.float64)
        scores = given @ np.eye(len(labels))[[index[target[label]] for label in card.labels]]
    table = LabelTable(labels, golds, answers, scores, unscored, bins, _pairs(gold))
    return replace(table, expected=expected(card, pairs, table.correct, _same))


def _same(one: Answered, other: Answered) -> bool:
    """Whether two examples were answered the same label."""
    return bool(one[1].answer == other[1].answer)


def _pairs(gold: Sequence[Example]) -> IntArray | None:
    """The pair of each example by ``about.pair``, with its size; None where no two examples share one."""
    names = [example.about.get("pair") for example in gold]
    sizes = Counter(str(name) for name in names if name is not None)
    numbers = {name: number for number, (name, size) in enumerate(sizes.items()) if size > 1}
    if not numbers:
        return None
    return np.array([(numbers[str(n)], sizes[str(n)]) if str(n) in numbers else (-1, 0) for n in names])


def _target(card: Card, gold: Sequence[Example]) -> dict[str, str]:
    """The label that stands for each label of the card: itself, or its collapsed one where gold uses those."""
    unknown = [label for label in card.collapse if label not in card.labels]
    if unknown:
        raise Refused(f"card {card.name!r}: collapse names {unknown[0]!r}, which is not among its labels")
    collapsed = set(card.collapse.values()) - set(card.labels)
    if not any(example.gold in collapsed for example in gold):
        return {label: label for label in card.labels}
    return {label: card.collapse.get(label, label) for label in card.labels}
