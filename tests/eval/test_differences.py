from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from heldout.eval.differences import Side, differences, discordant, domain_drop
from heldout.eval.metrics import find
from heldout.eval.statistics import Sampling
from heldout.eval.tabulate import tabulate
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


def sides(gold: list[Example], *systems: list[Prediction]) -> tuple[Side, ...]:
    return tuple((tabulate(CARD, gold, predictions), np.arange(len(gold))) for predictions in systems)


def difference(pair: tuple[Side, ...], metric: str = "accuracy", *, replicates: int = 500) -> dict[str, Any]:
    first, second = pair
    sampling = Sampling(len(first[0]), None, replicates)
    return differences({"it": (first, second)}, find(metric), sampling)["it"]


def test_paired_systems_are_drawn_together_and_tested_exactly() -> None:
    gold, first = made([True] * 60 + [False] * 40)
    _, second = made([False] * 5 + [True] * 50 + [False] * 45)
    pair = sides(gold, first, second)
    found = difference(pair, replicates=4000)
    assert found["value"] == pytest.approx(0.1)
    assert found["method"].startswith("percentile bootstrap 95%, 4000 replicates, seed 0")
    assert discordant(pair[0][0], pair[1][0]) == (10, 0, 2 * 0.5**10)
    # ± 1.96 √(0.1·0.9/100): nothing but the ten examples on which they differ.
    assert (found["low"], found["high"]) == pytest.approx((0.1 - 0.059, 0.1 + 0.059), abs=0.012)


def test_a_slice_and_the_rest_vary_as_two_samples_do() -> None:
    gold, answers = made([True] * 90 + [False] * 10 + [True] * 70 + [False] * 30)
    table = tabulate(CARD, gold, answers)
    found = difference(((table, np.arange(100)), (table, np.arange(100, 200))), replicates=2000)
    assert (found["low"], found["high"]) == pytest.approx((0.2 - 0.107, 0.2 + 0.107), abs=0.015)
    assert found["n"] == [100, 100]


def test_a_group_that_stands_in_a_slice_and_in_the_rest_is_drawn_for_both() -> None:
    """Each film has one text of the slice and one of the rest, both right or both wrong: the difference never moves."""
    gold, answers = made([True, True, False, False] * 20)
    table = tabulate(CARD, gold, answers)
    groups = np.repeat(np.arange(40), 2)
    pair = ((table, np.arange(0, 80, 2)), (table, np.arange(1, 80, 2)))
    found = differences({"it": pair}, find("accuracy"), Sampling(80, groups, 500))["it"]
    assert (found["value"], found["low"], found["high"]) == (0, 0, 0)


def test_equal_systems_differ_by_nothing_with_p_1() -> None:
    gold, answers = made([True, False, True])
    pair = sides(gold, answers, answers)
    found = difference(pair, "nll")
    assert (found["value"], found["low"], found["high"]) == (0, 0, 0)
    assert discordant(pair[0][0], pair[1][0]) == (0, 0, 1.0)


@pytest.mark.parametrize("inside", [[False], [False, False], [True] * 5])
def test_a_slice_that_never_varies_has_no_interval_rather_than_the_one_of_the_rest(inside: list[bool]) -> None:
    gold, answers = made([*inside, *[True] * 250, *[False] * 45])
    table = tabulate(CARD, gold, answers)
    n = len(inside)
    found = difference(((table, np.arange(n)), (table, np.arange(n, len(gold)))))
    assert (found["low"], found["high"]) == (None, None)
    assert found["method"] == "no interval: one side is too small to vary"
    drop = domain_drop(CARD, made(inside), made([True] * 250 + [False] * 45), replicates=100)["accuracy"]
    assert (drop["low"], drop["high"]) == (None, None)


def test_a_large_side_that_does_not_vary_leaves_the_interval_of_the_other() -> None:
    gold, answers = made([True] * 1600 + [False] * 400)
    _, perfect = made([True] * 2000)
    found = difference(sides(gold, answers, perfect))
    assert found["value"] == pytest.approx(-0.2)
    assert -0.22 < found["low"] < found["value"] < found["high"] < -0.18


@pytest.mark.parametrize("metric", ["accuracy", "nll"])
@pytest.mark.parametrize("n", [10, 11, 13, 17, 19, 40])
def test_one_group_has_no_interval_however_many_texts_it_has(metric: str, n: int) -> None:
    gold, answers = made([True, False] * 20 + [True, True, False] * 20)
    answers = [replace(p, scores=[0.3 + k / 300, 0.7 - k / 300]) for k, p in enumerate(answers)]
    table = tabulate(CARD, gold, answers)
    groups = np.array([0] * n + list(range(1, 101 - n)))
    pair = ((table, np.arange(n)), (table, np.arange(n, 100)))
    assert differences({"it": pair}, find(metric), Sampling(100, groups, 500))["it"]["low"] is None
