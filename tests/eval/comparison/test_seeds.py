"""Seeds as a source of variation: permutations by hand and by scipy, and what the crossed bootstrap covers."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.eval.comparison.seeds import fewest_p, over_seeds, permuted, spread
from heldout.eval.statistics import Sampling, percentiles

# Eighths are exact in binary, so that ways which are equally far apart stay so in scipy's sums.
VALUES = st.lists(st.integers(0, 30).map(lambda k: k / 8), min_size=1, max_size=4)


@given(VALUES, VALUES)
@settings(max_examples=40, deadline=None)
def test_permuting_seeds_equals_scipys_exact_test(first: list[float], second: list[float]) -> None:
    expected = (
        scipy.stats.permutation_test(
            (np.array(first), np.array(second)),
            lambda a, b: abs(np.sum(a) * len(b) - np.sum(b) * len(a)),
            vectorized=False,
            alternative="greater",
            n_resamples=np.inf,
        ).pvalue
        if len(first) > 1 and len(second) > 1
        else None
    )
    p = permuted(first, second)
    if expected is not None:
        assert p == pytest.approx(expected)
    assert fewest_p(len(first), len(second)) - 1e-9 <= p <= 1


def test_three_seeds_a_side_reach_a_tenth_and_no_less() -> None:
    assert permuted([0.1, 0.2, 0.3], [9, 10, 11]) == fewest_p(3, 3) == 0.1
    assert fewest_p(4, 4) < 0.05
    assert permuted([0.5], [0.5]) == 1


def test_more_ways_than_can_be_listed_are_drawn() -> None:
    first, second = np.linspace(0, 1, 12), np.linspace(2, 3, 12)
    assert permuted(list(first), list(second)) < 0.001


def test_the_mean_over_seeds_varies_as_much_as_it_should() -> None:
    """Two lotteries at once: the variance of the mean is that of the seeds / m plus that of the examples / n."""
    rng, m, n, sd_seed, sd_example = np.random.default_rng(0), 6, 200, 0.05, 0.4
    ratios = []
    for trial in range(60):
        seeds, examples = rng.normal(0, sd_seed, m), rng.normal(0, sd_example, n)
        drawn = rng.integers(0, n, size=(400, n))
        values = [seed + examples[drawn].mean(axis=1) for seed in seeds]
        ratios.append(over_seeds(values, Sampling(n, None, 400, trial)).var() / (sd_seed**2 / m + sd_example**2 / n))
    assert np.mean(ratios) == pytest.approx(1, abs=0.15)


def test_one_seed_is_its_own_mean_and_sides_draw_seeds_of_their_own() -> None:
    values, sampling = [np.zeros(500), np.ones(500)], Sampling(10, None, 500)
    assert over_seeds(values[:1], sampling) is values[0]
    first, second = (over_seeds(values, sampling, side) for side in (0, 1))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.2
    assert spread([0.3]) is None and spread([1, 2, 3]) == 1


def test_an_interval_over_few_seeds_is_too_narrow_as_is_said_and_over_many_it_holds() -> None:
    """Coverage where seeds are all that varies: what few seeds cannot know, no bootstrap makes up."""
    rng, covered = np.random.default_rng(2), {}
    for m in (3, 12):
        held = []
        for trial in range(300):
            values = [np.full(200, value) for value in rng.normal(0, 1, m)]
            low, high = percentiles(over_seeds(values, Sampling(10, None, 200, trial)))
            held.append(low <= 0 <= high)
        covered[m] = np.mean(held)
    assert covered[3] < 0.9 < covered[12]
