"""The randomisation test against scipy's, against all 2^n swaps, and where it must be 1."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.eval.comparison.randomise import Duel, randomisation, swappable
from heldout.eval.comparison.stacked import stacked
from heldout.eval.labels import LabelTable
from heldout.eval.metrics import find
from heldout.eval.statistics import Sampling

Make = Callable[..., LabelTable]


def answers(labels: LabelTable, answer: np.ndarray, scores: np.ndarray | None = None) -> LabelTable:
    return LabelTable(labels.labels, labels.gold, answer, labels.scores if scores is None else scores)


def p_of(first: LabelTable, second: LabelTable, metric: str, sampling: Sampling) -> float:
    return randomisation([Duel(first, second, np.arange(len(first)), [find(metric)])], sampling)[0][0]


def swapped(first: LabelTable, second: LabelTable, which: np.ndarray) -> tuple[LabelTable, LabelTable]:
    """The two tables with the answers and scores of some rows swapped, the slow and plain way."""
    assert first.scores is not None and second.scores is not None
    sides = []
    for mine, other in ((first, second), (second, first)):
        scores = np.where(which[:, None], other.scores, mine.scores)
        sides.append(LabelTable(mine.labels, mine.gold, np.where(which, other.answer, mine.answer), scores))
    return sides[0], sides[1]


@pytest.mark.parametrize("metric", ["accuracy", "macro_f1", "mcc", "nll", "brier", "ece"])
def test_p_is_that_of_all_swaps_of_few_examples(random_table: Make, metric: str) -> None:
    n, rounds = 9, 20_000
    first, other = random_table(n, 3, seed=1), random_table(n, 3, seed=2)
    second = LabelTable(first.labels, first.gold, other.answer, other.scores)
    found = abs(find(metric).of(first) - find(metric).of(second))
    gaps = []
    for which in product([False, True], repeat=n):
        a, b = swapped(first, second, np.array(which))
        gaps.append(abs(find(metric).of(a) - find(metric).of(b)))
    exact = np.mean(np.array(gaps) >= found - 1e-9)
    assert len(gaps) == 512
    assert p_of(first, second, metric, Sampling(n, None, rounds)) == pytest.approx(exact, abs=0.015)


def test_p_equals_scipys_permutation_test_of_paired_losses(random_table: Make) -> None:
    first = random_table(60, 2, seed=3)
    assert first.scores is not None
    noisy = first.scores * np.random.default_rng(4).uniform(0.3, 1, size=(60, 2))
    second = answers(first, first.answer, noisy / noisy.sum(axis=1, keepdims=True))
    losses = [find("nll").columns(table)[:, 0] for table in (first, second)]
    expected = scipy.stats.permutation_test(
        losses,
        lambda a, b: np.mean(a) - np.mean(b),
        permutation_type="samples",
        n_resamples=20_000,
        rng=np.random.default_rng(0),
        vectorized=False,
    ).pvalue
    assert 0.02 < expected < 0.98
    assert p_of(first, second, "nll", Sampling(60, None, 20_000)) == pytest.approx(expected, abs=0.015)


@given(st.integers(0, 1000), st.sampled_from(["accuracy", "macro_f1", "mcc", "nll", "brier", "ece"]))
@settings(max_examples=25, deadline=None)
def test_a_system_against_itself_has_p_1(random_table: Make, seed: int, metric: str) -> None:
    table = random_table(25, 3, seed=seed)
    assert p_of(table, table, metric, Sampling(25, None, 50)) == 1


def test_p_is_never_0_and_falls_no_lower_than_one_in_all_swaps(make_table: Make) -> None:
    scores = np.tile([0.1, 0.9], (200, 1))
    first = make_table(scores, np.ones(200, int))
    second = make_table(scores[:, ::-1], np.ones(200, int))
    assert p_of(first, second, "accuracy", Sampling(200, None, 99)) == 1 / 100


def test_groups_are_swapped_whole() -> None:
    """Three groups have eight swaps, of which two are as extreme: p is near 1/4 however many examples they hold."""
    gold = np.ones(300, int)
    first = LabelTable(("no", "yes"), gold, np.ones(300, int), None)
    second = LabelTable(("no", "yes"), gold, np.zeros(300, int), None)
    groups = np.repeat([0, 1, 2], 100)
    assert p_of(first, second, "accuracy", Sampling(300, groups, 4000)) == pytest.approx(0.25, abs=0.03)
    assert p_of(first, second, "accuracy", Sampling(300, None, 4000)) == pytest.approx(1 / 4001)


def test_p_is_uniform_where_nothing_differs() -> None:
    """Under the null a p below 5% comes 5 times in 100 (never oftener)."""
    rng = np.random.default_rng(0)
    ps = []
    for trial in range(200):
        first, second = (LabelTable(("no", "yes"), np.ones(80, int), rng.integers(0, 2, 80), None) for _ in range(2))
        ps.append(p_of(first, second, "accuracy", Sampling(80, None, 199, trial)))
    assert 0.01 <= np.mean(np.array(ps) <= 0.05) <= 0.09
    assert 0.4 < np.mean(ps) < 0.65


def test_metrics_that_sort_or_bin_by_own_confidences_are_not_swappable(random_table: Make) -> None:
    first, other = random_table(400, 2, seed=5), random_table(400, 2, seed=6)
    assert other.scores is not None
    sharp = np.square(other.scores) / np.square(other.scores).sum(axis=1, keepdims=True)
    second = LabelTable(first.labels, first.gold, other.answer, sharp)
    kinds = {name: swappable(find(name), first, second) for name in ("accuracy", "mcc", "nll", "ece", "ece_mass")}
    assert kinds == {"accuracy": True, "mcc": True, "nll": True, "ece": True, "ece_mass": False}


def test_pairs_of_two_systems_stay_apart_when_their_tables_are_stacked() -> None:
    pairs = np.array([[0, 2], [0, 2], [-1, 0], [1, 2], [1, 2]])
    gold = np.ones(5, int)
    first = LabelTable(("no", "yes"), gold, np.array([1, 1, 0, 1, 0]), None, pairs=pairs)
    second = LabelTable(("no", "yes"), gold, np.array([0, 1, 1, 1, 1]), None, pairs=pairs)
    metric = find("pair_consistency")
    columns = metric.columns(stacked(first, second))
    assert [float(metric.value(side.sum(axis=0)[None])[0]) for side in (columns[:5], columns[5:])] == [0.5, 0.5]
    assert [metric.of(first), metric.of(second)] == [0.5, 0.5]
