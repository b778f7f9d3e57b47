"""Several seeds of one recipe: mean and sd over runs, and intervals in which the seed varies as the examples do.

A run is one draw from two lotteries: which texts the test set holds, and which seed the training had. An interval from
one run knows the first only. Here both are drawn, independently of each other (examples and seeds are crossed: every
seed answers every example; Owen 2007, "The pigeonhole bootstrap"): a replicate draws examples (or groups), the same for
all seeds, and m − 1 of the m seeds with replacement, which makes the variance of their mean unbiased (McCarthy and
Snowden 1985); the plain m of m would give 2/3 of it for three seeds.

From few seeds nobody can say much: ``fewest_p`` tells the smallest p that permuting them could reach.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from heldout.errors import Refused
from heldout.eval.statistics import Sampling
from heldout.eval.table import FloatArray

#: The stream of random numbers that draws seeds, apart from those of examples (0, 1) and of swaps (2).
STREAM = 3
#: More ways than these to divide the seeds are drawn at random (10 and 10 have 184,756).
WAYS = 20_000


def members_of(folder: Path) -> list[Path]:
    """The run folders of a folder of seeds in order, or the folder itself where it is a run; Refused where neither."""
    if (folder / "card.json").exists():
        return [folder]
    found = [path.parent for path in folder.glob("seed-*/card.json")]
    if not found:
        raise Refused(f"{folder}: holds no card.json; is it a run folder of heldout?")
    return sorted(found, key=lambda path: (len(path.name), path.name))


def over_seeds(drawn: Sequence[FloatArray], sampling: Sampling, side: int = 0) -> FloatArray:
    """The replicates (R,) of the mean over seeds from those of each seed, all under the same draws of examples.

    Of one seed they are its own. ``side`` gives every side of a comparison draws of its own.
    """
    if len(drawn) == 1:
        return drawn[0]
    rng = np.random.default_rng([sampling.seed, STREAM, side])
    values = np.stack(drawn)
    chosen = rng.integers(0, len(drawn), size=(len(drawn) - 1, values.shape[1]))
    mean: FloatArray = np.take_along_axis(values, chosen, axis=0).mean(axis=0)
    return mean


def spread(values: Sequence[float]) -> float | None:
    """The sd over seeds, with m − 1 below the sum of squares; None of a single one."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def permuted(first: Sequence[float], second: Sequence[float], seed: int = 0) -> float:
    """The exact p of dividing all seeds anew between two sides: the share of ways that set the means as far apart.

    The test set stays as it is and the seed alone varies. Of more than WAYS ways so many are drawn, and the one found
    is counted among them.

    >>> permuted([0.80, 0.81, 0.82], [0.85, 0.86, 0.87])
    0.1
    """
    values, m = np.array([*first, *second]), len(first)
    found = abs(values[:m].mean() - values[m:].mean())
    if math.comb(len(values), m) <= WAYS:
        ways = np.array(list(combinations(range(len(values)), m)))
    else:
        rng = np.random.default_rng([seed, STREAM])
        drawn = [rng.permutation(len(values))[:m] for _ in range(WAYS - 1)]
        ways = np.array([np.arange(m), *drawn])
    sums = values[ways].sum(axis=1)
    apart = np.abs(sums / m - (values.sum() - sums) / (len(values) - m))
    return float((apart >= found - 1e-12).mean())


def fewest_p(first: int, second: int) -> float:
    """The smallest p that ``permuted`` can give for so many seeds on each side.

    >>> fewest_p(3, 3), round(fewest_p(5, 5), 4), fewest_p(1, 3)
    (0.1, 0.0079, 0.25)
    """
    # The mirror image of a division is as far apart, where the sides are of one size.
    return (2 if first == second else 1) / math.comb(first + second, first)


def by_seed(values: Sequence[float], names: Sequence[str]) -> dict[str, Any]:
    """What an entry says of its seeds: {"sd", "by_seed"}; empty of a single run."""
    return {"sd": spread(values), "by_seed": dict(zip(names, values, strict=True))} if names else {}
