from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from heldout.eval.metrics import find
from heldout.eval.metrics.aurc import FEW_STEPS, POINTS, curve
from heldout.eval.spans import SpanTable

AURC = find("aurc")


def table(confidence: list[float] | NDArray[np.floating], right: list[float] | NDArray[np.floating]) -> SpanTable:
    """Questions whose best spans are right or wrong with these confidences."""
    hits, n = np.array(right, dtype=np.float64), len(right)
    return SpanTable(hits, hits, np.ones(n, dtype=np.bool_), np.array(confidence, dtype=np.float64), hits)


def by_the_formula(order: list[float]) -> float:
    """The mean over k of the share of wrong ones among the first k."""
    return float(np.mean([1 - np.mean(order[:k]) for k in range(1, len(order) + 1)]))


def test_the_area_of_four_answers_by_hand() -> None:
    # Sorted by confidence: right, wrong, right, right; the risks are 0, 1/2, 1/3, 1/4.
    assert AURC.of(table([0.2, 0.9, 0.6, 0.4], [1, 1, 0, 1])) == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 4) / 4)


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.4, 0.5, 0.9]), st.booleans()), min_size=1, max_size=6))
@settings(deadline=None)
def test_tied_answers_count_as_the_mean_of_all_their_orders(rows: list[tuple[float, bool]]) -> None:
    """All orders of six answers that do not fall in confidence, by brute force."""
    allowed = [
        by_the_formula([float(right) for _, right in order])
        for order in permutations(rows)
        if all(before[0] >= after[0] for before, after in pairwise(order))
    ]
    found = AURC.of(table([confidence for confidence, _ in rows], [float(right) for _, right in rows]))
    assert found == pytest.approx(np.mean(allowed), abs=1e-12)


def drawn(n: int, seed: int = 0) -> SpanTable:
    """Confidences that say how likely an answer is right, all of them distinct."""
    rng = np.random.default_rng(seed)
    confidence = rng.random(n)
    return table(confidence, (rng.random(n) < confidence).astype(np.float64))


def test_the_area_of_thousands_of_answers_is_that_of_the_formula_to_rounding() -> None:
    many = drawn(5000)
    assert many.confidence is not None
    order = many.em[np.argsort(-many.confidence)]
    risk = np.cumsum(1 - order) / np.arange(1, 5001)
    assert AURC.of(many) == pytest.approx(risk.mean(), rel=1e-12)


@given(st.integers(1, 60) | st.sampled_from([500, 5000]), st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_resampling_starts_from_the_exact_area(n: int, seed: int) -> None:
    some = drawn(n, seed)
    assert AURC.value(AURC.columns(some).sum(axis=0, keepdims=True))[0] == pytest.approx(AURC.of(some), abs=1e-12)


def test_of_many_answers_a_replicate_is_off_by_far_less_than_an_interval_is_wide() -> None:
    """10,000 answers in 20 groups: measured 0.0003 of an area of 0.33, whose interval is 0.02 wide."""
    many, rng = drawn(10_000), np.random.default_rng(2)
    columns = AURC.columns(many)
    assert columns.shape[1] == 2 * FEW_STEPS + 1
    off = []
    for _ in range(20):
        counts = np.bincount(rng.integers(0, 10_000, 10_000), minlength=10_000)
        replicate = AURC.value((counts @ columns)[None])[0]
        off.append(replicate - AURC.of(many.take(np.repeat(np.arange(10_000), counts))))
    assert np.abs(off).mean() < 0.0006
    assert abs(np.mean(off)) < 0.0004


def test_a_replicate_is_the_table_with_rows_drawn_as_often() -> None:
    some = drawn(40)
    counts = np.bincount(np.random.default_rng(1).integers(0, 40, 40), minlength=40)
    replicate = AURC.value((counts @ AURC.columns(some))[None].astype(np.float32))[0]
    assert replicate == pytest.approx(AURC.of(some.take(np.repeat(np.arange(40), counts))), abs=1e-6)


def test_confidence_that_knows_gives_the_least_area_and_none_that_is_the_same_for_all_the_share_of_errors() -> None:
    right = [1.0] * 6 + [0.0] * 4
    knows, knows_not = table(right, right), table([0.5] * 10, right)
    least = by_the_formula(right)
    assert AURC.of(knows) == pytest.approx(least)
    assert AURC.of(knows_not) == pytest.approx(0.4)
    for made in (knows, knows_not):
        assert AURC.extras(made, 0)["least"] == pytest.approx(least)


def test_the_curve_is_the_risk_of_the_most_confident_share() -> None:
    some = drawn(200)
    assert some.confidence is not None
    order = some.em[np.argsort(-some.confidence)]
    found = curve(some.events)
    assert found["coverage"] == pytest.approx(np.arange(1, POINTS + 1) / POINTS)
    assert found["risk"] == pytest.approx([1 - order[: round(200 * c)].mean() for c in found["coverage"]])
    assert len(found["risk"]) == POINTS == 20
