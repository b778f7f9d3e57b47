"""Hypothesis-only: tf-idf + logistic regression that never sees the premise (Poliak et al. 2018).

What it gets right above the majority, the hypotheses give away by how they were written: it measures the data set. A
model that is no better has learned nothing about pairs.

From 8,858 pairs of SNLI's dev set it is right on 0.584 of SNLI's 9,824 test pairs, where the majority has 0.343; on
MNLI's 9,815 matched dev pairs on 0.379 of them. tf-idf of both texts in one has 0.509 and 0.358: it cannot tell which
text a word is from.
"""

from collections.abc import Sequence

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted
from heldout.baselines.tfidf import fit_words, words_again
from heldout.errors import Refused
from heldout.records import Card, Example


def fit(train: Sequence[Example], dev: Sequence[Example], card: Card, seed: int, options: BaselineOptions) -> Fitted:
    """As tfidf on the hypotheses; Refused where train has none, and as tfidf is."""
    if any("hypothesis" not in example.text for example in train):
        raise Refused(f"hypothesis-only: not applicable to {card.name}, whose texts are no pairs; leave it out")
    return fit_words("hypothesis-only", train, dev, card, _hypothesis)


def _hypothesis(example: Example) -> str:
    return str(example.text["hypothesis"])


BASELINE = Baseline("hypothesis-only", fit, again=words_again(_hypothesis))
