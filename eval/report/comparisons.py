"""Comparisons that no single scores file holds: lift over the best baseline, a slice against the rest, domain drops.

Lifts and slices are differences on one test set: one set of bootstrap draws serves both sides of all of them. Two test
sets share no texts: their bootstraps are independent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heldout.eval.differences import Side, differences, discordant
from heldout.eval.metrics import find
from heldout.eval.report.fresh import Say
from heldout.eval.report.inputs import DataSet, Inputs, System, quiet
from heldout.eval.report.tables import metric_of
from heldout.eval.report.wording import Bounded, bounded
from heldout.eval.run_data import DEV
from heldout.eval.slices import cut
from heldout.eval.statistics import FEW, REPLICATES, Sampling, group_codes

#: Two sides of one difference.
Pair = tuple[Side, Side]
#: The part that the others of a slice are set against, where it has another name than rest.
RESTS = {"pair_negation": "neither"}


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
    drops: shifted set → what the main system loses there against the first. methods: how the intervals of a test set's
    differences, and of the drops to it, were made.
    """

    best: System | None
    reason: str
    others: tuple[System, ...] = ()
    lifts: Mapping[tuple[str, str, str], Lift] = field(default_factory=dict)
    gaps: Mapping[tuple[str, str], Bounded] = field(default_factory=dict)
    drops: Mapping[str, Bounded] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)


def compare(inputs: Inputs, replicates: int = REPLICATES, say: Say = quiet) -> Comparisons:
    """Every comparison of the report, from gold and predictions; ``say`` is told of each set first."""
    best, reason = best_baseline(inputs)
    others = tuple(
        s for s in inputs.systems[1:] if not s.baseline and not (s.seed_of and s.seed_of == inputs.main.seed_of)
    )
    lifts: dict[tuple[str, str, str], Lift] = {}
    gaps: dict[tuple[str, str], Bounded] = {}
    methods = {}
    for data in inputs.tests:
        say(f"comparing on {data.name}")
        sampling = Sampling(len(data.examples), group_codes(data.examples), replicates)
        methods[data.name] = sampling.method
        lift_pairs = {
            (other.name, data.name, key): pair
            for other in [*([best] if best else []), *others]
            for key, pair in _against(inputs, data, other).items()
        }
        gap_pairs = _against_rest(inputs, data) if data is inputs.tests[0] else {}
        found = _differences(inputs, data, lift_pairs, gap_pairs, sampling)
        lifts |= {key: _lift(found[key], pair) for key, pair in lift_pairs.items()}
        gaps |= {key: _told(found[key]) for key in gap_pairs}
    return Comparisons(best, reason, others, lifts, gaps, _drops(inputs), methods)


def _differences(
    inputs: Inputs, data: DataSet, lifts: Mapping[Any, Pair], gaps: Mapping[Any, Pair], sampling: Sampling
) -> dict[Any, dict[str, Any]]:
    """The differences of all pairs, each in the metric that is read of its slice."""
    by_metric: dict[str, dict[Any, Pair]] = {inputs.metric: dict(gaps)}
    scores = inputs.main.scores.get(data.name, {})
    for key, pair in lifts.items():
        by_metric.setdefault(metric_of(inputs, scores, key[2]), {})[key] = pair
    return {
        key: entry
        for metric, pairs in by_metric.items()
        for key, entry in differences(pairs, find(metric), sampling).items()
    }


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


def _sides(inputs: Inputs, data: DataSet, system: System) -> dict[str, Side]:
    """A system on the whole set ("") and on each slice that all systems share; empty where it has no such metric."""
    predictions = system.predictions.get(data.name)
    if predictions is None:
        return {}
    table = inputs.table(system, data)
    if find(inputs.metric).lacking(table):
        return {}
    pairs = list(zip(data.examples, predictions, strict=True))
    parts = cut(inputs.card, pairs, {"": table})[""]
    return {key: (part.table, part.rows) for key, part in parts.items() if not part.of_system}


def _against(inputs: Inputs, data: DataSet, other: System) -> dict[str, Pair]:
    """The main system and another on a set and its slices."""
    sides = [_sides(inputs, data, system) for system in (inputs.main, other)]
    return {key: (side, sides[1][key]) for key, side in sides[0].items() if key in sides[1]}


def _against_rest(inputs: Inputs, data: DataSet) -> dict[tuple[str, str], Pair]:
    """Where a slice has a part that is the rest: each other part of it and the rest, both of the main system."""
    sides = _sides(inputs, data, inputs.main)
    names = {key: key.split("=")[0] for key in sides}
    rests = {key: f"{name}={RESTS.get(name, 'rest')}" for key, name in names.items()}
    return {(k, rest): (sides[k], sides[rest]) for k, rest in rests.items() if k != rest and rest in sides}


def _lift(entry: Mapping[str, Any], pair: Pair) -> Lift:
    first, second = (table.take(rows) for table, rows in pair)
    return Lift(bounded(entry), *discordant(first, second))


def _told(entry: Any) -> Bounded:
    """A difference without its bounds where a side is of too few texts: their bootstrap is too sure of itself."""
    value, low, high = bounded(entry)
    return (value, None, None) if min((entry or {}).get("n", [0])) < FEW else (value, low, high)


def _drops(inputs: Inputs) -> dict[str, Bounded]:
    """What the main system loses from the first test set to each other one, as its scores files hold it."""
    found = {}
    for data in inputs.tests[1:]:
        drop = inputs.main.scores.get(data.name, {}).get("drop") or {}
        if drop.get("from") == inputs.tests[0].name:
            found[data.name] = _told(drop.get("metrics", {}).get(inputs.metric))
    return found
