"""From tables to entries: every metric on every slice under every variant, with intervals from one resampling."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from heldout.eval.metrics import Metric
from heldout.eval.resampling import Bundle, Statistic, bootstrap
from heldout.eval.slices import WHOLE, Part
from heldout.eval.statistics import Sampling, percentiles, wilson
from heldout.eval.table import FloatArray, Table

Entries = dict[str, dict[str, Any]]
#: The variant that is the predictions as given.
PLAIN = ""


def evaluate(
    variants: Mapping[str, Mapping[str, Part]],
    metrics: Sequence[Metric],
    sampling: Sampling,
    others: Mapping[str, Sequence[Metric]] | None = None,
) -> dict[str, dict[str, Entries]]:
    """The entry of every metric, by variant and slice; all intervals come from one resampling of the whole set.

    ``variants`` holds the same parts of each variant, the whole among them. Where a variant moves a metric, its entry
    has the "change" from the predictions as given, with its interval. ``others`` names the variants that have metrics
    of their own instead.
    """
    parts, plain_table = variants[PLAIN], variants[PLAIN][WHOLE].table
    lacking = {metric.name: metric.lacking(plain_table) for metric in metrics}
    able = [metric for metric in metrics if not lacking[metric.name]]
    order = [(variant, metric) for variant in variants for metric in (others or {}).get(variant, able)]
    there = {key: [(v, m) for v, m in order if key == WHOLE or not m.whole_only] for key in parts}
    points: dict[str, Points] = {key: {} for key in parts}
    bundles = {
        key: Bundle(part.rows, _statistics(key, variants, there[key], sampling, points[key]), sampling)
        for key, part in parts.items()
    }
    drawn = dict(zip(bundles, bootstrap(list(bundles.values()), sampling), strict=True))
    absent = {name: _absent(n, len(plain_table)) for name, n in lacking.items() if n}
    entries = {v: {key: {} if v in (others or {}) else dict(absent) for key in parts} for v in variants}
    for key, bundle in bundles.items():
        resampled = [(variant, metric.name) for variant, metric in there[key] if not metric.no_interval]
        replicates = dict(zip(resampled, drawn[key], strict=True))
        for variant, metric in there[key]:
            mine, plain = replicates.get((variant, metric.name)), replicates.get((PLAIN, metric.name))
            entry = _entry(metric, points[key][variant, metric.name], bundle, mine, sampling)
            before = entries[PLAIN][key].get(metric.name, entry)["value"]
            compared = variant != PLAIN and None not in (entry["value"], before)
            if compared and mine is not None and plain is not None and not np.array_equal(mine, plain, equal_nan=True):
                entry["change"] = {"value": entry["value"] - before, **_bounds(bundle, mine - plain)}
            entries[variant][key][metric.name] = entry
    return {v: {key: _in_order(found, metrics) for key, found in cut.items()} for v, cut in entries.items()}


@dataclass(frozen=True)
class Point:
    """A metric on a table without its interval: the value, NaN where there is none, the sums of its columns, how many
    it is about, and what else its entry says.
    """

    value: float
    sums: FloatArray
    n: int = 0
    extras: Mapping[str, Any] = field(default_factory=dict)


#: By variant and metric.
Points: TypeAlias = dict[tuple[str, str], Point]


def _statistics(
    key: str,
    variants: Mapping[str, Mapping[str, Part]],
    asked: Sequence[tuple[str, Metric]],
    sampling: Sampling,
    points: Points,
) -> Iterator[Statistic]:
    """What is to be resampled of a part; on the way its metrics' ``points`` are filled in.

    So each metric's columns are made once, and live two at a time: of a million rows the AURC's alone are 330 MB. The
    next are made while those before them are read, which numpy does without Python's lock.
    """
    tables = {variant: cut[key].table.take(cut[key].rows) for variant, cut in variants.items()}
    made = _ahead((metric.columns, tables[variant]) for variant, metric in asked)
    for (variant, metric), columns in zip(asked, made, strict=True):
        points[variant, metric.name] = _point(metric, tables[variant], columns, sampling.seed)
        if not metric.no_interval:
            yield Statistic(columns, metric.value)


def _ahead(calls: Iterable[tuple[Callable[[Table], FloatArray], Table]]) -> Iterator[FloatArray]:
    """What each call gives for its table, in order; the next runs in a thread while one is read."""
    running: Future[FloatArray] | None = None
    with ThreadPoolExecutor(1) as pool:
        for call, table in calls:
            before, running = running, pool.submit(call, table)
            if before is not None:
                yield before.result()
        if running is not None:
            yield running.result()


def _point(metric: Metric, table: Table, columns: FloatArray, seed: int) -> Point:
    value = metric.exact(table) if metric.exact is not None else metric.sum_of(columns)
    if math.isnan(value):
        return Point(value, columns.sum(axis=0))
    return Point(value, columns.sum(axis=0), metric.count(table), metric.extras(table, seed))


def _in_order(entries: Entries, metrics: Sequence[Metric]) -> Entries:
    """The entries as the metrics stand; those that are none of them behind."""
    names = [metric.name for metric in metrics if metric.name in entries]
    return {name: entries[name] for name in dict.fromkeys([*names, *entries])}


def _absent(lacking: int, n: int) -> dict[str, Any]:
    some = "" if lacking == n else f": {lacking} of {n} predictions have none"
    return {"value": None, "note": f"needs scores{some}"}


def _entry(
    metric: Metric, point: Point, bundle: Bundle, replicates: FloatArray | None, sampling: Sampling
) -> dict[str, Any]:
    if math.isnan(point.value):
        return {"value": None, "note": f"no {metric.about}"}
    interval = _interval(metric, point, bundle, replicates, sampling)
    numbers = {"value": point.value, "low": interval["low"], "high": interval["high"], "n": point.n}
    return numbers | {"unit": metric.unit, "method": interval["method"], **point.extras}


def _interval(
    metric: Metric, point: Point, bundle: Bundle, replicates: FloatArray | None, sampling: Sampling
) -> dict[str, Any]:
    """Wilson's for a share without groups, else the percentiles of the replicates; none from one unit alone."""
    if replicates is None:
        return {"low": None, "high": None, "method": f"no interval: {metric.no_interval}"}
    if metric.share and sampling.groups is None:
        hits, n = point.sums
        low, high = wilson(float(hits), float(n))
        return {"low": low, "high": high, "method": "Wilson 95%"}
    if metric.share and bundle.filled > 1 and np.nanmin(replicates) == np.nanmax(replicates):
        # All right or all wrong in every replicate too: 0 of 12 is no certainty. Whole groups are the trials.
        low, high = wilson(float(np.nanmax(replicates)) * bundle.filled, bundle.filled)
        return {"low": low, "high": high, "method": f"Wilson 95%, {bundle.filled} groups: all right or all wrong"}
    if bundle.filled < 2:
        unit = "example" if sampling.groups is None else "group"
        return {**_bounds(bundle, replicates), "method": f"no interval: all in one {unit}"}
    # None of 6 entities found is no certainty that none ever is; Wilson's does not hold for entities of one sentence.
    if metric.kinds == ("tags",) and np.nanmin(replicates) == np.nanmax(replicates):
        return {"low": None, "high": None, "method": "no interval: all right or all wrong, it cannot vary"}
    return {**_bounds(bundle, replicates), "method": sampling.method}


def _bounds(bundle: Bundle, replicates: FloatArray) -> dict[str, float | None]:
    low, high = (None, None) if bundle.filled < 2 else percentiles(replicates)
    return {"low": low, "high": high}
