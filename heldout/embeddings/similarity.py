"""Similarity sets: does a higher cosine go with people's higher rating? Spearman's ρ with a bootstrap interval.

A file has a line a pair: two words and a number, between tabs (WordSim-353, SimLex-999); lines that begin with # are
comments. Pairs with a word that has no vector are counted and left out.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from heldout.data.files import read_text
from heldout.embeddings.neighbours import cosine
from heldout.embeddings.vectors import Vectors
from heldout.errors import Refused

REPLICATES = 2000
#: Fewer pairs than this say nothing.
FEWEST = 10
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Similarity:
    """Spearman's ρ over the pairs that both have vectors, and a 95% interval; None where they are too few."""

    name: str
    pairs: int
    compared: int
    rho: float | None
    low: float | None
    high: float | None


def read_pairs(path: Path) -> list[tuple[str, str, float]]:
    """Two words and a rating a line; Refused with the line where it is not that."""
    found = []
    for number, line in enumerate(read_text(path, "utf-8").splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        try:
            first, second, rating = line.split("\t")
            found.append((first.strip(), second.strip(), float(rating)))
            assert math.isfinite(found[-1][2])
        except (ValueError, AssertionError):
            raise Refused(f"{path}, line {number}: must be two words and a number between tabs") from None
    return found


def similarity(vectors: Vectors, name: str, pairs: list[tuple[str, str, float]], seed: int = 1) -> Similarity:
    """ρ of cosines and ratings, pairs resampled for its interval."""
    kept = [pair for pair in pairs if all(vectors.vector(word) is not None for word in pair[:2])]
    if len(kept) < FEWEST:
        return Similarity(name, len(pairs), len(kept), None, None, None)
    ours = np.array([cosine(vectors, first, second) for first, second, _ in kept])
    theirs = np.array([rating for *_, rating in kept])
    draws = np.random.default_rng(seed).integers(len(kept), size=(REPLICATES, len(kept)))
    replicates = [spearman(ours[draw], theirs[draw]) for draw in draws]
    low, high = np.nanpercentile(replicates, (2.5, 97.5))
    return Similarity(name, len(pairs), len(kept), spearman(ours, theirs), float(low), float(high))


def spearman(first: Doubles, second: Doubles) -> float:
    """Pearson's correlation of the ranks, equal values sharing their mean rank; NaN where one side is constant."""
    a, b = ranks(first), ranks(second)
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / scale if scale else math.nan


def ranks(values: Doubles) -> Doubles:
    """Ranks from 1; equal values have the mean of their ranks.

    >>> ranks(np.array([2.0, 1.0, 2.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, inverse, n = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(n) - (n - 1) / 2)[inverse], dtype=np.float64)
