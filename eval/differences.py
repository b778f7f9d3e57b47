"""Differences with intervals: on one data set (the same bootstrap draws for both sides) and between two of them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from heldout.eval.metrics import Metric, chosen
from heldout.eval.resampling import Bundle, Statistic, bootstrap
from heldout.eval.statistics import FEW, REPLICATES, Sampling, group_codes, mcnemar, percentiles
from heldout.eval.table import BINS, FloatArray, IntArray, Table
from heldout.eval.tabulate import tabulate
from heldout.records import Card, Example, Prediction

Scored = tuple[Sequence[Example], Sequence[Prediction]]
#: One side of a difference on a data set: a system's table of the whole set, and the rows of it that count.
Side = tuple[Table, IntArray]
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Resampled:
    """One side of a drop: a data set's table, the replicates of each metric that it has, and its units."""

    table: Table
    metrics: tuple[Metric, ...]
    drawn: Mapping[str, FloatArray]
    units: int


def resampled(
    card: Card,
    scored: Scored,
    metrics: Sequence[Metric] | None = None,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    stream: int = 0,
    bins: int = BINS,
) -> Resampled:
    """A data set resampled for its drops: those of these metrics (by default the card's) that it has."""
    table = tabulate(card, *scored, bins=bins)
    wanted = chosen(card, table) if metrics is None else metrics
    able = tuple(m for m in wanted if not (m.whole_only or m.lacking(table)) and m.count(table))
    sampling = Sampling(len(table), group_codes(scored[0]), replicates, seed, stream)
    bundle = Bundle(np.arange(len(table)), [Statistic(m.columns(table), m.value) for m in able], sampling)
    drawn = bootstrap([bundle], sampling)[0]
    return Resampled(table, able, {m.name: side for m, side in zip(able, drawn, strict=True)}, sampling.units)


def domain_drop(
    card: Card,
    first: Scored | Resampled,
    other: Scored,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    bins: int = BINS,
) -> dict[str, dict[str, Any]]:
    """How much of each of the card's metrics is lost from one data set to another: value on first − value on other.

    Positive is a drop (of an error such as nll: an improvement). The two sets are resampled independently, each with
    its groups whole. Metrics that need scores, or examples of a kind, are left out where a set lacks them. Of several
    drops from one set, that set is resampled once and for all.
    """
    if not isinstance(first, Resampled):
        first = resampled(card, first, replicates=replicates, seed=seed, bins=bins)
    second = resampled(card, other, first.metrics, replicates=replicates, seed=seed, stream=1, bins=bins)
    method = f"two independent percentile bootstraps 95%, {replicates} replicates, seed {seed}"
    sides, units = (first, second), (first.units, second.units)
    return {
        m.name: _entry(m, [side.table for side in sides], [side.drawn[m.name] for side in sides], units, method)
        for m in second.metrics
    }


def differences(
    pairs: Mapping[Key, tuple[Side, Side]], metric: Metric, sampling: Sampling
) -> dict[Key, dict[str, Any]]:
    """The metric of each first side − that of its second, all on the draws of one resampling of their data set.

    Two systems on the same rows are paired by it; so are, as far as they share groups, a slice and the rest of a set.
    Refused where the metric needs scores and a side has none.
    """
    cut = {key: [table.take(rows) for table, rows in sides] for key, sides in pairs.items()}
    bundles = [
        Bundle(rows, [Statistic(metric.columns(table), metric.value)], sampling)
        for key, sides in pairs.items()
        for (_, rows), table in zip(sides, cut[key], strict=True)
    ]
    drawn = [replicates[0] for replicates in bootstrap(bundles, sampling)]
    method = f"{sampling.method}, the same draws for both sides"
    units = [bundle.filled for bundle in bundles]
    return {
        key: _entry(metric, tables, drawn[2 * i : 2 * i + 2], units[2 * i : 2 * i + 2], method)
        for i, (key, tables) in enumerate(cut.items())
    }


def discordant(first: Table, second: Table) -> tuple[int, int, float]:
    """The examples that only the first and only the second of two systems got right, and McNemar's exact p."""
    gap = first.correct - second.correct
    only_first, only_second = int((gap > 0).sum()), int((gap < 0).sum())
    return only_first, only_second, mcnemar(only_first, only_second)


def _entry(
    metric: Metric, tables: Sequence[Table], drawn: Sequence[FloatArray], units: Sequence[int], method: str
) -> dict[str, Any]:
    """First − second as scores.json has numbers; no interval where a side of few units does not vary.

    One example or group never does, nor do a few answers that are all right or all wrong: the bootstrap would then
    call certain what is only unknown. A side of many that does not vary (a majority's MCC is 0 however often it is
    drawn) leaves the other side's interval.
    """
    counts = [metric.count(table) for table in tables]
    if not all(counts):
        return {"value": None, "low": None, "high": None, "n": counts, "method": f"a side has no {metric.about}"}
    entry = {"value": metric.of(tables[0]) - metric.of(tables[1]), "unit": metric.unit, "n": counts}
    # The sums of a replicate are float32: the mean of one loss drawn often differs from itself by 1e-7.
    still = [np.isclose(np.nanmin(side), np.nanmax(side)) for side in drawn]
    if any(constant and n < FEW for constant, n in zip(still, units, strict=True)):
        return entry | {"low": None, "high": None, "method": "no interval: one side is too small to vary"}
    low, high = percentiles(drawn[0] - drawn[1])
    return entry | {"low": low, "high": high, "method": method}
