from collections.abc import Sequence

import pytest

from heldout.eval.differences import domain_drop, paired_difference
from heldout.records import Card, Example, Prediction

CARD = Card("toy", "1", "label", ("negative", "positive"), ("accuracy", "nll"))


def made(right: Sequence[bool], *, scores: bool = True) -> tuple[list[Example], list[Prediction]]:
    """Examples that are all positive, answered right where said."""
    gold = [Example(str(i), {"text": f"Text {i}."}, "positive") for i in range(len(right))]
    answers = [
        Prediction(str(i), "positive" if hit else "negative", ([0.2, 0.8] if hit else [0.8, 0.2]) if scores else None)
        for i, hit in enumerate(right)
    ]
    return gold, answers


def test_a_drop_is_the_first_value_less_the_other_with_an_interval_of_independent_draws() -> None:
    drop = domain_drop(CARD, made([True] * 90 + [False] * 10), made([True] * 70 + [False] * 30), replicates=2000)
    accuracy = drop["accuracy"]
    assert accuracy["value"] == pytest.approx(0.2)
    # ± 1.96 √(0.9·0.1/100 + 0.7·0.3/100)
    assert (accuracy["low"], accuracy["high"]) == pytest.approx((0.2 - 0.107, 0.2 + 0.107), abs=0.015)
    assert accuracy["n"] == [100, 100]
    assert drop["nll"]["value"] < 0


def test_a_set_compared_to_itself_is_resampled_independently() -> None:
    same = made([True, False] * 50)
    drop = domain_drop(CARD, same, same, replicates=500)["accuracy"]
    assert drop["value"] == 0
    assert drop["low"] < -0.05
    assert drop["high"] > 0.05


def test_a_drop_leaves_out_what_needs_scores_where_there_are_none() -> None:
    assert list(domain_drop(CARD, made([True, False]), made([True], scores=False), replicates=50)) == ["accuracy"]


def test_paired_systems_are_drawn_together_and_tested_exactly() -> None:
    gold, first = made([True] * 60 + [False] * 40)
    _, second = made([False] * 5 + [True] * 50 + [False] * 45)
    found = paired_difference(CARD, gold, first, second, "accuracy", replicates=4000)
    assert found["value"] == pytest.approx(0.1)
    assert found["mcnemar"] == {"only_first": 10, "only_second": 0, "p": 2 * 0.5**10}
    # ± 1.96 √(0.1·0.9/100): nothing but the ten examples on which they differ.
    assert (found["low"], found["high"]) == pytest.approx((0.1 - 0.059, 0.1 + 0.059), abs=0.012)


def test_equal_systems_differ_by_nothing_with_p_1() -> None:
    gold, answers = made([True, False, True])
    found = paired_difference(CARD, gold, answers, answers, "nll", replicates=50)
    assert (found["value"], found["low"], found["high"]) == (0, 0, 0)
    assert found["mcnemar"]["p"] == 1.0
