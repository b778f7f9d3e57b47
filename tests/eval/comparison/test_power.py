"""The smallest difference that could have been shown, against simulation, and Holm's correction by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.eval.comparison.power import from_discordance, from_spread
from heldout.eval.statistics import holm, mcnemar


@pytest.mark.parametrize(("n", "share"), [(1000, 0.16), (4000, 0.10), (500, 0.30)])
def test_a_difference_of_the_size_told_is_shown_about_8_times_in_10(n: int, share: float) -> None:
    differing = round(n * share)
    told = from_discordance(differing // 2, differing - differing // 2, n)["value"]
    rng = np.random.default_rng(0)
    # The first is right alone with chance (ψ + δ)/2, the second with (ψ − δ)/2.
    drawn = rng.multinomial(n, [(share + told) / 2, (share - told) / 2, 1 - share], size=1500)
    power = np.mean([mcnemar(int(a), int(b)) < 0.05 for a, b, _ in drawn])
    # The exact test is a little less powerful than the normal approximation.
    assert 0.74 < power < 0.84


def test_nothing_could_be_shown_where_answers_hardly_differ() -> None:
    told = from_discordance(2, 1, 1000)
    assert told["value"] is None and "too seldom" in told["method"]
    assert from_discordance(0, 0, 10)["value"] is None


@given(st.integers(10, 400), st.integers(10, 400))
def test_more_examples_show_smaller_differences(a: int, b: int) -> None:
    few, many = (from_discordance(a * k, b * k, 1000 * k)["value"] for k in (1, 4))
    assert few is None or many <= few


def test_the_spread_of_a_difference_tells_the_same_as_its_discordance() -> None:
    rng = np.random.default_rng(1)
    gaps = np.repeat([1.0, -1.0, 0.0], [80, 80, 840])
    drawn = gaps[rng.integers(0, 1000, size=(4000, 1000))].mean(axis=1)
    assert from_spread(drawn)["value"] == pytest.approx(from_discordance(80, 80, 1000)["value"], rel=0.05)
    assert from_spread(np.zeros(100))["value"] is None


def test_holm_by_hand() -> None:
    # 5 × .001; 4 × .012 = .048; 3 × .02 = .06; 2 × .02 = .04, not below .06; 1 × .9.
    assert holm([0.02, 0.001, 0.9, 0.012, 0.02]) == pytest.approx([0.06, 0.005, 0.9, 0.048, 0.06])
    assert holm([]) == []
    assert holm([0.7, 0.8]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_what_its_step_down_rule_rejects(ps: list[float]) -> None:
    """Step down: the k-th smallest is rejected while all before it are and it is at most 0.05/(m − k + 1)."""
    order, rejected = sorted(range(len(ps)), key=ps.__getitem__), set()
    for rank, place in enumerate(order):
        if ps[place] * (len(ps) - rank) > 0.05:
            break
        rejected.add(place)
    assert {place for place, p in enumerate(holm(ps)) if p <= 0.05} == rejected
