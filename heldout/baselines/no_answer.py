"""No answer: every question is said to have none; in SQuAD 2.0 that is so of half of them.

Answers only: there are no scores.
"""

from collections.abc import Sequence

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted
from heldout.baselines._noun_like import need_spans
from heldout.errors import Refused
from heldout.records import Card, Example, Prediction


def fit(train: Sequence[Example], dev: Sequence[Example], card: Card, seed: int, options: BaselineOptions) -> Fitted:
    """Nothing is fitted; Refused where every question of train has an answer."""
    need_spans("no-answer", card)
    if all(example.gold for example in train):
        raise Refused("no-answer: every question of train has an answer, so this one would always be wrong")
    return Fitted(lambda examples: [Prediction(one.id, "") for one in examples])


BASELINE = Baseline("no-answer", fit, "nothing")
