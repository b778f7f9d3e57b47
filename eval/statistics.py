"""Intervals and tests: Wilson for plain shares, percentiles of a bootstrap, exact McNemar, Holm; what is resampled.

The resampling itself is in eval/resampling.py.
"""

import math
from collections.abc import Sequence
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
    given = [example.about.get("group", example.about.get("pair")) for example in gold]
    if all(group is None for group in given):
        return None
    groups = zip(gold, given, strict=True)
    names = [("alone", example.id) if group is None else ("group", str(group)) for example, group in groups]
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


def percentiles(replicates: FloatArray) -> tuple[float, float]:
    """The central 95% of the replicates; those in which nothing was drawn (NaN) are left out."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(replicates[np.isfinite(replicates)], [tail, 1 - tail])
    return float(low), float(high)
