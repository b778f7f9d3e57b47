"""Brier score (1950): squared distance of the probabilities from gold's one-hot, mean over examples.

Summed over classes; halved for two labels, so that it is (p − y)² there.
"""

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric, ratio
from heldout.eval.table import FloatArray


def _columns(table: LabelTable) -> FloatArray:
    distance = ((table.probabilities - np.eye(len(table.labels))[table.gold]) ** 2).sum(axis=1)
    return np.column_stack([distance / (2 if len(table.labels) == 2 else 1), np.ones(len(table))])


METRICS = (Metric("brier", ("label",), True, "squared error", False, _columns, ratio),)
