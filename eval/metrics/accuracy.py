"""Accuracy: the share of answers that equal gold."""

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric, ratio
from heldout.eval.table import FloatArray


def _columns(table: LabelTable) -> FloatArray:
    return np.column_stack([table.correct, np.ones(len(table))])


METRICS = (Metric("accuracy", ("label",), False, "share", True, _columns, ratio, share=True),)
