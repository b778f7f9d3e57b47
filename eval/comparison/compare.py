"""Systems set against a reference on the same examples: paired differences with intervals, tests, churn.

A difference is a system's value − the reference's, on each data set and each slice that both share:

- its 95% interval by the paired bootstrap, the same draws for both sides, groups whole; of several seeds also over
  seeds (seeds.py);
- p by randomisation (randomise.py), or, where a side has several seeds or the metric cannot be swapped, from the
  bootstrap's replicates: twice the smaller share of them on either side of 0, (1 + k)/(R + 1);
- p_holm: that p adjusted over all slices of that metric and pair, over all data sets (Holm 1979);
- could_show: the smallest difference that so many examples could have shown (power.py);
- mcnemar: the exact test on the answers that only one of two single runs has right.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from heldout.eval.comparison import power, seeds
from heldout.eval.comparison.churn import churn, right
from heldout.eval.comparison.field import Field, prepare
from heldout.eval.comparison.inputs import Contest
from heldout.eval.comparison.randomise import Duel, randomisation, swappable
from heldout.eval.metrics import Metric
from heldout.eval.slices import WHOLE
from heldout.eval.statistics import FEW, REPLICATES, Sampling, holm, mcnemar, percentiles
from heldout.eval.table import BINS, FloatArray, Table

#: A p below it is called a difference that was shown.
ALPHA = 0.05
#: Examples of churn that are told of each way.
EXAMPLES = 20
#: The tests by their name in an entry.
RANDOMISATION, BOOTSTRAP = "randomisation", "bootstrap"

Entry = dict[str, Any]


def compare(
    contest: Contest,
    *,
    metrics: Sequence[str] = (),
    replicates: int = REPLICATES,
    seed: int = 0,
    bins: int = BINS,
    examples: int = EXAMPLES,
    say: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Every system against the first, ready for JSON.

    {"card", "version", "reference", "systems": {NAME: {"seeds"}}, "replicates", "seed", "metric", "notes", "tests":
    {DATA: {"n", "gold_hash", "groups", "notes", "pairs": {NAME: {"metrics": {METRIC: entry}, "slices": {SLICE: {"n",
    "metrics"}}, "mcnemar", "churn"}}}}}; an entry has "reference" and "other" (values), their difference "value" with
    "low", "high", "n", "unit", "method", "p", "test", "could_show", of slices "p_holm", of seeds "sd" and "by_seed".

    metrics: those of the card by default, else these, the first the main one. ``say`` is told of each set first.
    """
    tests: dict[str, Any] = {}
    for name in contest.golds:
        say(name)
        tests[name] = _test(contest, name, metrics, Sampling(2, None, replicates, seed), bins, examples)
    for other in contest.systems[1:]:
        _adjust([test["pairs"][other.name] for test in tests.values() if other.name in test["pairs"]])
    return {
        "card": contest.card.name,
        "version": contest.card.version,
        "kind": contest.card.kind,
        "metric": metrics[0] if metrics else contest.card.metrics[0],
        "reference": contest.systems[0].name,
        "systems": {system.name: {"seeds": list(system.seeds)} for system in contest.systems},
        "replicates": replicates,
        "seed": seed,
        "notes": list(contest.notes),
        "tests": tests,
    }


def _test(
    contest: Contest, name: str, metrics: Sequence[str], settings: Sampling, bins: int, examples: int
) -> dict[str, Any]:
    gold = contest.golds[name]
    field, notes = prepare(contest, name, metrics, settings, bins)
    entries = _entries(field)
    pairs = {}
    for place, other in enumerate(field.systems[1:], 1):
        blocks = {key: _block(field, entries, place, key) for key in field.keys}
        whole = blocks.pop(WHOLE)
        pairs[other.name] = {key: value for key, value in whole.items() if key != "n"} | {"slices": blocks}
        if contest.card.kind != "lm":
            sides = (field.systems[0], other)
            tables = (field.tables[0, WHOLE], field.tables[place, WHOLE])
            pairs[other.name]["churn"] = churn(gold.examples, name, sides, tables, examples)
    return {
        "n": len(gold.examples),
        "gold_hash": gold.hash,
        "groups": None if field.sampling.groups is None else field.sampling.units,
        "notes": notes,
        "pairs": pairs,
    }


def _entries(field: Field) -> dict[tuple[int, str, str], Entry]:
    """The entry of every system but the first on every slice in every metric, by (system, slice, metric)."""
    drawn, filled = field.drawn()
    tests = _tests(field)
    entries: dict[tuple[int, str, str], Entry] = {}
    for other in range(1, len(field.systems)):
        for key in field.keys:
            tables = [field.tables[0, key], field.tables[other, key]]
            for metric in field.metrics:
                sides = [drawn[place, key, metric.name] for place in (0, other)]
                entry, gaps = _entry(field, metric, tables, sides, filled[key], (0, other))
                entries[other, key, metric.name] = entry | _test_of(gaps, tests.get((other, key, metric.name)))
    return entries


def _entry(
    field: Field,
    metric: Metric,
    tables: Sequence[Sequence[Table]],
    drawn: Sequence[Sequence[FloatArray]],
    filled: int,
    places: tuple[int, int],
) -> tuple[Entry, FloatArray | None]:
    """A metric's difference with its interval, and its replicates (R,); neither where a side of few does not vary."""
    counts = [metric.count(side[0]) for side in tables]
    if not all(counts):
        return {"value": None, "low": None, "high": None, "n": counts[0], "method": f"no {metric.about}"}, None
    values = [[metric.of(table) for table in side] for side in tables]
    means = [float(np.mean(side)) for side in values]
    # Means of equal shares may differ in their last bit.
    gap = 0.0 if math.isclose(*means, rel_tol=0, abs_tol=1e-12) else means[1] - means[0]
    entry: Entry = {"reference": means[0], "other": means[1], "value": gap}
    for which, side, place in zip(("reference", "other"), values, places, strict=True):
        if field.systems[place].seeds:
            entry[f"{which}_seeds"] = seeds.by_seed(side, field.systems[place].seeds)
    if any(field.systems[place].seeds for place in places):
        entry |= {"p_of_seeds": seeds.permuted(values[0], values[1], field.sampling.seed)}
        entry |= {"least_p_of_seeds": seeds.fewest_p(len(values[0]), len(values[1]))}
    entry |= {"unit": metric.unit, "n": counts[0]}
    over = [seeds.over_seeds(side, field.sampling, place) for side, place in zip(drawn, places, strict=True)]
    gaps = over[1] - over[0]
    if filled < FEW and any(np.isclose(np.nanmin(side), np.nanmax(side)) for side in over):
        return entry | {"low": None, "high": None, "method": "no interval: one side is too small to vary"}, None
    low, high = percentiles(gaps)
    entry |= {"low": low, "high": high, "method": f"{field.sampling.method}, {_paired(field, places)}"}
    return entry | {"could_show": _could_show(field, metric, tables, gaps, counts[0])}, gaps


def _paired(field: Field, places: tuple[int, int]) -> str:
    many = [len(field.systems[place].seeds) for place in places if field.systems[place].seeds]
    drawn = f"; seeds drawn too ({' and '.join(map(str, many))})" if many else ""
    return f"the same draws for both sides{drawn}"


def _could_show(
    field: Field, metric: Metric, tables: Sequence[Sequence[Table]], gaps: FloatArray, n: int
) -> dict[str, Any]:
    """By discordance for plain shares of independent examples in two single runs, else by the bootstrap's spread."""
    single = all(len(side) == 1 for side in tables)
    if not (metric.share and single and field.sampling.groups is None):
        return power.from_spread(gaps)
    first, second = (metric.columns(side[0]) for side in tables)
    if not np.array_equal(first[:, 1], second[:, 1]):
        # Of the surest 80% each system has its own.
        return power.from_spread(gaps)
    gap = second[:, 0] - first[:, 0]
    return power.from_discordance(int((gap < 0).sum()), int((gap > 0).sum()), n)


def _tests(field: Field) -> dict[tuple[int, str, str], Entry]:
    """The randomisation p of the pairs of single runs, by (system, slice, metric); seeds are left to the bootstrap."""
    found: dict[tuple[int, str, str], Entry] = {}
    for other, system in enumerate(field.systems[1:], 1):
        if system.seeds or field.systems[0].seeds:
            continue
        # Entity slices restrict the tables of both sides, each to its own entities.
        sides = {key: [field.parts[s, 0][key] for s in (0, other)] for key in field.keys}
        metrics = [m for m in field.metrics if swappable(m, *(part.table for part in sides[WHOLE]))]
        duels = [Duel(a.table, b.table, a.rows, metrics) for a, b in sides.values()]
        for key, ps in zip(field.keys, randomisation(duels, field.sampling), strict=True):
            for metric, p in zip(metrics, ps, strict=True):
                found[other, key, metric.name] = {"p": p, "test": RANDOMISATION}
    return found


def _test_of(gaps: FloatArray | None, randomised: Entry | None) -> Entry:
    """The randomisation test where there is one, else the bootstrap's p; nothing where there is no interval."""
    if gaps is None:
        return {}
    return randomised or {"p": both_sides(gaps), "test": BOOTSTRAP}


def both_sides(gaps: FloatArray) -> float:
    """p of the replicates of a difference (R,): twice the smaller share of them on either side of 0.

    Davison and Hinkley (1997), section 4.4.1, as the interval that just touches 0; NaN are left out.

    >>> both_sides(np.array([0.1, 0.2, 0.3, -0.1] * 25))
    0.5148514851485149
    """
    known = gaps[np.isfinite(gaps)]
    fewer = min(int((known <= 0).sum()), int((known >= 0).sum()))
    return min(1.0, 2 * (1 + fewer) / (len(known) + 1))


def _block(field: Field, entries: Mapping[tuple[int, str, str], Entry], other: int, key: str) -> dict[str, Any]:
    """A slice, or the whole set, of one pair."""
    part = field.parts[0, 0][key]
    block: dict[str, Any] = {"n": part.n} | ({"about": "gold entities"} if part.entities else {})
    block |= {"read": part.read} if part.read else {}
    block["metrics"] = {metric.name: entries[other, key, metric.name] for metric in field.metrics}
    single = not (field.systems[0].seeds or field.systems[other].seeds)
    # What is right of a sentence when all but one type is left out is no answer that anybody gave.
    if single and not part.entities and "lm_nll" not in block["metrics"]:
        first, second = (right(field.tables[place, key]) for place in (0, other))
        only = int((first > second).sum()), int((second > first).sum())
        block["mcnemar"] = {"only_reference": only[0], "only_other": only[1], "p": mcnemar(*only)}
    return block


def _adjust(pairs: Sequence[dict[str, Any]]) -> None:
    """Write p_holm into every slice of one pair: over the slices of all data sets, metric by metric, McNemar's too."""
    slices = [block for pair in pairs for block in pair["slices"].values()]
    for family in _families(slices):
        for entry, p in zip(family, holm([entry["p"] for entry in family]), strict=True):
            entry["p_holm"] = p


def _families(slices: Sequence[Mapping[str, Any]]) -> Iterator[list[Entry]]:
    for name in dict.fromkeys(name for block in slices for name in block["metrics"]):
        of_metric = (block["metrics"].get(name, {}) for block in slices)
        yield [entry for entry in of_metric if "p" in entry]
    yield [block["mcnemar"] for block in slices if "mcnemar" in block]
