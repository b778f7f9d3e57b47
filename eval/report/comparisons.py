"""Comparisons that no single scores file holds: lift over the best baseline, a slice against the rest, domain drops.

Two systems on the same texts are paired: one set of bootstrap draws serves both. Two test sets share no texts: their
bootstraps are independent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from heldout.eval.differences import domain_drop
from heldout.eval.metrics import Metric, find
from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.wording import Bounded, bounded
from heldout.eval.score import DEV
from heldout.eval.slices import chosen, parts
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
from heldout.eval.table import FloatArray, IntArray, Table, tabulate


@dataclass(frozen=True)
class Lift:
    """A paired difference, first minus second, and how many texts only one of the two got right, with McNemar's p."""

    difference: Bounded
    only_first: int = 0
    only_second: int = 0
    p: float | None = None


@dataclass(frozen=True)
class Comparisons:
    """What the verdict and the lift picture need.

    lifts: main minus (system, data, slice or ""). gaps: (slice, its rest) → inside minus rest on the first test set.
    drops: shifted set → what the main system loses there against the first.
    """

    best: System | None
    reason: str
    others: tuple[System, ...] = ()
    lifts: Mapping[tuple[str, str, str], Lift] = field(default_factory=dict)
    gaps: Mapping[tuple[str, str], Bounded] = field(default_factory=dict)
    drops: Mapping[str, Bounded] = field(default_factory=dict)


def compare(inputs: Inputs, replicates: int = REPLICATES) -> Comparisons:
    """Every comparison of the report, from gold and predictions."""
    best, reason = best_baseline(inputs)
    others = tuple(
        s for s in inputs.systems[1:] if not s.baseline and not (s.seed_of and s.seed_of == inputs.main.seed_of)
    )
    lifts: dict[tuple[str, str, str], Lift] = {}
    for data in inputs.tests:
        for other in [*([best] if best else []), *others]:
            if data.name in inputs.main.predictions and data.name in other.predictions:
                found = _lifts(inputs, data, other, replicates)
                lifts |= {(other.name, data.name, key): lift for key, lift in found.items()}
    return Comparisons(best, reason, others, lifts, _gaps(inputs, replicates), _drops(inputs))


def best_baseline(inputs: Inputs) -> tuple[System | None, str]:
    """The baseline that is best on dev by the main metric (the test sets choose nothing), or why none can be named."""
    if inputs.main.baseline:
        return None, "this is a baseline itself"
    if not inputs.baselines:
        return None, "no baseline was run beside it (heldout baseline makes one)"
    scored = [(s, bounded(s.scores.get(DEV, {}).get("metrics", {}).get(inputs.metric))[0]) for s in inputs.baselines]
    known = [(s, value) for s, value in scored if value is not None]
    if not known:
        return None, "no baseline has predictions on dev, where the best one is chosen"
    sign = 1 if find(inputs.metric).higher_is_better else -1
    return max(known, key=lambda entry: sign * entry[1])[0], ""


def _table(inputs: Inputs, data: DataSet, system: System) -> Table:
    return tabulate(inputs.card, data.examples, system.predictions[data.name])


def _rows(inputs: Inputs, data: DataSet) -> dict[str, IntArray]:
    """The rows of the whole set ("") and of each slice that all systems share."""
    pairs = list(zip(data.examples, inputs.main.predictions[data.name], strict=True))
    rows: dict[str, IntArray] = {"": np.arange(len(pairs))}
    for found in (s for s in chosen(inputs.card) if not s.of_system):
        rows |= {key: np.array(where) for key, where in parts(found, pairs).items()}
    return rows


def _lifts(inputs: Inputs, data: DataSet, other: System, replicates: int) -> dict[str, Lift]:
    """The main system against another on a set and its slices, all from one resampling, both on the same draws."""
    metric = find(inputs.metric)
    tables = [_table(inputs, data, system) for system in (inputs.main, other)]
    if metric.needs_scores and any(table.scores is None for table in tables):
        return {}
    rows = _rows(inputs, data)
    sampling = Sampling(len(data.examples), group_codes(data.examples), replicates)
    cut = {key: [table.take(where) for table in tables] for key, where in rows.items()}
    bundles = [
        Bundle(rows[key], [Statistic(metric.columns(table), metric.value) for table in pair], sampling)
        for key, pair in cut.items()
    ]
    draws = bootstrap(bundles, sampling)
    return {
        key: _lift(metric, pair[0], pair[1], None if len(bundle.units) < 2 else drawn[0] - drawn[1])
        for (key, pair), bundle, drawn in zip(cut.items(), bundles, draws, strict=True)
    }


def _lift(metric: Metric, first: Table, second: Table, drawn: FloatArray | None) -> Lift:
    gap = first.correct - second.correct
    only_first, only_second = int((gap > 0).sum()), int((gap < 0).sum())
    # One example (or one group) varies with nothing: no interval, as in the scores.
    low, high = (None, None) if drawn is None else percentiles(drawn)
    value = metric.of(first) - metric.of(second)
    return Lift((value, low, high), only_first, only_second, mcnemar(only_first, only_second))


def _gaps(inputs: Inputs, replicates: int) -> dict[tuple[str, str], Bounded]:
    """Where a slice has a part named rest: each other part against it on the first test set, as unpaired samples."""
    data = inputs.tests[0]
    predictions = inputs.main.predictions.get(data.name)
    if predictions is None:
        return {}
    found = {}
    rows = _rows(inputs, data)
    for slice_ in chosen(inputs.card):
        rest = f"{slice_.name}=rest"
        for key in (k for k in rows if k.startswith(f"{slice_.name}=") and k != rest and rest in rows):
            inside, outside = (
                ([data.examples[i] for i in where], [predictions[i] for i in where])
                for where in (rows[key], rows[rest])
            )
            gap = domain_drop(inputs.card, inside, outside, replicates=replicates).get(inputs.metric)
            found[key, rest] = bounded(gap)
    return found


def _drops(inputs: Inputs) -> dict[str, Bounded]:
    """What the main system loses from the first test set to each other one, as its scores files hold it."""
    found = {}
    for data in inputs.tests[1:]:
        drop = inputs.main.scores.get(data.name, {}).get("drop") or {}
        if drop.get("from") == inputs.tests[0].name:
            found[data.name] = bounded(drop.get("metrics", {}).get(inputs.metric))
    return found
