"""Maximum calibration error (Naeini et al. 2015): the largest gap between mean confidence and the share that came true
over the equal-width bins of ``ece``, each (low, high], that hold an answer.

One answer can make it: the bin and its n stand beside it, and what a perfectly calibrated system would show with as
many answers in each bin. It has no interval: resampling only adds to a maximum of noisy gaps.
"""

from typing import Any

import numpy as np

from heldout.eval.metrics import Metric, answers, unsure
from heldout.eval.metrics.ece import DRAWS, binned, gaps_if_calibrated
from heldout.eval.table import FloatArray, Table


def _columns(table: Table) -> FloatArray:
    """(n, 2 bins): the row's Σ(event − confidence) in each bin, then how many answers it has there."""
    data, bins = binned(table, "ece"), table.bins
    columns = np.zeros((len(table), 2 * bins))
    np.add.at(columns, (data.owner, data.bin), data.event - data.confidence)
    np.add.at(columns, (data.owner, data.bin + bins), 1.0)
    return columns


def _value(sums: FloatArray) -> FloatArray:
    gaps, counts = np.split(sums, 2, axis=1)
    mean = np.divide(np.abs(gaps), counts, out=np.zeros_like(gaps), where=counts > 0)
    largest: FloatArray = np.where(counts.any(axis=1), mean.max(axis=1), np.nan)
    return largest


def _extras(table: Table, seed: int) -> dict[str, Any]:
    data = binned(table, "ece")
    counts = np.bincount(data.bin, minlength=table.bins)
    gaps = np.bincount(data.bin, data.event - data.confidence, table.bins)
    worst = int(np.argmax(np.abs(gaps) / np.maximum(counts, 1)))
    drawn = (np.abs(gaps_if_calibrated(data, seed)) / counts[counts > 0][:, None]).max(axis=0)
    expected = {"value": float(drawn.mean()), "high": float(np.quantile(drawn, 0.95)), "draws": DRAWS, "seed": seed}
    place = {"low": float(data.edges[worst]), "high": float(data.edges[worst + 1]), "n": int(counts[worst])}
    return {"bins": table.bins, "bin": place, "expected_if_calibrated": expected}


METRICS = (
    Metric(
        "mce",
        ("label", "span", "tags"),
        True,
        "share",
        False,
        _columns,
        _value,
        _extras,
        about="answers",
        count=answers,
        missing=unsure,
        no_interval="resampling would only add to it",
        whole_only=True,
    ),
)
