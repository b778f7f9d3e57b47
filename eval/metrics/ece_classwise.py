"""Classwise ECE: the mean over the card's labels of the ECE of each label's own probability, whatever was answered.

Nixon et al. (2019), Measuring calibration in deep learning, call it static calibration error. Confidence is p of the
label, the event that it is gold; equal-width bins over [0, 1], each (low, high], 0 in the first. Where ``ece`` looks at
the answer alone, this also sees how far the p of the labels not answered are off; most of them are near 0, so it is
small where there are many labels. Noise adds to it label by label: see "debiased" and "expected_if_calibrated".
"""

from typing import Any

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric
from heldout.eval.metrics.ece import DRAWS, Binned, equal_width, gaps_if_calibrated, unbiased
from heldout.eval.table import FloatArray


def _of_each(table: LabelTable) -> list[Binned]:
    """The bins of each label's probability."""
    rows, events = np.arange(len(table)), np.eye(len(table.labels))[table.gold]
    return [
        Binned(p, event, rows, *equal_width(p, table.bins))
        for p, event in zip(table.probabilities.T, events.T, strict=True)
    ]


def _columns(table: LabelTable) -> FloatArray:
    """(n, L · bins + 1): Σ(event − p) of each label in the column of each of its bins, and 1."""
    rows, each = np.arange(len(table)), _of_each(table)
    columns = np.zeros((len(table), len(each) * table.bins + 1))
    for k, data in enumerate(each):
        columns[rows, k * table.bins + data.bin] = (data.event - data.confidence) / len(each)
    columns[:, -1] = 1
    return columns


def _value(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        ece: FloatArray = np.abs(sums[:, :-1]).sum(axis=1) / sums[:, -1]
    return ece


def _extras(table: LabelTable, seed: int) -> dict[str, Any]:
    each = _of_each(table)
    expected = [np.abs(gaps_if_calibrated(data, seed)).sum(axis=0).mean() / len(table) for data in each]
    return {
        "bins": table.bins,
        "debiased": max(0.0, float(np.mean([unbiased(data) for data in each]))),
        # No 95th percentile: it would need the labels of one example drawn together.
        "expected_if_calibrated": {"value": float(np.mean(expected)), "draws": DRAWS, "seed": seed},
    }


METRICS = (
    Metric(
        "ece_classwise",
        ("label",),
        True,
        "share",
        False,
        _columns,
        _value,
        _extras,
        no_interval="resampling would only add to it",
        whole_only=True,
    ),
)
