"""Macro F1: the mean over labels of 2 TP / (predicted + gold).

Labels are those of the card that have gold in the evaluated set, fixed before resampling; 0/0 is 0, and NaN where
nothing was drawn. It equals scikit-learn's f1_score(average="macro") with those labels and zero_division=0.
"""

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric
from heldout.eval.table import FloatArray


def _columns(table: LabelTable) -> FloatArray:
    """(n, 2 m) for m labels with gold: first whether the answer hits each, then [answer is it] + [gold is it]."""
    present = np.unique(table.gold)
    gold, answer = (codes[:, None] == present for codes in (table.gold, table.answer))
    return np.hstack([gold & answer, gold.astype(np.float64) + answer])


def _value(sums: FloatArray) -> FloatArray:
    hits, either = np.split(sums, 2, axis=1)
    f1 = np.divide(2 * hits, either, out=np.zeros_like(hits), where=either > 0)
    mean: FloatArray = np.where(either.any(axis=1), f1.mean(axis=1), np.nan)
    return mean


METRICS = (Metric("macro_f1", ("label",), False, "F1", True, _columns, _value),)
