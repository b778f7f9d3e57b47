"""From tables to entries: every metric on every slice under every variant, with intervals from one resampling."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout.eval.metrics import Metric
from heldout.eval.slices import WHOLE, Part
from heldout.eval.statistics import Bundle, Sampling, Statistic, bootstrap, percentiles, wilson
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
    tables = {(v, key): part.table.take(part.rows) for v, cut in variants.items() for key, part in cut.items()}
    there = {key: [(v, m) for v, m in order if key == WHOLE or not m.whole_only] for key in parts}
    drawn = _drawn(parts, tables, there, sampling)
    absent = {name: _absent(n, len(plain_table)) for name, n in lacking.items() if n}
    entries = {v: {key: {} if v in (others or {}) else dict(absent) for key in parts} for v in variants}
    for key, (bundle, replicates) in drawn.items():
        for variant, metric in there[key]:
            mine, plain = replicates.get((variant, metric.name)), replicates.get((PLAIN, metric.name))
            entry = _entry(metric, tables[variant, key], bundle, mine, sampling)
            before = entries[PLAIN][key].get(metric.name, entry)["value"]
            compared = variant != PLAIN and None not in (entry["value"], before)
            if compared and mine is not None and plain is not None and not np.array_equal(mine, plain, equal_nan=True):
                entry["change"] = {"value": entry["value"] - before, **_bounds(bundle, mine - plain)}
            entries[variant][key][metric.name] = entry
    return {v: {key: _in_order(found, metrics) for key, found in cut.items()} for v, cut in entries.items()}


Asked = Sequence[tuple[str, Metric]]


def _drawn(
    parts: Mapping[str, Part], tables: Mapping[tuple[str, str], Table], there: Mapping[str, Asked], sampling: Sampling
) -> dict[str, tuple[Bundle, dict[tuple[str, str], FloatArray]]]:
    """Of each part its bundle and the replicates by variant and metric, of the metrics that are resampled."""
    asked = {key: [(v, m) for v, m in found if not m.no_interval] for key, found in there.items()}
    bundles = {
        key: Bundle(part.rows, (Statistic(m.columns(tables[v, key]), m.value) for v, m in asked[key]), sampling)
        for key, part in parts.items()
    }
    replicates = bootstrap(list(bundles.values()), sampling)
    return {
        key: (bundle, {(v, m.name): values for (v, m), values in zip(asked[key], mine, strict=True)})
        for (key, bundle), mine in zip(bundles.items(), replicates, strict=True)
    }


def _in_order(entries: Entries, metrics: Sequence[Metric]) -> Entries:
    """The entries as the metrics stand; those that are none of them behind."""
    names = [metric.name for metric in metrics if metric.name in entries]
    return {name: entries[name] for name in dict.fromkeys([*names, *entries])}


def _absent(lacking: int, n: int) -> dict[str, Any]:
    some = "" if lacking == n else f": {lacking} of {n} predictions have none"
    return {"value": None, "note": f"needs scores{some}"}


def _entry(
    metric: Metric, table: Table, bundle: Bundle, replicates: FloatArray | None, sampling: Sampling
) -> dict[str, Any]:
    value = metric.of(table)
    if math.isnan(value):
        return {"value": None, "note": f"no {metric.about}"}
    interval = _interval(metric, table, bundle, replicates, sampling)
    numbers = {"value": value, "low": interval["low"], "high": interval["high"], "n": metric.count(table)}
    return numbers | {"unit": metric.unit, "method": interval["method"], **metric.extras(table, sampling.seed)}


def _interval(
    metric: Metric, table: Table, bundle: Bundle, replicates: FloatArray | None, sampling: Sampling
) -> dict[str, Any]:
    """Wilson's for a share without groups, else the percentiles of the replicates; none from one unit alone."""
    if replicates is None:
        return {"low": None, "high": None, "method": f"no interval: {metric.no_interval}"}
    if metric.share and sampling.groups is None:
        hits, n = metric.columns(table).sum(axis=0)
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
