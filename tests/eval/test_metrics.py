from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from heldout.errors import Refused
from heldout.eval.expected import Expected
from heldout.eval.labels import LabelTable
from heldout.eval.metrics import chosen, find, known
from heldout.records import Card

Make = Callable[..., LabelTable]


@pytest.mark.parametrize(("n", "labels"), [(1, 2), (7, 2), (500, 2), (300, 5), (40, 30)])
def test_metrics_equal_scikit_learn(random_table: Make, n: int, labels: int) -> None:
    table = random_table(n, labels, seed=n)
    gold, answer, scores = table.gold, table.answer, table.scores
    present = np.unique(gold)
    one_hot = np.eye(labels)[gold]
    brier = float(((scores - one_hot) ** 2).sum(axis=1).mean())
    expected = {
        "accuracy": sklearn_metrics.accuracy_score(gold, answer),
        "macro_f1": sklearn_metrics.f1_score(gold, answer, labels=present, average="macro", zero_division=0),
        "mcc": sklearn_metrics.matthews_corrcoef(gold, answer) if len({*gold, *answer}) > 1 else 0.0,
        "nll": sklearn_metrics.log_loss(gold, scores, labels=range(labels)),
        "brier": sklearn_metrics.brier_score_loss(gold, scores[:, 1], pos_label=1) if labels == 2 else brier,
    }
    for name, value in expected.items():
        assert find(name).of(table) == pytest.approx(value, abs=1e-12), name


def test_macro_f1_leaves_out_labels_without_gold_and_counts_0_over_0_as_0(make_table: Make) -> None:
    # Label 2 is answered but never gold; label 1 is gold but never answered.
    scores = np.eye(4)[[0, 0, 2]]
    table = make_table(scores, np.array([0, 1, 0]))
    assert find("macro_f1").of(table) == pytest.approx((0.5 + 0) / 2)


def test_mcc_is_0_where_it_is_undefined(make_table: Make) -> None:
    assert find("mcc").of(make_table(np.eye(2)[[0, 0, 0]], np.array([0, 1, 0]))) == 0.0


def test_mcc_of_many_labels_needs_columns_for_labels_not_for_pairs_of_them(random_table: Make) -> None:
    table = random_table(2000, 400)
    assert find("mcc").columns(table).shape[1] <= 1 + 2 * 400


def test_nll_is_floored_and_says_how_often(make_table: Make) -> None:
    table = make_table(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1, 0]))
    assert find("nll").of(table) == pytest.approx(-np.log(1e-12) / 2)
    assert find("nll").extras(table, 0) == {"floored": 1}


def test_brier_is_summed_over_classes_and_halved_for_two_labels(make_table: Make) -> None:
    assert find("brier").of(make_table(np.array([[0.3, 0.7]]), np.array([0]))) == pytest.approx(0.49)
    assert find("brier").of(make_table(np.array([[0.3, 0.7, 0.0]]), np.array([0]))) == pytest.approx(0.98)


def test_the_real_probabilities_of_a_vgg_give_the_published_figures(real_data, make_table: Make) -> None:  # type: ignore[no-untyped-def]
    with np.load(real_data / "calib_cifar10_vgg_probs" / "cifar10_vgg_probs.npz") as archive:
        probabilities, labels = archive["probs"].astype(float), archive["labels"].astype(int)
    table = make_table(probabilities, labels)
    assert len(table) == 10_000
    figures = {"accuracy": 0.9359, "ece": 0.03978, "nll": 0.25706, "brier": 0.10545}
    for name, value in figures.items():
        assert find(name).of(table) == pytest.approx(value, abs=5e-6), name


tables = st.builds(
    lambda rows, labels, seed: paired(_drawn(rows, labels, seed)),
    st.integers(1, 40),
    st.integers(2, 5),
    st.integers(0, 2**32 - 1),
)


def _drawn(rows: int, labels: int, seed: int) -> LabelTable:
    rng = np.random.default_rng(seed)
    # Rounded to one place so that ties, zeros and ones are common.
    scores = np.round(rng.dirichlet(np.full(labels, 0.3), rows), 1)
    scores[:, -1] = np.clip(1 - scores[:, :-1].sum(axis=1), 0, 1)
    gold, answer = rng.integers(0, labels, rows), rng.integers(0, labels, rows)
    return LabelTable(tuple(map(str, range(labels))), gold, answer, scores)


def fitting(table: LabelTable) -> list[str]:
    """The metrics of labels that have something to say of this table."""
    of_labels = [metric for metric in known().values() if "label" in metric.kinds]
    suited = [metric for metric in of_labels if not metric.only_two_labels or len(table.labels) == 2]
    return [metric.name for metric in suited if metric.count(table)]


def paired(table: LabelTable) -> LabelTable:
    """The table with costs, sets, and each two rows a pair; of an odd number the last is in none."""
    labels = len(table.labels)
    costs = (1 + np.arange(labels**2).reshape(labels, labels) / labels**2) * (1 - np.eye(labels))
    table = replace(table, costs=costs / 2, sets=table.probabilities >= 0.2)
    pairs = [(row // 2, 2) if row // 2 * 2 + 1 < len(table) else (-1, 0) for row in range(len(table))]
    half, full = np.arange(len(table)) % 2.0, np.ones(len(table))
    cases = Expected(full, half, half, 1 - half, half, full, half, 0 * full)
    return replace(table, pairs=np.array(pairs) if len(table) > 1 else None, expected=cases)


@given(tables, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_no_metric_depends_on_the_order_of_rows(table: LabelTable, random) -> None:  # type: ignore[no-untyped-def]
    order = list(range(len(table)))
    random.shuffle(order)
    for name in fitting(table):
        assert find(name).of(table.take(np.array(order))) == pytest.approx(find(name).of(table), abs=1e-9), name


@given(tables)
@settings(max_examples=60, deadline=None)
def test_every_metric_is_a_function_of_sums_so_doubling_all_rows_changes_nothing(table: LabelTable) -> None:
    # The risk of the first k is of k answers, not of a share: twice as many have other ranks.
    for name in set(fitting(table)) - {"aurc"}:
        metric = find(name)
        columns = metric.columns(table)
        assert columns.shape[0] == len(table)
        once, twice = metric.value(np.stack([columns.sum(axis=0), 2 * columns.sum(axis=0)]))
        assert once == pytest.approx(twice, abs=1e-9), name


@given(tables)
@settings(max_examples=60, deadline=None)
def test_metrics_stay_in_their_range(table: LabelTable) -> None:
    low = {"mcc": -1.0, "twin_gap": -1.0}
    for name in set(fitting(table)) - {"nll", "brier", "conformal_size"}:
        assert low.get(name, 0.0) - 1e-9 <= find(name).of(table) <= 1 + 1e-9, name


def test_a_replicate_in_which_nothing_was_drawn_is_no_value_of_any_metric(random_table: Make) -> None:
    table = paired(random_table(9, 2))
    assert len(fitting(table)) >= 16
    for name in fitting(table):
        metric = find(name)
        sums = metric.columns(table).sum(axis=0)
        values = metric.value(np.stack([np.zeros_like(sums), sums]).astype(np.float32))
        assert np.isnan(values[0]) and np.isfinite(values[1]), name


def test_metrics_are_found_by_listing_the_folder() -> None:
    names = {
        "accuracy",
        "macro_f1",
        "mcc",
        "nll",
        "brier",
        "ece",
        "ece_mass",
        "ece_positive",
        "aurc",
        "pair_consistency",
        "mce",
        "ece_classwise",
        *(f"accuracy_at_{share}" for share in (80, 90, 95)),
        "cost",
        "conformal_coverage",
        "conformal_size",
    }
    assert {name for name, metric in known().items() if "label" in metric.kinds} >= names
    assert all(metric.name == name for name, metric in known().items())


def test_an_unknown_metric_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(Refused, match="did you mean accuracy"):
        find("acuracy")


def test_two_labels_bring_ece_positive_and_more_refuse_it(random_table: Make) -> None:
    card = Card("toy", "1", "label", ("a", "b"), ("accuracy", "ece", "nll"))
    sure = ["aurc", "accuracy_at_80", "accuracy_at_90", "accuracy_at_95"]
    assert [m.name for m in chosen(card, random_table(5, 2))] == [
        "accuracy",
        "ece",
        "ece_positive",
        "mce",
        *sure,
        "nll",
    ]
    assert [m.name for m in chosen(card, random_table(5, 3))] == [
        "accuracy",
        "ece",
        "mce",
        "ece_classwise",
        *sure,
        "nll",
    ]
    silent = replace(random_table(5, 2), scores=None, unscored=5)
    assert [m.name for m in chosen(card, silent)] == ["accuracy", "ece", "ece_positive", "nll"]
    named = Card("toy", "1", "label", ("a", "b", "c"), ("ece_positive",))
    with pytest.raises(Refused, match="needs two labels, got 3"):
        chosen(named, random_table(5, 3))
    with pytest.raises(Refused, match="label cards only"):
        chosen(Card("toy", "1", "lm", (), ("accuracy",)), random_table(5, 3))
