"""Word overlap: logistic regression on six numbers that say how much two texts have in common, and no word itself.

The share of the hypothesis's words in the premise, the reverse, whether it is all of them, whether they stand there in
one piece (HANS's subsequence), and the log of both lengths. What it gets right needs no understanding.

From 8,858 pairs of SNLI's dev set it is right on 0.491 of SNLI's 9,824 test pairs, where the majority has 0.343, and on
0.422 of MNLI's 9,815 matched dev pairs. It calls every pair of HANS entailment: half of them are.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted
from heldout.baselines._logistic import check, fit_logistic, logistic_again
from heldout.errors import Refused
from heldout.eval.slices.lexical_overlap import share, words
from heldout.records import Card, Example


def fit(train: Sequence[Example], dev: Sequence[Example], card: Card, seed: int, options: BaselineOptions) -> Fitted:
    """Fit on the features of train, choose C on dev; Refused where train's texts are no pairs or hold one label."""
    if any(not {"premise", "hypothesis"} <= example.text.keys() for example in train):
        raise Refused(f"word-overlap: not applicable to {card.name}, whose texts are no pairs; leave it out")
    check("word-overlap", train, dev, card)
    return fit_logistic(train, _rows(train), dev, card, _rows)


def _rows(examples: Sequence[Example]) -> npt.NDArray[np.float64]:
    return np.array([features(str(e.text["premise"]), str(e.text["hypothesis"])) for e in examples])


def features(premise: str, hypothesis: str) -> list[float]:
    """The six numbers of a pair.

    >>> features("The old dog sleeps.", "The dog sleeps")[:4]
    [1.0, 0.75, 1.0, 0.0]
    """
    ours, theirs = words(hypothesis), words(premise)
    found = share(ours, theirs)
    in_one_piece = f" {' '.join(ours)} " in f" {' '.join(theirs)} "
    lengths = [math.log1p(len(ours)), math.log1p(len(theirs))]
    return [found, share(theirs, ours), float(found == 1), float(in_one_piece), *lengths]


BASELINE = Baseline("word-overlap", fit, again=lambda kept, card: logistic_again(kept, card, _rows))
