"""Majority: every example gets the label that train has most of; its scores are train's label shares."""

from collections.abc import Sequence

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted, label_shares, most_frequent
from heldout.records import Card, Example, Prediction


def fit(train: Sequence[Example], dev: Sequence[Example], card: Card, seed: int, options: BaselineOptions) -> Fitted:
    """Count train's labels; ties go to the first in the card's order."""
    answer, shares = most_frequent(train, card.labels), label_shares(train, card.labels)
    return Fitted(lambda examples: [Prediction(example.id, answer, list(shares)) for example in examples])


BASELINE = Baseline("majority", fit)
