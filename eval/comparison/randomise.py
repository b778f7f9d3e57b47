"""Randomisation test of two systems on one data set, for any metric (Fisher 1935; Noreen 1989; Yeh 2000).

If it made no difference which of two systems gave an answer, their answers could be swapped, unit by unit (an example,
or a whole group), without moving the difference in any metric more than chance does. So the answers are swapped at
random R times, and the difference counted that is at least as large as the one found, in either direction:

    p = (1 + k) / (R + 1)

The one is the swap that was observed; without it p could be 0, which no finite number of swaps can show.

A swap must not change how answers are counted, so both systems are counted on one basis (the labels that either gave).
A metric that sorts or bins by the system's own confidences (``ece_mass``, ``aurc``, accuracy at a coverage) has another
value on such a basis: it is not ``swappable``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from heldout.eval.comparison.stacked import stacked
from heldout.eval.metrics import Metric
from heldout.eval.resampling import Bundle, Statistic, resample
from heldout.eval.statistics import Sampling
from heldout.eval.table import FloatArray, IntArray, Table

#: The stream of random numbers of swaps, apart from those of bootstraps (0 and 1) with the same seed.
STREAM = 2
#: Sums of a replicate are float32: a difference this much below the one found is equal to it.
TIE = 1e-6


@dataclass(frozen=True)
class Duel:
    """Two systems on a part of a data set: their tables of the whole set, the rows that count, and metrics."""

    first: Table
    second: Table
    rows: IntArray
    metrics: Sequence[Metric]


def swappable(metric: Metric, first: Table, second: Table) -> bool:
    """Whether both systems have on one basis the values that they have each by itself."""
    n, columns = len(first), metric.columns(stacked(first, second))
    together = [metric.value(side.sum(axis=0, keepdims=True))[0] for side in (columns[:n], columns[n:])]
    return bool(np.allclose(together, [metric.of(first), metric.of(second)], rtol=1e-9, atol=1e-12, equal_nan=True))


def randomisation(duels: Sequence[Duel], sampling: Sampling) -> list[list[float]]:
    """The p of each metric of each duel, all from one series of swaps of the set's units.

    ``sampling`` tells the set's units, how many swaps and the seed. 1 where two systems never differ.
    """
    bundles, found = [], []
    for duel in duels:
        statistics, gaps = _swapped(duel)
        bundles.append(Bundle(duel.rows, statistics, sampling))
        found.append(gaps)
    drawn = resample(bundles, sampling, _swaps, STREAM)
    return [
        [_p(gap, swapped) for gap, swapped in zip(gaps, replicates, strict=True)]
        for gaps, replicates in zip(found, drawn, strict=True)
    ]


def _swapped(duel: Duel) -> tuple[list[Statistic], list[float]]:
    """Of each metric the difference as a function of which units are swapped, and the difference found."""
    n = len(duel.rows)
    both = stacked(duel.first.take(duel.rows), duel.second.take(duel.rows))
    statistics, found = [], []
    for metric in duel.metrics:
        columns = metric.columns(both)
        difference = _difference(metric, columns[:n].sum(axis=0), columns[n:].sum(axis=0))
        statistics.append(Statistic(columns[n:] - columns[:n], difference))
        found.append(float(difference(np.zeros((1, columns.shape[1])))[0]))
    return statistics, found


def _difference(metric: Metric, first: FloatArray, second: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """How far apart two systems are once units that hold ``moved`` (R, k), second − first, are swapped; (R,)."""

    def apart(moved: FloatArray) -> FloatArray:
        gap: FloatArray = np.abs(metric.value(first + moved) - metric.value(second - moved))
        return gap

    return apart


def _swaps(rng: np.random.Generator, rows: int, sizes: Sequence[int]) -> Iterator[FloatArray]:
    """Which units are swapped in each of ``rows`` replicates, 1 or 0 with equal chance, float32, chunk by chunk."""
    for size in sizes:
        yield rng.integers(0, 2, size=(rows, size), dtype=np.uint8).astype(np.float32)


def _p(found: float, swapped: FloatArray) -> float:
    """(1 + k) / (R + 1); a swap that leaves a side without anything to count (NaN) is no smaller difference."""
    as_large = int((~(swapped < found - TIE)).sum())
    return (1 + as_large) / (len(swapped) + 1)
