"""Brier score (1950): squared distance of the probabilities from gold's one-hot, mean over examples.

Summed over classes; halved for two labels, so that it is (p − y)² there. Of a span it is that of its best span alone:
p its probability, y whether it matches gold exactly.
"""

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric, ratio
from heldout.eval.spans import SpanTable
from heldout.eval.table import FloatArray


def _columns(table: LabelTable | SpanTable) -> FloatArray:
    return np.column_stack([_distance(table), np.ones(len(table))])


def _distance(table: LabelTable | SpanTable) -> FloatArray:
    if isinstance(table, SpanTable):
        gap: FloatArray = (table.events.confidence - table.events.event) ** 2
        return gap
    distance: FloatArray = ((table.probabilities - np.eye(len(table.labels))[table.gold]) ** 2).sum(axis=1)
    return distance / (2 if len(table.labels) == 2 else 1)


METRICS = (Metric("brier", ("label", "span"), True, "squared error", False, _columns, ratio),)
