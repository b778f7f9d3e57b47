"""Split conformal prediction: sets of labels that hold gold as often as asked, fitted on dev.

The score of an example is 1 − p(gold) (LAC: Sadinle, Lei and Wasserman 2019). With q the ceil((n + 1)(1 − α))-th
smallest score of dev's n, the set of an example is every label with 1 − p ≤ q. It holds gold with probability 1 − α
or more, over dev and test, where both come from one distribution (Angelopoulos and Bates 2021, section 1); on another
domain nothing is promised, and the coverage reached tells. Sets can be empty: that counts as a miss.

Of labels only. Words of a sentence don't come one by one (the promise is for exchangeable examples), and the spans of
a passage are too many to list: a file's best n need not hold gold, so no quantile of them reaches a coverage asked for.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heldout.errors import Refused
from heldout.eval.labels import LabelTable, tabulate_labels
from heldout.eval.table import Table
from heldout.fits import Fit
from heldout.records import Card, Example, Prediction, content_hash

CONFORMAL = "conformal"
#: The share of sets that may miss gold where nothing else is asked for.
ALPHA = 0.1


def fit_conformal(
    card: Card, gold: Sequence[Example], predictions: Sequence[Prediction], split: str, alpha: float = ALPHA
) -> Fit:
    """The quantile of dev's scores; 1, by which every label is in every set, where n < 1/α − 1 are too few."""
    table = tabulate_labels(card, gold, predictions)
    scores = np.sort(1 - table.probabilities[np.arange(len(table)), table.gold])
    # 0.9 · 10 is 9.000000000000002 for some n: an error of rounding must not take a step more.
    rank = math.ceil((len(scores) + 1) * (1 - alpha) - 1e-9)
    quantile = 1.0 if rank > len(scores) else float(min(1.0, scores[rank - 1]))
    return Fit(
        kind=CONFORMAL,
        parameters={"alpha": alpha, "quantile": quantile},
        fitted_on={"split": split, "hash": content_hash(gold), "n": len(gold)},
    )


def check_alpha(alpha: float) -> float:
    """An α as given; Refused where it is no share between 0 and 1."""
    if not 0 < alpha < 1:
        raise Refused(f"--alpha {alpha:g}: the share of sets that may miss gold lies between 0 and 1, such as 0.1")
    return alpha


def with_sets(table: Table, fit: Fit) -> LabelTable:
    """The table with the set of each example (n, L). Of collapsed labels the p are sums, and the sets cover more."""
    assert isinstance(table, LabelTable)  # fitted for cards of labels alone
    return replace(table, sets=1 - table.probabilities <= fit.parameters["quantile"])
