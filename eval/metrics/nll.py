"""Negative log-likelihood of gold: natural log, mean over examples, probabilities floored at 1e-12.

The floored rows are counted: each adds 27.6 nats where the truth would be without bound.
"""

from typing import Any

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric, ratio
from heldout.eval.table import FloatArray
from heldout.fits import FLOOR


def _of_gold(table: LabelTable) -> FloatArray:
    probabilities: FloatArray = table.probabilities[np.arange(len(table)), table.gold]
    return probabilities


def _columns(table: LabelTable) -> FloatArray:
    return np.column_stack([-np.log(np.maximum(_of_gold(table), FLOOR)), np.ones(len(table))])


def _extras(table: LabelTable, seed: int) -> dict[str, Any]:
    return {"floored": int((_of_gold(table) < FLOOR).sum())}


METRICS = (Metric("nll", ("label",), True, "nats", False, _columns, ratio, _extras),)
