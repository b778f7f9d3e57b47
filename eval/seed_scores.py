"""The scores of a folder of seeds: every run scored as it is, then mean and sd over them, with intervals for the mean.

Nothing is written but each run's own scores: the means are made from them whenever they are asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from heldout.eval.columns import aligned
from heldout.eval.comparison.field import Field, prepare
from heldout.eval.comparison.inputs import Contest, read_seeds
from heldout.eval.comparison.seeds import members_of, over_seeds, spread
from heldout.eval.run_data import DEV
from heldout.eval.run_scores import score_run
from heldout.eval.slices import WHOLE
from heldout.eval.statistics import REPLICATES, Sampling, percentiles
from heldout.eval.table import BINS, FloatArray
from heldout.eval.text import heading
from heldout.runs import holding


def score_seeds(
    folder: Path,
    data: str | None = None,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    bins: int = BINS,
    costs: Sequence[str] = (),
    alpha: float | None = None,
    say: Callable[[str], None] = lambda name: None,
) -> dict[str, dict[str, Any]]:
    """Score every run of a folder of seeds and sum them up: by data set, as scores.json has one, with means as values.

    Each entry has "value" (the mean over seeds), "sd", "low", "high", "n", "unit", "method", "by_seed"; variants have
    value, sd and by_seed. Test sets alone, unless ``data`` names another. ``say`` is told what is being scored.
    """
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for member in members_of(folder):
        with holding(member):
            rows[member.name] = score_run(
                member,
                data,
                replicates=replicates,
                seed=seed,
                bins=bins,
                costs=costs,
                alpha=alpha,
                say=partial(_tell, say, member.name),
            )
    contest = read_seeds(folder, data)
    for name in sorted({name for found in rows.values() for name in found} - {*contest.golds, DEV}):
        say(f"{name} has no gold, or not every seed answers it: no means of it; see scores/{name}.json of each seed")
    return {name: _summed_up(contest, name, rows, Sampling(2, None, replicates, seed), bins) for name in contest.golds}


def _tell(say: Callable[[str], None], member: str, name: str) -> None:
    say(f"{member} on {name}")


def _summed_up(
    contest: Contest, name: str, rows: Mapping[str, Mapping[str, Mapping[str, Any]]], settings: Sampling, bins: int
) -> dict[str, Any]:
    field, notes = prepare(contest, name, (), settings, bins)
    gold = contest.golds[name]
    blocks = _blocks(field)
    scored = {member: found[name] for member, found in rows.items()}
    return {
        "card": contest.card.name,
        "version": contest.card.version,
        "data": name,
        "n": len(gold.examples),
        "gold_hash": gold.hash,
        "seeds": list(field.systems[0].seeds),
        "replicates": settings.replicates,
        "seed": settings.seed,
        **blocks.pop(WHOLE),
        "slices": blocks,
        "notes": notes,
        "variants": _variants(scored),
    }


def _blocks(field: Field) -> dict[str, dict[str, Any]]:
    """By slice its n and the entry of every metric."""
    drawn, filled = field.drawn()
    blocks: dict[str, dict[str, Any]] = {}
    for key in field.keys:
        part, tables = field.parts[0, 0][key], field.tables[0, key]
        metrics = {}
        for metric in field.metrics:
            n = metric.count(tables[0])
            values = [metric.of(table) for table in tables] if n else []
            entry = _entry(values, field.systems[0].seeds) | ({"n": n, "unit": metric.unit} if n else {})
            entry |= _interval_of(drawn[0, key, metric.name], filled[key], field) if n else {}
            metrics[metric.name] = entry if n else entry | {"note": f"no {metric.about}"}
        blocks[key] = ({"n": part.n} if key != WHOLE else {}) | {"metrics": metrics}
        blocks[key] |= {"about": "gold entities"} if part.entities else {}
        blocks[key] |= {"read": part.read} if part.read else {}
    return blocks


def _interval_of(drawn: Sequence[FloatArray], filled: int, field: Field) -> dict[str, Any]:
    over = over_seeds(drawn, field.sampling)
    if filled < 2 or np.isclose(np.nanmin(over), np.nanmax(over)):
        return {"method": "no interval: it does not vary"}
    low, high = percentiles(over)
    return {"low": low, "high": high, "method": f"{field.sampling.method}; seeds drawn too"}


def _entry(values: Sequence[float], seeds: Sequence[str]) -> dict[str, Any]:
    mean = float(np.mean(values)) if values else None
    by_seed = dict(zip(seeds, values, strict=True)) if values else {}
    return {"value": mean, "sd": spread(values), "low": None, "high": None, "by_seed": by_seed}


def _variants(scored: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Means of what every seed's own scores say after its own fits, of the whole set."""
    first, *others = [row["variants"] for row in scored.values()]
    shared = [name for name in first if all(name in other for other in others)]
    found: dict[str, dict[str, Any]] = {}
    for name in shared:
        blocks = {member: row["variants"][name] for member, row in scored.items()}
        metrics: dict[str, Any] = {}
        for metric in next(iter(blocks.values()))["metrics"]:
            values = [block["metrics"].get(metric, {}).get("value") for block in blocks.values()]
            if None not in values:
                entry = _entry(values, list(blocks))
                metrics[metric] = {key: entry[key] for key in ("value", "sd", "by_seed")}
        found[name] = {"heading": heading(name, next(iter(blocks.values()))), "metrics": metrics}
    return found


def render(row: Mapping[str, Any]) -> str:
    """One data set of several seeds as text: every metric with mean and sd, the main one by slice."""
    head = f"{row['data']}: {row['n']} examples of {row['card']}, version {row['version']}; {len(row['seeds'])} seeds"
    variants = row["variants"]
    rows = [["", "mean", "sd", "95% interval", *(one["heading"] for one in variants.values()), *row["seeds"]]]
    for name, entry in row["metrics"].items():
        after = [_mean(one["metrics"].get(name)) for one in variants.values()]
        each = [_number(entry["by_seed"].get(seed)) for seed in row["seeds"]]
        rows.append([name, _number(entry["value"]), _number(entry["sd"]), _interval(entry), *after, *each])
    main = next(iter(row["metrics"]))
    slices = [["slice", "n", main, "sd", "95% interval"]]
    for key, part in row["slices"].items():
        read = part["read"] if part.get("read") in part["metrics"] else main
        entry = part["metrics"][read]
        name = key if read == main else f"{key} ({read})"
        slices.append([name, str(part["n"]), _number(entry["value"]), _number(entry["sd"]), _interval(entry)])
    blocks = [[head, *row["notes"]], aligned(rows), aligned(slices) if len(slices) > 1 else [], _method(row)]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines)


def _method(row: Mapping[str, Any]) -> list[str]:
    n = len(row["seeds"])
    return [
        "Intervals hold the mean over seeds; examples and seeds are drawn, groups whole "
        f"({row['replicates']} replicates, seed {row['seed']}).",
        f"From {n} seeds an sd is known only roughly: the true one may be {_sd_factor(n)} times as large.",
    ]


def _sd_factor(n: int) -> str:
    """How many times the sd of n normal values the true one may be, at the 97.5% end of its interval."""
    # √((n − 1) / χ² at 2.5%): 31.9 for two, 6.3 for three, 3.7 for four.
    known = {2: "32", 3: "6", 4: "4", 5: "3"}
    return known.get(n, "2")


def _mean(entry: Mapping[str, Any] | None) -> str:
    return "" if entry is None else f"{entry['value']:.3f} ± {entry['sd']:.3f}" if entry["sd"] is not None else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(entry: Mapping[str, Any]) -> str:
    return "" if entry["low"] is None else f"{entry['low']:.3f} to {entry['high']:.3f}"
