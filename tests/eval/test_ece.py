"""Calibration error against a slow second implementation and the faults of other projects (FAULTS.md K1 to K6)."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import find
from heldout.eval.metrics.ece import binned, debiased, equal_mass, equal_width, expected_if_calibrated

Make = Callable[..., LabelTable]
confidences = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.2, 0.6, 0.7, 1.0]), min_size=1, max_size=60)


def slow_ece(confidence: Sequence[float], correct: Sequence[bool], bins: int) -> float:
    """The definition, read aloud: each (low, high], 0 in the first; weighted gap of mean confidence and accuracy."""
    total = 0.0
    for b in range(bins):
        low, high = b / bins, (b + 1) / bins
        members = [i for i, p in enumerate(confidence) if low < p <= high or (b == 0 and p == 0)]
        if members:
            mean = math.fsum(confidence[i] for i in members) / len(members)
            right = sum(correct[i] for i in members) / len(members)
            total += len(members) / len(confidence) * abs(mean - right)
    return total


def two_labels(confidence: Sequence[float], correct: Sequence[bool], bins: int = 15) -> LabelTable:
    """Answers of label 1 with these confidences, right where said."""
    p = np.array(confidence)
    return LabelTable(
        ("no", "yes"), np.array(correct).astype(int), np.ones(len(p), int), np.stack([1 - p, p], 1), bins=bins
    )


@given(confidences, st.randoms(use_true_random=False), st.integers(1, 20))
@settings(deadline=None)
def test_ece_equals_a_slow_second_implementation(p: list[float], random, bins: int) -> None:  # type: ignore[no-untyped-def]
    correct = [random.random() < 0.6 for _ in p]
    table = two_labels(p, correct, bins)
    assert find("ece").of(table) == pytest.approx(slow_ece(p, correct, bins), abs=1e-9)


@given(confidences, st.integers(1, 20))
def test_every_example_is_in_exactly_one_bin(p: list[float], bins: int) -> None:
    for cut in (equal_width, equal_mass):
        where, edges = cut(np.array(p), bins)
        assert len(edges) == bins + 1
        assert np.bincount(where, minlength=bins).sum() == len(p)
        assert where.min() >= 0
        assert where.max() < bins


def test_a_confidence_on_an_edge_belongs_to_the_bin_below() -> None:
    # With [low, high) 0.6 and 0.65 would share a bin of ten and the gaps -0.6 and 0.35 would cancel to 0.25 / 2.
    table = two_labels([0.6, 0.65], [False, True], bins=10)
    assert find("ece").of(table) == pytest.approx((0.6 + 0.35) / 2)
    assert equal_width(np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.9]), 10)[0].tolist() == [0, 1, 2, 5, 6, 8]


def test_k1_confidence_of_1_is_in_the_last_bin_with_the_rest() -> None:
    assert find("ece").of(two_labels([0.95, 1.0], [True, False])) == pytest.approx(abs(1 - 1.95) / 2)


def test_k2_all_wrong_at_certainty_is_the_worst_there_is() -> None:
    assert find("ece").of(two_labels([1.0, 1.0], [False, False])) == 1.0
    assert find("ece").of(two_labels([0.0, 0.0], [True, True])) == 1.0


def test_k4_no_bin_is_left_out() -> None:
    n = 830
    p = np.linspace(0, 1, n)
    where, _ = equal_mass(p, 9)
    assert np.bincount(where).sum() == n
    assert np.bincount(where).min() >= n // 9
    assert find("ece_mass").of(two_labels(p, [False] * n)) == pytest.approx(0.5)


def test_k5_mean_confidence_and_counts_not_midpoints() -> None:
    # One bin of ten holds 0.81, 0.81, 0.89 (two right), another 0.55 (right): 3/4 · |2/3 − 2.51/3| + 1/4 · 0.45.
    table = two_labels([0.81, 0.81, 0.89, 0.55], [True, True, False, True], bins=10)
    assert find("ece").of(table) == pytest.approx((abs(2 - 2.51) + 0.45) / 4)


def test_k6_the_answers_ece_and_the_positive_labels_ece_differ_and_are_named() -> None:
    scores = np.array([[0.8, 0.2], [0.2, 0.8]])
    table = LabelTable(("no", "yes"), np.array([0, 0]), np.array([0, 1]), scores, bins=10)
    # Both answers share confidence 0.8, one is right; of the positive label 0.2 and 0.8 come true never.
    assert find("ece").of(table) == pytest.approx(0.3)
    assert find("ece_positive").of(table) == pytest.approx(0.5)


def test_equal_confidences_share_a_bin_whatever_their_order() -> None:
    p = np.array([0.9] * 8 + [0.3, 0.5])
    where, _ = equal_mass(p, 5)
    assert len(set(where[:8])) == 1
    assert np.bincount(where).tolist() == [2, 8]
    backwards, _ = equal_mass(p[::-1], 5)
    assert backwards.tolist() == where[::-1].tolist()


def test_confidence_is_that_of_the_answer_even_where_another_label_is_likelier() -> None:
    table = LabelTable(("no", "yes"), np.array([0]), np.array([0]), np.array([[0.3, 0.7]]))
    assert find("ece").of(table) == pytest.approx(0.7)


def test_the_debiased_value_is_what_redrawing_the_bins_gives(random_table: Make) -> None:
    data = binned(random_table(400, 2, seed=3), "ece")
    rng = np.random.default_rng(0)
    draws = np.zeros(20_000)
    for b in np.unique(data.bin):
        inside = data.bin == b
        share, gap = data.event[inside].mean(), (data.event - data.confidence)[inside].mean()
        draws += inside.mean() * np.abs(rng.normal(gap, math.sqrt(share * (1 - share) / inside.sum()), len(draws)))
    plain = find("ece").of(random_table(400, 2, seed=3))
    assert debiased(data) == pytest.approx(2 * plain - draws.mean(), abs=5e-4)


def test_a_calibrated_system_has_the_ece_it_is_expected_to_have_and_little_once_debiased() -> None:
    rng = np.random.default_rng(1)
    plain, without_bias, expected = [], [], []
    for seed in range(60):
        p = rng.uniform(0.5, 1, 500)
        table = two_labels(p, rng.random(500) < p)
        plain.append(find("ece").of(table))
        without_bias.append(debiased(binned(table, "ece")))
        expected.append(expected_if_calibrated(binned(table, "ece"), seed)[0])
    assert np.mean(expected) == pytest.approx(np.mean(plain), rel=0.1)
    assert np.mean(without_bias) < 0.65 * np.mean(plain)


def test_the_expected_ece_of_one_example_is_2_p_1_minus_p() -> None:
    mean, high = expected_if_calibrated(binned(two_labels([0.75], [True]), "ece"), 0)
    assert mean == pytest.approx(2 * 0.75 * 0.25, abs=0.06)
    assert high == pytest.approx(0.75)
    assert expected_if_calibrated(binned(two_labels([0.75], [True]), "ece"), 0) == (mean, high)


def test_an_entry_says_its_bins_its_draws_and_its_seed(random_table: Make) -> None:
    extras = find("ece_mass").extras(random_table(50, 3, bins=10), 7)
    assert extras["bins"] == 10
    assert extras["debiased"] >= 0
    assert extras["expected_if_calibrated"]["seed"] == 7
    assert extras["expected_if_calibrated"]["draws"] == 200
