"""MCE, classwise ECE, the Brier score's parts: against torchmetrics, scikit-learn, definitions, hand examples."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from torchmetrics.functional.classification import multiclass_calibration_error

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import find
from heldout.eval.metrics.brier import decomposition
from heldout.eval.metrics.ece import DRAWS, binned, gaps_if_calibrated
from heldout.eval.score import score
from heldout.records import Card, Example, Prediction

Make = Callable[..., LabelTable]


def two_labels(confidence: list[float], correct: list[bool], bins: int = 15) -> LabelTable:
    p = np.array(confidence)
    scores = np.stack([1 - p, p], 1)
    return LabelTable(("no", "yes"), np.array(correct).astype(int), np.ones(len(p), int), scores, bins=bins)


@pytest.fixture(scope="module")
def cifar(real_data: Path, make_table: Make) -> LabelTable:
    with np.load(real_data / "calib_cifar10_vgg_probs" / "cifar10_vgg_probs.npz") as archive:
        table = make_table(archive["probs"].astype(float), archive["labels"].astype(int))
    assert len(table) == 10_000
    return table


def torch_error(table: LabelTable, norm: str) -> float:
    scores, gold = torch.tensor(table.probabilities), torch.tensor(table.gold)
    return float(multiclass_calibration_error(scores, gold, len(table.labels), n_bins=table.bins, norm=norm))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
def test_ece_and_mce_are_torchmetrics_where_no_confidence_stands_on_an_edge(random_table: Make, seed: int) -> None:
    table = random_table(400, 4, seed)
    assert find("ece").of(table) == pytest.approx(torch_error(table, "l1"), abs=1e-6)
    assert find("mce").of(table) == pytest.approx(torch_error(table, "max"), abs=1e-6)


def test_the_vgg_on_cifar_has_the_mce_and_the_classwise_ece_of_torchmetrics_and_of_the_definition(
    cifar: LabelTable,
) -> None:
    assert find("mce").of(cifar) == pytest.approx(torch_error(cifar, "max"), abs=1e-6)
    each = []
    for k in range(10):
        true, stated = calibration_curve(cifar.gold == k, cifar.probabilities[:, k], n_bins=15)
        counts = np.histogram(cifar.probabilities[:, k], np.linspace(0, 1, 16))[0]
        each.append((counts[counts > 0] * np.abs(true - stated)).sum() / 10_000)
    assert find("ece_classwise").of(cifar) == pytest.approx(np.mean(each), abs=1e-6)


def test_the_brier_score_of_the_vgg_is_the_sum_of_its_parts_to_the_last_digit(cifar: LabelTable) -> None:
    parts = decomposition(cifar)
    total = parts["reliability"] - parts["resolution"] + parts["uncertainty"] + parts["within_bins"]
    assert total == pytest.approx(find("brier").of(cifar), abs=1e-12)
    assert round(total, 5) == 0.10545
    # Ten labels with as many pictures each: ten times 0.1 · 0.9.
    assert parts["uncertainty"] == pytest.approx(0.9)


def test_a_bin_is_open_below_and_closed_above() -> None:
    """0.2 is of (0, 0.2] with 0.1, by [low, high) of [0.2, 0.4) with 0.3: one reading of each figure is right."""
    table = two_labels([0.1, 0.2, 0.3], [False, True, False], bins=5)
    assert find("ece").of(table) == pytest.approx((abs(1 - 0.3) + 0.3) / 3)  # [low, high): (0.1 + 0.5) / 3
    assert find("mce").of(table) == pytest.approx(0.35)  # [low, high): 0.25
    assert find("mce").extras(table, 0)["bin"] == {"low": 0.0, "high": 0.2, "n": 2}
    assert decomposition(table)["reliability"] == pytest.approx((2 * 0.35**2 + 0.3**2) / 3, abs=1e-12)


def test_the_largest_gap_may_be_of_one_answer_and_says_so() -> None:
    table = two_labels([0.95, 0.95, 0.95, 0.55], [True, True, True, False], bins=10)
    entry = find("mce").extras(table, 0)
    assert find("mce").of(table) == pytest.approx(0.55)
    assert entry["bin"] == {"low": 0.5, "high": 0.6, "n": 1}
    # Alone at 0.55, a calibrated answer is off by 0.45 or 0.55.
    assert 0.45 <= entry["expected_if_calibrated"]["value"] <= 0.55


def test_murphys_parts_by_hand() -> None:
    # Told 0.8: three of four came true; told 0.2: none of one. Base rate 3/5.
    parts = decomposition(two_labels([0.8, 0.8, 0.8, 0.8, 0.2], [True, True, True, False, False]))
    assert parts["reliability"] == pytest.approx((4 * 0.05**2 + 0.2**2) / 5)
    assert parts["resolution"] == pytest.approx((4 * 0.15**2 + 0.6**2) / 5)
    assert parts["uncertainty"] == pytest.approx(0.24)
    assert parts["within_bins"] == pytest.approx(0, abs=1e-12)


@given(st.integers(1, 60), st.integers(2, 5), st.integers(0, 1000), st.integers(1, 20))
@settings(max_examples=50, deadline=None)
def test_the_parts_of_any_brier_score_add_up_to_it(n: int, labels: int, seed: int, bins: int) -> None:
    rng = np.random.default_rng(seed)
    scores = np.round(rng.dirichlet(np.full(labels, 0.3), n), 1)
    table = LabelTable(tuple(map(str, range(labels))), rng.integers(0, labels, n), scores.argmax(1), scores, bins=bins)
    parts = decomposition(table)
    total = parts["reliability"] - parts["resolution"] + parts["uncertainty"] + parts["within_bins"]
    assert total == pytest.approx(find("brier").of(table), abs=1e-12)
    assert min(parts["reliability"], parts["resolution"], parts["uncertainty"]) >= 0


def test_draws_of_a_calibrated_system_have_the_mean_and_the_spread_of_drawing_each_answer(random_table: Make) -> None:
    data = binned(random_table(900, 2, seed=5), "ece")
    fast = gaps_if_calibrated(data, seed=1, draws=4000)
    rng = np.random.default_rng(2)
    slow = np.stack(
        [
            np.bincount(data.bin, (rng.random(900) < data.confidence) - data.confidence, minlength=15)[
                np.unique(data.bin)
            ]
            for _ in range(4000)
        ],
        axis=1,
    )
    assert fast.shape == slow.shape
    assert np.abs(fast).sum(axis=0).mean() == pytest.approx(np.abs(slow).sum(axis=0).mean(), rel=0.02)
    assert fast.std(axis=1) == pytest.approx(slow.std(axis=1), rel=0.06)
    assert np.abs(fast.mean(axis=1)).max() < 0.2 * slow.std(axis=1).max()


def test_the_classwise_ece_sees_what_the_answers_ece_does_not() -> None:
    """Always half sure of the first of three, right half the time, but the rest is never the second, as it was told."""
    scores = np.tile([0.5, 0.5, 0.0], (4, 1))
    table = LabelTable(("a", "b", "c"), np.array([0, 0, 2, 2]), np.zeros(4, dtype=int), scores)
    assert find("ece").of(table) == pytest.approx(0)
    assert find("ece_classwise").of(table) == pytest.approx((0 + 0.5 + 0.5) / 3)


def test_a_calibrated_systems_classwise_ece_is_about_what_it_is_expected_to_be() -> None:
    rng, plain, expected = np.random.default_rng(3), [], []
    for seed in range(20):
        scores = rng.dirichlet([1, 1, 1], 300)
        gold = np.array([rng.choice(3, p=p) for p in scores])
        table = LabelTable(("a", "b", "c"), gold, scores.argmax(1), scores)
        plain.append(find("ece_classwise").of(table))
        expected.append(find("ece_classwise").extras(table, seed)["expected_if_calibrated"]["value"])
    assert np.mean(plain) == pytest.approx(np.mean(expected), rel=0.1)


def test_what_no_resampling_covers_has_no_interval_and_stands_for_the_whole_set_alone() -> None:
    labels = ("a", "b", "c")
    card = Card("toy", "1", "label", labels, ("accuracy", "brier", "ece"), slices=("length",))
    rng = np.random.default_rng(0)
    scores = rng.dirichlet([1, 1, 1], 40)
    gold = [Example(str(i), {"text": "word " * (5 if i % 2 else 30)}, labels[rng.integers(3)]) for i in range(40)]
    said = [Prediction(str(i), labels[int(p.argmax())], [float(x) for x in p]) for i, p in enumerate(scores)]
    row = score(card, gold, said, data="toy", replicates=50)
    for name in ("mce", "ece_classwise"):
        entry = row["metrics"][name]
        assert (entry["low"], entry["high"]) == (None, None)
        assert "no interval" in entry["method"]
        assert entry["expected_if_calibrated"]["draws"] == DRAWS
    parts = [part["metrics"] for key, part in row["slices"].items() if key.startswith("length")]
    assert len(parts) == 2
    assert all({"mce", "ece_classwise", "aurc"}.isdisjoint(part) for part in parts)
    assert all({"ece", "accuracy_at_80"} <= part.keys() for part in parts)
