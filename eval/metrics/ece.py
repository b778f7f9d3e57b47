"""Expected calibration error: how far confidence is from the share that comes true, bin by bin.

ECE = Σ over bins |Σ over the bin (event − confidence)| / n (Naeini et al. 2015; Guo et al. 2017): mean confidence
against the share of events, weighted by count; no midpoints. Three of them, never mixed up:

- ``ece``: confidence is the probability of the answer given, the event that it equals gold; equal-width bins over
  [0, 1], each (low, high], 0 in the first, so that every example is in exactly one. Of a span it is the probability
  of the best span, the event that this matches gold exactly, whether or not it was given as the answer. Of tags it
  is that of each entity found (the mean probability of its tags), the event that gold has the very same.
- ``ece_mass``: the same with edges at the quantiles of the confidences; equal confidences share a bin, whatever the
  order of rows. The edges stay fixed while examples are resampled.
- ``ece_positive``: two labels only; confidence is the probability of the second label, the event that it is gold;
  equal-width bins.

An ECE is biased upwards: noise alone keeps bins off the diagonal. So each comes with
- ``debiased``: 2 ECE − E[ECE redrawn], the share of events in each bin redrawn from a normal with its standard error:
  Kumar, Liang and Ma (2019, "Verified uncertainty calibration") do it for any norm by simulation; for this one the
  mean of a folded normal is known. Cut at 0, since no distance is below it.
- ``expected_if_calibrated``: the mean ECE of events drawn with the stated confidences in the same bins ("consistency
  resampling", Bröcker and Smith 2007), and their 95th percentile ``high``: an ECE below that is no sign of a
  miscalibration.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric, answers, unsure
from heldout.eval.table import Events, FloatArray, IntArray, Table

#: Draws of a perfectly calibrated system: the mean's own error is then under 3% of it for two bins and less for more.
DRAWS = 200
#: Cells of [0, 1] inside which confidences are drawn as one.
CELLS = 2000


@dataclass(frozen=True)
class Binned:
    """Confidences and events of m answers with the rows they are of, the bin of each, the bins' edges (bins + 1,)."""

    confidence: FloatArray
    event: FloatArray
    owner: IntArray
    bin: IntArray
    edges: FloatArray


def equal_width(confidence: FloatArray, bins: int) -> tuple[IntArray, FloatArray]:
    """The bin of each confidence, (low, high] with 0 in the first, and the edges 0, 1/bins, …, 1.

    i/bins is rounded once, so that 0.6 is on the edge 6/10 and falls below it; linspace gives 0.6000000000000001.
    """
    edges = np.arange(bins + 1) / bins
    return np.searchsorted(edges[1:-1], confidence, side="left"), edges


def equal_mass(confidence: FloatArray, bins: int) -> tuple[IntArray, FloatArray]:
    """The bin of each confidence, (low, high], with edges at observed quantiles; ties share a bin, some are empty."""
    # A system that finds no entity has no confidence to bin.
    quantiles = np.arange(1, bins) / bins
    inner = np.quantile(confidence, quantiles, method="inverted_cdf") if len(confidence) else quantiles
    return np.searchsorted(inner, confidence, side="left"), np.concatenate([[0.0], inner, [1.0]])


def binned(table: Table, name: str) -> Binned:
    """The table's confidences in the bins of the ECE called ``name``."""
    events = _of_second_label(table) if name == "ece_positive" else table.events
    cut = equal_mass if name == "ece_mass" else equal_width
    return Binned(events.confidence, events.event, events.owner, *cut(events.confidence, table.bins))


def _of_second_label(table: Table) -> Events:
    assert isinstance(table, LabelTable)  # metrics.chosen refuses other cards
    return Events(table.probabilities[:, 1], (table.gold == 1).astype(np.float64), np.arange(len(table)))


def _columns(table: Table, name: str) -> FloatArray:
    """(n, bins + 1): the row's Σ(event − confidence) in the column of each bin, and how many answers it has."""
    data = binned(table, name)
    columns = np.zeros((len(table), table.bins + 1))
    np.add.at(columns, (data.owner, data.bin), data.event - data.confidence)
    np.add.at(columns[:, -1], data.owner, 1.0)
    return columns


def _value(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        ece: FloatArray = np.abs(sums[:, :-1]).sum(axis=1) / sums[:, -1]
    return ece


def _extras(table: Table, seed: int, name: str) -> dict[str, Any]:
    data = binned(table, name)
    mean, high = expected_if_calibrated(data, seed)
    return {
        "bins": table.bins,
        "debiased": debiased(data),
        "expected_if_calibrated": {"value": mean, "high": high, "draws": DRAWS, "seed": seed},
    }


def debiased(data: Binned) -> float:
    """2 ECE − E[ECE redrawn]: see the head of this file."""
    return max(0.0, unbiased(data))


def unbiased(data: Binned) -> float:
    """The same before it is cut at 0, so that a mean of several has no bias of its own."""
    count, events, confidences = (np.bincount(data.bin, weights) for weights in (None, data.event, data.confidence))
    ece = redrawn = 0.0
    for n, hits, total in zip(count[count > 0], events[count > 0], confidences[count > 0], strict=True):
        gap, share = abs(hits - total) / n, hits / n
        ece += n * gap
        redrawn += n * _folded_normal_mean(gap, math.sqrt(max(share * (1 - share), 0) / n))
    return float((2 * ece - redrawn) / len(data.bin))


def _folded_normal_mean(mean: float, deviation: float) -> float:
    """E|X| of X normal with this mean and standard deviation (Leone, Nelson and Nottingham 1961)."""
    if deviation == 0:
        return abs(mean)
    ratio = mean / deviation
    return deviation * math.sqrt(2 / math.pi) * math.exp(-(ratio**2) / 2) + mean * math.erf(ratio / math.sqrt(2))


def gaps_if_calibrated(data: Binned, seed: int, draws: int = DRAWS) -> FloatArray:
    """Σ(event − confidence) of each bin that holds answers (bins, draws), events drawn with the stated confidences.

    Confidences of one bin that share a cell 1/CELLS wide are drawn as one binomial with their mean: the variance is
    theirs but for 1/(12 CELLS²) an answer, and 25,000 answers take 15 ms instead of 95.
    """
    rng = np.random.default_rng([seed, len(data.bin)])
    cells = data.bin * (CELLS + 1) + (data.confidence * CELLS).astype(np.int64)
    found, cell = np.unique(cells, return_inverse=True)
    n, total = np.bincount(cell), np.bincount(cell, data.confidence)
    share = np.clip(total / n, 0, 1)
    drawn = rng.binomial(n[:, None], share[:, None], size=(len(found), draws)) - total[:, None]
    starts = np.flatnonzero(np.diff(found // (CELLS + 1), prepend=-1))
    gaps: FloatArray = np.add.reduceat(drawn, starts, axis=0)
    return gaps


def expected_if_calibrated(data: Binned, seed: int) -> tuple[float, float]:
    """Mean and 95th percentile of the ECE over DRAWS sets of events drawn with the stated confidences."""
    values = np.abs(gaps_if_calibrated(data, seed)).sum(axis=0) / len(data.bin)
    return float(values.mean()), float(np.quantile(values, 0.95))


def _metric(name: str, *, only_two_labels: bool = False) -> Metric:
    columns: Callable[[Table], FloatArray] = partial(_columns, name=name)
    extras: Callable[[Table, int], dict[str, Any]] = partial(_extras, name=name)
    kinds = ("label",) if only_two_labels else ("label", "span", "tags")
    return Metric(
        name,
        kinds,
        True,
        "share",
        False,
        columns,
        _value,
        extras,
        only_two_labels=only_two_labels,
        about="answers",
        count=answers,
        missing=unsure,
    )


METRICS = (_metric("ece"), _metric("ece_mass"), _metric("ece_positive", only_two_labels=True))
