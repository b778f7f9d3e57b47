"""Intervals: Wilson for plain shares, else the percentile bootstrap over whole groups; exact McNemar.

A bootstrap replicate is a vector of counts: how often each unit (an example, or a whole group) was drawn. With
metrics as sums of columns, replicates @ columns gives the sums of all replicates at once, and one set of replicates
serves every metric, slice and variant: a slice's replicate is what falls into the slice.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from heldout.errors import Refused
from heldout.eval.table import FloatArray, IntArray
from heldout.records import Example

#: The share of samplings whose interval should hold the true value.
LEVEL = 0.95
REPLICATES = 10_000
#: Below this many replicates the percentiles mean nothing.
FEWEST = 20
#: Below this many texts (or groups) numbers are anecdotes, whatever their interval says: a row is marked "few".
FEW = 30
#: Random weights of so many replicates (rows) of so many units: (R, units) float32.
Draw = Callable[[np.random.Generator, int, int], FloatArray]
#: Counts held at once: 4M float32 are 16 MB, their drawing takes another 64.
BLOCK = 4_000_000


def wilson(hits: float, n: float) -> tuple[float, float]:
    """Wilson's score interval (1927) for a share of hits among n independent examples.

    >>> [round(x, 4) for x in wilson(3, 4)]
    [0.3006, 0.9544]
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    share, scale = hits / n, 1 + z**2 / n
    middle = (share + z**2 / (2 * n)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided p of the exact binomial test on the examples that only one of two systems got right.

    1 where they never differ; exact integers, whatever the counts (never chi-squared).

    >>> mcnemar(1, 5)
    0.21875
    """
    n, fewer = only_first + only_second, min(only_first, only_second)
    term = tail = 1
    for i in range(fewer):
        term = term * (n - i) // (i + 1)
        tail += term
    # Ratios of integers of any size are rounded once; 2**n as a float would overflow at 1024 differences.
    return min(1.0, (2 * tail) / (1 << n))


def holm(ps: Sequence[float]) -> list[float]:
    """The p-values of a family, in their order, adjusted for how many were looked at (Holm 1979).

    The smallest is multiplied by their number m, the next by m − 1, …; none is below one that was smaller, or above 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(ps)), key=lambda place: ps[place])
    adjusted, least = [0.0] * len(ps), 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = least
    return adjusted


def group_codes(gold: Sequence[Example]) -> IntArray | None:
    """The group of each example as a number, from ``about.group``, else ``about.pair``; None where no example has one.

    An example without a group among others that have one stands alone.
    """
    given = [(example.id, example.about.get("group", example.about.get("pair"))) for example in gold]
    if all(group is None for _, group in given):
        return None
    names = [("alone", id_) if group is None else ("group", str(group)) for id_, group in given]
    index = {name: position for position, name in enumerate(dict.fromkeys(names))}
    return np.array([index[name] for name in names])


@dataclass(frozen=True)
class Sampling:
    """What is resampled: n examples, or their groups whole (their codes, from ``group_codes``)."""

    n: int
    groups: IntArray | None
    replicates: int = REPLICATES
    seed: int = 0
    stream: int = 0  # two samplings with one seed and different streams are independent

    def __post_init__(self) -> None:
        if self.replicates < FEWEST:
            raise Refused(f"{self.replicates} replicates give no interval; use at least {FEWEST}")

    @property
    def units(self) -> int:
        """How many things are drawn from."""
        return self.n if self.groups is None else int(self.groups.max()) + 1

    def owners(self, rows: IntArray) -> IntArray:
        """The unit that each of these rows is drawn with."""
        return rows if self.groups is None else self.groups[rows]

    @property
    def method(self) -> str:
        """How an interval was made, in words, for scores.json."""
        whole = "" if self.groups is None else f", {self.units} groups kept whole"
        return f"percentile bootstrap 95%, {self.replicates} replicates, seed {self.seed}{whole}"


@dataclass(frozen=True)
class Statistic:
    """One number to resample: its columns (m, k) for m examples, and its value from their sums (R, k) → (R,)."""

    columns: FloatArray
    value: Callable[[FloatArray], FloatArray]


class Bundle:
    """Statistics of the same rows: their columns side by side, summed by unit, so that one product serves them all."""

    def __init__(self, rows: IntArray, statistics: Sequence[Statistic], sampling: Sampling) -> None:
        self.values = [statistic.value for statistic in statistics]
        self.edges = np.cumsum([statistic.columns.shape[1] for statistic in statistics])
        self.units, owner = np.unique(sampling.owners(rows), return_inverse=True)
        # Equal columns (answers before and after a temperature, counts, empty bins) are kept once: of 1,400 columns
        # for 150 labels and a temperature half are left.
        kept: dict[bytes, int] = {}
        self.source = []
        for column in (column for statistic in statistics for column in statistic.columns.T):
            summed = np.bincount(owner, column, len(self.units)).astype(np.float32)
            self.source.append(kept.setdefault(summed.tobytes(), len(kept)))
        self.columns = np.frombuffer(b"".join(kept), dtype=np.float32).reshape(len(kept), len(self.units)).T
        #: How many units hold anything at all: of a part's entities many sentences have none.
        self.filled = int(self.columns.any(axis=1).sum())

    def replicate(self, counts: FloatArray) -> list[FloatArray]:
        """The values of each statistic under these counts (R, units of the sampling)."""
        mine = counts if len(self.units) == counts.shape[1] else np.take(counts, self.units, axis=1)
        sums = (mine @ self.columns)[:, self.source]
        return [value(part) for value, part in zip(self.values, np.split(sums, self.edges[:-1], axis=1), strict=True)]


def bootstrap(bundles: Sequence[Bundle], sampling: Sampling) -> list[list[FloatArray]]:
    """The replicates (R,) of every statistic of every bundle, all from one and the same resampling."""
    return resample(bundles, sampling, _counts, sampling.stream)


def resample(bundles: Sequence[Bundle], sampling: Sampling, draw: Draw, stream: int) -> list[list[FloatArray]]:
    """The replicates (R,) of every statistic of every bundle under weights that ``draw`` gives to the units."""
    rng = np.random.default_rng([sampling.seed, stream])
    blocks: list[list[list[FloatArray]]] = []
    rows = max(1, BLOCK // sampling.units)
    for start in range(0, sampling.replicates, rows):
        weights = draw(rng, min(rows, sampling.replicates - start), sampling.units)
        blocks.append([bundle.replicate(weights) for bundle in bundles])
    return [
        [np.concatenate([block[b][s] for block in blocks]) for s in range(len(bundle.values))]
        for b, bundle in enumerate(bundles)
    ]


def _counts(rng: np.random.Generator, rows: int, units: int) -> FloatArray:
    """How often each of ``units`` is drawn in each of ``rows`` replicates of ``units`` draws; float32."""
    counts = np.empty((rows, units), dtype=np.float32)
    for row in counts:
        # The same numbers as int64 would be, of which a block took six times as long (fresh pages).
        row[:] = np.bincount(rng.integers(0, units, size=units, dtype=np.int32), minlength=units)
    return counts


def percentiles(replicates: FloatArray) -> tuple[float, float]:
    """The central 95% of the replicates; those in which nothing was drawn (NaN) are left out."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(replicates[np.isfinite(replicates)], [tail, 1 - tail])
    return float(low), float(high)
