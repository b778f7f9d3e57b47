import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.eval.labels import LabelTable
from heldout.eval.metrics import find
from heldout.eval.resampling import Bundle, Statistic, bootstrap
from heldout.eval.statistics import Sampling, group_codes, mcnemar, percentiles, wilson
from heldout.eval.table import FloatArray, IntArray
from heldout.records import Example

Make = Callable[..., LabelTable]


def replicates(table: LabelTable, name: str, sampling: Sampling, rows: IntArray | None = None) -> FloatArray:
    where = np.arange(len(table)) if rows is None else rows
    metric = find(name)
    return bootstrap([Bundle(where, [Statistic(metric.columns(table.take(where)), metric.value)], sampling)], sampling)[
        0
    ][0]


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_scipy(counts: tuple[int, int]) -> None:
    hits, n = counts
    expected = scipy.stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson(hits, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_equals_scipys_binomial_test(a: int, b: int) -> None:
    expected = scipy.stats.binomtest(a, a + b, 0.5).pvalue if a + b else 1.0
    assert mcnemar(a, b) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_of_systems_that_agree_is_1_and_of_thousands_does_not_overflow() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(6000, 6000) == 1.0
    assert 0 <= mcnemar(2000, 9000) < 1e-300
    assert mcnemar(5900, 6100) == pytest.approx(scipy.stats.binomtest(5900, 12_000).pvalue, rel=1e-6)


@pytest.mark.parametrize("name", ["accuracy", "nll", "brier"])
def test_the_bootstrap_equals_scipys_on_a_mean(random_table: Make, name: str) -> None:
    table = random_table(80, 3)
    per_example = find(name).columns(table)[:, 0]
    expected = scipy.stats.bootstrap(
        (per_example,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    drawn = replicates(table, name, Sampling(80, None, 20_000, 0))
    spread = expected.high - expected.low
    assert percentiles(drawn) == pytest.approx((expected.low, expected.high), abs=0.04 * spread)


@pytest.mark.parametrize("name", ["macro_f1", "mcc", "ece"])
def test_replicates_equal_the_metric_on_the_drawn_examples(random_table: Make, name: str) -> None:
    table = random_table(30, 3)
    sampling = Sampling(30, None, 40, seed=5)
    drawn = np.random.default_rng([5, 0]).integers(0, 30, size=(40, 30))
    # Labels are fixed before resampling, so a replicate that lacks one keeps it: compare where all are there.
    expected = [find(name).of(table.take(rows)) for rows in drawn if len(np.unique(table.gold[rows])) == 3]
    got = [
        v for v, rows in zip(replicates(table, name, sampling), drawn, strict=True) if len(set(table.gold[rows])) == 3
    ]
    assert len(got) > 20
    assert got == pytest.approx(expected, abs=1e-5)


def test_the_edges_of_ece_mass_stay_fixed_across_replicates(random_table: Make) -> None:
    table = random_table(40, 2)
    inner = np.quantile(table.confidence, np.arange(1, 15) / 15, method="inverted_cdf")
    drawn = np.random.default_rng([0, 0]).integers(0, 40, size=(20, 40))
    gaps = (table.correct - table.confidence)[drawn]
    bins = np.searchsorted(inner, table.confidence)[drawn]
    expected = [sum(abs(g[b == k].sum()) for k in range(15)) / 40 for g, b in zip(gaps, bins, strict=True)]
    assert replicates(table, "ece_mass", Sampling(40, None, 20, 0)) == pytest.approx(expected, abs=1e-5)


@given(st.floats(1e-3, 1 - 1e-3), st.integers(2, 50))
@settings(max_examples=30, deadline=None)
def test_the_bootstrap_of_a_constant_has_no_width(p: float, n: int) -> None:
    scores = np.tile([1 - p, p], (n, 1))
    table = LabelTable(("no", "yes"), np.ones(n, int), np.ones(n, int), scores)
    for name in ("accuracy", "nll", "brier", "ece"):
        low, high = percentiles(replicates(table, name, Sampling(n, None, 50, 0)))
        assert high - low == pytest.approx(0, abs=1e-5)
        assert low == pytest.approx(find(name).of(table), abs=1e-5)


def test_groups_are_drawn_whole(random_table: Make) -> None:
    table = random_table(12, 2)
    groups = np.repeat([0, 1, 2], 4)
    drawn = replicates(table, "accuracy", Sampling(12, groups, 500, 0))
    means = table.correct.reshape(3, 4).mean(axis=1)
    possible = {round(float(np.mean(means[list(draw)])), 5) for draw in np.ndindex(3, 3, 3)}
    assert {round(float(value), 5) for value in drawn} <= possible
    assert len({round(float(value), 5) for value in drawn}) > 3


def test_dependent_examples_widen_the_interval(random_table: Make) -> None:
    rng = np.random.default_rng(0)
    right = np.repeat(rng.integers(0, 2, 50), 10)
    table = LabelTable(("no", "yes"), np.ones(500, int), right, None)
    alone = percentiles(replicates(table, "accuracy", Sampling(500, None, 2000, 0)))
    grouped = percentiles(replicates(table, "accuracy", Sampling(500, np.repeat(np.arange(50), 10), 2000, 0)))
    assert grouped[1] - grouped[0] > 2.5 * (alone[1] - alone[0])


def test_a_slice_is_resampled_with_the_whole_as_if_by_itself(random_table: Make) -> None:
    table = random_table(600, 2)
    rows = np.arange(0, 600, 3)
    inside = percentiles(replicates(table, "nll", Sampling(600, None, 8000, 0), rows))
    itself = percentiles(replicates(table.take(rows), "nll", Sampling(200, None, 8000, 1)))
    assert inside == pytest.approx(itself, abs=0.1 * (itself[1] - itself[0]))


def test_intervals_hold_the_true_value_about_95_times_in_100() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for trial in range(300):
        p = rng.uniform(0.5, 1, 200)
        table = LabelTable(("no", "yes"), (rng.random(200) < p).astype(int), np.ones(200, int), np.stack([1 - p, p], 1))
        low, high = percentiles(replicates(table, "brier", Sampling(200, None, 400, trial)))
        # E (p − y)² = E p (1 − p) with p uniform on [0.5, 1].
        held += low <= 1 / 6 <= high
    assert 0.91 <= held / 300 <= 0.985


def test_the_same_seed_gives_the_same_replicates_and_another_stream_others(random_table: Make) -> None:
    table = random_table(50, 2)
    first, again = (replicates(table, "nll", Sampling(50, None, 100, 4)) for _ in range(2))
    other = replicates(table, "nll", Sampling(50, None, 100, 4, stream=1))
    assert np.array_equal(first, again)
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.4


def test_replicates_in_which_a_slice_is_empty_are_left_out() -> None:
    assert percentiles(np.array([math.nan, 0.2, 0.2, math.nan])) == (0.2, 0.2)


def example(id_: str, about: dict[str, object]) -> Example:
    return Example(id_, {"text": "Fine."}, "positive", about)


@pytest.mark.parametrize(
    ("abouts", "codes"),
    [
        ([{}, {}], None),
        ([{"group": None}, {}], None),
        ([{"group": "m1"}, {"group": "m2"}, {"group": "m1"}], [0, 1, 0]),
        ([{"group": "m1"}, {}, {"group": "m1"}, {}], [0, 1, 0, 2]),
        ([{"group": 7}, {"group": "7"}], [0, 0]),
    ],
)
def test_groups_come_from_about_and_an_example_without_one_stands_alone(
    abouts: Sequence[dict[str, object]], codes: list[int] | None
) -> None:
    found = group_codes([example(str(i), about) for i, about in enumerate(abouts)])
    assert (None if found is None else found.tolist()) == codes


def test_too_few_replicates_are_refused() -> None:
    with pytest.raises(Refused, match="use at least 20"):
        Sampling(10, None, 5)


def test_units_drawn_in_chunks_are_drawn_as_all_at_once(monkeypatch: pytest.MonkeyPatch, random_table: Make) -> None:
    """Totals of chunks are multinomial: means, spread and covariance of counts are those of one draw of all."""
    import heldout.eval.resampling as module

    monkeypatch.setattr(module, "WHOLE", 10)
    monkeypatch.setattr(module, "CHUNK", 16)
    sizes = [16, 16, 8]
    counts = np.hstack(list(module._counts(np.random.default_rng(0), 20_000, sizes)))
    assert counts.shape == (20_000, 40) and (counts.sum(axis=1) == 40).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(40), abs=0.04)
    expected = np.eye(40) - 1 / 40
    assert np.abs(np.cov(counts.T) - expected).max() < 0.06
    table = random_table(40, 3)
    rows = np.arange(0, 40, 3)
    for name in ("accuracy", "nll", "macro_f1", "ece"):
        chunked = replicates(table, name, Sampling(40, None, 20_000, 0), rows)
        with monkeypatch.context() as patch:
            patch.setattr(module, "WHOLE", 40)
            together = replicates(table, name, Sampling(40, None, 20_000, 1), rows)
        assert np.nanmean(chunked) == pytest.approx(np.nanmean(together), rel=0.02)
        assert np.nanstd(chunked) == pytest.approx(np.nanstd(together), rel=0.05)


def test_columns_kept_by_their_places_sum_as_they_are(random_table: Make) -> None:
    table, weights = random_table(60, 2), np.random.default_rng(0).integers(0, 3, (5, 60)).astype(np.float32)
    metric = find("ece")
    columns = metric.columns(table)
    bundle = Bundle(np.arange(60), [Statistic(columns, metric.value)], Sampling(60, None, 20, 0))
    whole, parts = bundle.sums(weights, 0), 0
    fresh = Bundle(np.arange(60), [Statistic(columns, metric.value)], Sampling(60, None, 20, 0))
    for first in (0, 25, 50):
        parts = parts + fresh.sums(weights[:, first : first + 25], first)
    assert whole[:, bundle.source] == pytest.approx(weights @ columns, abs=1e-4)
    assert parts == pytest.approx(whole, abs=1e-4)


def test_a_part_that_lies_in_one_chunk_of_several_is_drawn_as_it_is_alone(
    monkeypatch: pytest.MonkeyPatch, random_table: Make
) -> None:
    import heldout.eval.resampling as module

    monkeypatch.setattr(module, "WHOLE", 100)
    monkeypatch.setattr(module, "CHUNK", 64)
    table, metric, sampling = random_table(300, 3), find("accuracy"), Sampling(300, None, 50, 0)
    weights = [np.hstack(list(module._counts(np.random.default_rng([0, sampling.stream]), 50, [64] * 4 + [44])))]
    for rows in (np.arange(5), np.arange(70, 120), np.arange(290, 300)):
        columns = metric.columns(table.take(rows))
        ((found,),) = bootstrap([Bundle(rows, [Statistic(columns, metric.value)], sampling)], sampling)
        with np.errstate(invalid="ignore"):
            expected = metric.value(weights[0][:, rows] @ columns.astype(np.float32))
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_any_number_of_threads_gives_the_same_replicates(random_table: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    import heldout.eval.resampling as module

    monkeypatch.setattr(module, "WHOLE", 100)
    monkeypatch.setattr(module, "CHUNK", 64)
    table, metric, sampling = random_table(300, 3), find("ece"), Sampling(300, None, 50, 0)
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(module.os, "cpu_count", lambda cores=cores: cores)
        parts = [np.arange(300), np.arange(0, 300, 2), np.arange(7, 90)]
        bundles = [
            Bundle(rows, [Statistic(metric.columns(table.take(rows)), metric.value)], sampling) for rows in parts
        ]
        found.append([one for (one,) in bootstrap(bundles, sampling)])
    assert all(np.array_equal(found[0], others) for others in found[1:])
    assert len({values.tobytes() for values in found[0]}) == 3


def test_columns_read_in_slabs_are_the_columns() -> None:
    import heldout.eval.resampling as module

    columns = np.random.default_rng(0).normal(size=(module.ROWS + 77, 2 * module.SLAB + 3))
    assert np.array_equal(np.stack(list(module._alone(columns))), columns.T.astype(np.float32))
