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
    variants: Mapping[str, Mapping[str, Part]], metrics: Sequence[Metric], sampling: Sampling
) -> dict[str, dict[str, Entries]]:
    """The entry of every metric, by variant and slice; all intervals come from one resampling of the whole set.

    ``variants`` holds the same parts of each variant, the whole among them. Where a variant moves a metric, its entry
    has the "change" from the predictions as given, with its interval.
    """
    parts, plain_table = variants[PLAIN], variants[PLAIN][WHOLE].table
    lacking = {metric.name: metric.lacking(plain_table) for metric in metrics}
    able = [metric for metric in metrics if not lacking[metric.name]]
    order = [(variant, metric) for variant in variants for metric in able]
    tables = {(v, key): part.table.take(part.rows) for v, cut in variants.items() for key, part in cut.items()}
    bundles = {
        key: Bundle(part.rows, [Statistic(m.columns(tables[v, key]), m.value) for v, m in order], sampling)
        for key, part in parts.items()
    }
    absent = {name: _absent(n, len(plain_table)) for name, n in lacking.items()}
    entries = {variant: {key: dict(absent) for key in parts} for variant in variants}
    for (key, bundle), replicates in zip(bundles.items(), bootstrap(list(bundles.values()), sampling), strict=True):
        drawn = dict(zip(((variant, metric.name) for variant, metric in order), replicates, strict=True))
        for variant, metric in order:
            mine, plain = drawn[variant, metric.name], drawn[PLAIN, metric.name]
            entry = _entry(metric, tables[variant, key], bundle, mine, sampling)
            before = entries[PLAIN][key][metric.name]["value"] if variant != PLAIN else entry["value"]
            if None not in (entry["value"], before) and not np.array_equal(mine, plain, equal_nan=True):
                entry["change"] = {"value": entry["value"] - before, **_bounds(bundle, mine - plain)}
            entries[variant][key][metric.name] = entry
    return entries


def _absent(lacking: int, n: int) -> dict[str, Any]:
    some = "" if lacking == n else f": {lacking} of {n} predictions have none"
    return {"value": None, "note": f"needs scores{some}"}


def _entry(metric: Metric, table: Table, bundle: Bundle, replicates: FloatArray, sampling: Sampling) -> dict[str, Any]:
    value = metric.of(table)
    if math.isnan(value):
        return {"value": None, "note": f"no {metric.about}"}
    interval = _interval(metric, table, bundle, replicates, sampling)
    numbers = {"value": value, "low": interval["low"], "high": interval["high"], "n": metric.count(table)}
    return numbers | {"unit": metric.unit, "method": interval["method"], **metric.extras(table, sampling.seed)}


def _interval(
    metric: Metric, table: Table, bundle: Bundle, replicates: FloatArray, sampling: Sampling
) -> dict[str, Any]:
    """Wilson's for a share without groups, else the percentiles of the replicates; none from one unit alone."""
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
