"""Brier score (1950): squared distance of the probabilities from gold's one-hot, mean over examples.

Summed over classes; halved for two labels, so that it is (p − y)² there. Of a span it is that of its best span alone:
p its probability, y whether it matches gold exactly.

Its "decomposition" (Murphy 1973), summed over classes as the score is, over the equal-width bins of p:

    reliability     Σ n_b (mean p − share that came true)² / n      how far the p stated are off: 0 is best
    resolution      Σ n_b (share that came true − base rate)² / n   how far the bins tell cases apart: more is better
    uncertainty     base rate (1 − base rate)                       what the data are, whatever the system
    within_bins     what p varies inside its bins, its spread less twice its covariance with what came true

brier = reliability − resolution + uncertainty + within_bins. Murphy's three alone are exact only where all p of a bin
are equal; the last is that of Stephenson, Coelho and Jolliffe (2008), who count it to resolution.
"""

from typing import Any

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric, ratio
from heldout.eval.metrics.ece import equal_width
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


def decomposition(table: LabelTable | SpanTable) -> dict[str, float]:
    """The four parts, which add up to the score of the table, n examples or more than none; of two labels by the
    second's p alone, whose score it is.
    """
    if isinstance(table, SpanTable):
        sides = [(table.events.confidence, table.events.event)]
    else:
        came_true = np.eye(len(table.labels))[table.gold]
        sides = list(zip(table.probabilities.T, came_true.T, strict=True))[1 if len(table.labels) == 2 else 0 :]
    murphys = [_murphy(p, event, table.bins) for p, event in sides]
    reliability, resolution, uncertainty = (float(sum(part)) for part in zip(*murphys, strict=True))
    return {
        "reliability": reliability,
        "resolution": resolution,
        "uncertainty": uncertainty,
        "within_bins": float(_distance(table).mean()) - (reliability - resolution + uncertainty),
    }


def _murphy(p: FloatArray, came_true: FloatArray, bins: int) -> tuple[float, float, float]:
    """Reliability, resolution and uncertainty of one class."""
    place, n, base = equal_width(p, bins)[0], len(p), float(came_true.mean())
    counts, stated, true = (np.bincount(place, weights, bins) for weights in (None, p, came_true))
    counts, stated, true = (column[counts > 0] for column in (counts, stated, true))
    gaps, steps = (stated - true) / counts, true / counts - base
    return float(counts @ gaps**2) / n, float(counts @ steps**2) / n, base * (1 - base)


def _extras(table: LabelTable | SpanTable, seed: int) -> dict[str, Any]:
    return {"decomposition": decomposition(table) | {"bins": table.bins}}


METRICS = (Metric("brier", ("label", "span"), True, "squared error", False, _columns, ratio, _extras),)
