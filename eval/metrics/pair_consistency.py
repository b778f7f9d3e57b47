"""Pair consistency: the share of a contrast set's pairs (or larger bundles) whose members are all answered right.

Gardner et al. (2020), Evaluating models' local decision boundaries via contrast sets. A pair is what ``about.pair``
joins, two members at least; of a slice those that lie whole in it. It stands beside accuracy wherever there are pairs.
"""

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric, ratio
from heldout.eval.table import FloatArray


def _shares(table: LabelTable) -> FloatArray:
    """(n, 2): of each example's pair 1/size where all of it is right, and 1/size; 0, 0 for pairs not whole here."""
    columns = np.zeros((len(table), 2))
    if table.pairs is None:
        return columns
    rows = np.flatnonzero(table.pairs[:, 0] >= 0)
    numbers, sizes = table.pairs[rows].T
    _, owner, found = np.unique(numbers, return_inverse=True, return_counts=True)
    right = np.bincount(owner, table.correct[rows], len(found))
    whole = found[owner] >= sizes
    columns[rows, 0] = whole * (right == found)[owner] / sizes
    columns[rows, 1] = whole / sizes
    return columns


def _count(table: LabelTable) -> int:
    return round(float(_shares(table)[:, 1].sum()))


METRICS = (
    Metric("pair_consistency", ("label",), False, "share", True, _shares, ratio, about="whole pairs", count=_count),
)
