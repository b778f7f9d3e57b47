"""Majority: every example gets the label that train has most of; its scores are train's label shares.

On a card of tags it is every word that gets the most frequent tag, in practice O: no entity is found.
"""

from collections.abc import Sequence

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted, label_shares, most_frequent
from heldout.errors import Refused
from heldout.records import Card, Example, Prediction


def fit(train: Sequence[Example], dev: Sequence[Example], card: Card, seed: int, options: BaselineOptions) -> Fitted:
    """Count train's labels (or tags); ties go to the first in the card's order. Refused for a card without any."""
    if not card.labels:
        raise Refused(f"majority: not applicable to {card.name}, whose answers are no labels; leave it out")
    if card.kind == "tags":
        return _fit_tags(train, card)
    answer, shares = most_frequent(train, card.labels), label_shares(train, card.labels)
    return Fitted(lambda examples: [Prediction(example.id, answer, list(shares)) for example in examples])


def _fit_tags(train: Sequence[Example], card: Card) -> Fitted:
    words = [Example(example.id, {}, tag) for example in train for tag in example.gold]
    tag = most_frequent(words, card.labels)
    # Six digits, as a model's scores of tags have in the file.
    shares = [float(f"{share:.6g}") for share in label_shares(words, card.labels)]

    def answer(example: Example) -> Prediction:
        n = len(example.text["words"])
        return Prediction(example.id, [tag] * n, [list(shares) for _ in range(n)])

    return Fitted(lambda examples: [answer(example) for example in examples])


BASELINE = Baseline("majority", fit, "golds")
