"""Differences with intervals: between two data sets (independent bootstraps) and two systems (paired bootstrap)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout.eval.metrics import Metric, chosen, find
from heldout.eval.statistics import (
    REPLICATES,
    Bundle,
    Sampling,
    Statistic,
    bootstrap,
    group_codes,
    mcnemar,
    percentiles,
)
from heldout.eval.table import BINS, FloatArray, Table, tabulate
from heldout.records import Card, Example, Prediction

Scored = tuple[Sequence[Example], Sequence[Prediction]]


def domain_drop(
    card: Card,
    first: Scored,
    other: Scored,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    bins: int = BINS,
) -> dict[str, dict[str, Any]]:
    """How much of each of the card's metrics is lost from one data set to another: value on first − value on other.

    Positive is a drop (of an error such as nll: an improvement). The two sets are resampled independently, each with
    its groups whole. Metrics that need scores are left out where a set lacks them.
    """
    tables = [tabulate(card, gold, predictions, bins=bins) for gold, predictions in (first, other)]
    metrics = [m for m in chosen(card, tables[0]) if not m.needs_scores or all(t.scores is not None for t in tables)]
    drawn, values = [], []
    for stream, ((gold, _), table) in enumerate(zip((first, other), tables, strict=True)):
        sampling = Sampling(len(gold), group_codes(gold), replicates, seed, stream)
        drawn.append(_replicates(table, metrics, sampling))
        values.append([metric.of(table) for metric in metrics])
    method = f"two independent percentile bootstraps 95%, {replicates} replicates, seed {seed}"
    return {
        metric.name: _difference(metric, values[0][i] - values[1][i], drawn[0][i] - drawn[1][i], method)
        | {"n": [len(table) for table in tables]}
        for i, metric in enumerate(metrics)
    }


def paired_difference(
    card: Card,
    gold: Sequence[Example],
    first: Sequence[Prediction],
    second: Sequence[Prediction],
    metric: str,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    bins: int = BINS,
) -> dict[str, Any]:
    """How much two systems differ on the same examples: the metric of first − that of second, with its interval.

    The interval is from one bootstrap of the examples (or whole groups), both systems on the same draws; "mcnemar"
    has the examples that only one of them answered right and the exact two-sided p. Refused where scores are needed
    and missing.
    """
    found = find(metric)
    tables = [tabulate(card, gold, predictions, bins=bins) for predictions in (first, second)]
    sampling = Sampling(len(gold), group_codes(gold), replicates, seed)
    rows = np.arange(len(gold))
    drawn = bootstrap(
        [Bundle(rows, [Statistic(found.columns(table), found.value) for table in tables], sampling)], sampling
    )[0]
    value = found.of(tables[0]) - found.of(tables[1])
    gap = tables[0].correct - tables[1].correct
    only_first, only_second = int((gap > 0).sum()), int((gap < 0).sum())
    return _difference(found, value, drawn[0] - drawn[1], f"paired {sampling.method}") | {
        "n": len(gold),
        "mcnemar": {"only_first": only_first, "only_second": only_second, "p": mcnemar(only_first, only_second)},
    }


def _replicates(table: Table, metrics: Sequence[Metric], sampling: Sampling) -> list[FloatArray]:
    statistics = [Statistic(metric.columns(table), metric.value) for metric in metrics]
    return bootstrap([Bundle(np.arange(len(table)), statistics, sampling)], sampling)[0]


def _difference(metric: Metric, value: float, drawn: FloatArray, method: str) -> dict[str, Any]:
    low, high = percentiles(drawn)
    return {"value": value, "low": low, "high": high, "unit": metric.unit, "method": method}
