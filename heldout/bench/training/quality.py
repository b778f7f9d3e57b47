"""Quality: every side trains over the same rows for as many steps, with several seeds, then answers the same dev.

OUT/SIDE/seed-N/  card.json  gold/dev.jsonl  predictions/dev.jsonl  taken.json     heldout compare OUT/trainer OUT/ours

A seed that has its taken.json is done and is not trained again. The difference, ours less the peer's, and its interval
are those of heldout compare: examples and seeds are drawn, both.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.bench.result import Result, number
from heldout.bench.training.work import TAKEN
from heldout.bench.turns import opened
from heldout.errors import Failed
from heldout.eval.columns import aligned
from heldout.eval.comparison.compare import compare
from heldout.eval.comparison.inputs import read_contest
from heldout.runs import read_json

#: Tasks whose examples cut a text into the windows that we cut it into: there every row must be the same.
SAME_ROWS = ("sentiment", "nli")
#: How much less a side may have read where windows are cut otherwise.
CUT = 0.05


def quality(
    specs: Mapping[str, Mapping[str, Any]],
    *,
    seeds: Sequence[int],
    arguments: Mapping[str, Any],
    out: Path,
    replicates: int,
    say: Callable[[str], None],
) -> Result:
    """Train what is not there yet, compare; the first of ``specs`` is ours. Failed where a side did less."""
    for seed in seeds:
        for name, spec in specs.items():
            folder = out / name / f"seed-{seed}"
            if not (folder / TAKEN).exists():
                _train(name, {**spec, "seed": seed, "out": str(folder)}, out, say)
    taken = {name: [read_json(out / name / f"seed-{seed}" / TAKEN) for seed in seeds] for name in specs}
    ours, *peers = specs
    for peer in peers:
        for seed, mine, theirs in zip(seeds, taken[ours], taken[peer], strict=True):
            refuse_less(peer, seed, mine, theirs, same=str(arguments["task"]) in SAME_ROWS)
    compared = {peer: _compared(out / peer, out / ours, seeds, replicates) for peer in peers}
    figures = {
        f"ours less {peer} {entry['metric']}{which}": float(entry[key])
        for peer, entry in compared.items()
        for key, which in (("value", ""), ("low", ", lower bound"))
        if entry[key] is not None
    }
    text = _text(compared, taken[ours][0], seeds)
    return Result("train quality", arguments, figures, {"taken": taken, "compared": compared}, text)


def _train(name: str, spec: Mapping[str, Any], out: Path, say: Callable[[str], None]) -> None:
    logs = out / "logs" / f"seed-{spec['seed']}"
    logs.mkdir(parents=True, exist_ok=True)
    with opened({name: spec}, logs, lambda message: None) as sides:
        side = sides[name]
        say(f"{name}, seed {spec['seed']}: training {side.facts['steps']} steps")
        done = side.block(side.facts["steps"])
        say(f"{name}, seed {spec['seed']}: {done['tokens']:,} real tokens in {done['seconds']:,.0f} s")


def refuse_less(peer: str, seed: int, mine: Mapping[str, Any], theirs: Mapping[str, Any], *, same: bool) -> None:
    """Failed where the two sides did not train on the same rows for as many steps.

    Rows are compared by a digest of their tokens and targets. Where the examples cut long texts otherwise (``same`` is
    False), by their real tokens.
    """
    if mine["steps"] != theirs["steps"]:
        raise Failed(
            f"seed {seed}: ours took {mine['steps']} steps and {peer} {theirs['steps']}; that is no comparison"
        )
    alike = mine["digest"] == theirs["digest"] if same else abs(mine["tokens"] / theirs["tokens"] - 1) < CUT
    if not alike:
        raise Failed(
            f"seed {seed}: ours read {mine['rows']} rows of {mine['tokens']} tokens and {peer} {theirs['rows']} of "
            f"{theirs['tokens']}, which are not the same; that is no comparison"
        )


def _compared(reference: Path, ours: Path, seeds: Sequence[int], replicates: int) -> dict[str, Any]:
    """The entry of heldout compare for the main metric on dev, with its name."""
    contest = read_contest({reference.name: reference, ours.name: ours}, {}, "dev", None)
    metric = contest.card.metrics[0]
    found = compare(contest, metrics=(metric,), replicates=replicates, examples=0)
    pair = found["tests"]["dev"]["pairs"][ours.name]
    entry: dict[str, Any] = pair["metrics"][metric]
    return {"metric": metric, **entry}


def _text(compared: Mapping[str, Mapping[str, Any]], taken: Mapping[str, Any], seeds: Sequence[int]) -> str:
    table = [["", "metric on dev", "theirs", "ours", "ours less theirs", "95% interval"]]
    for peer, entry in compared.items():
        low, high = entry["low"], entry["high"]
        within = "none" if low is None else f"{low:+.4f} to {high:+.4f}"
        values = [number(entry["reference"]), number(entry["other"]), f"{entry['value']:+.4f}"]
        table.append([peer, entry["metric"], *values, within])
    some = next(iter(compared.values()), None)
    lines = aligned(table, right={2, 3, 4})
    lines += ["", f"Seeds {', '.join(map(str, seeds))}; a seed is {taken['steps']} steps, {taken['rows']:,} rows and "]
    lines[-1] += f"{taken['tokens']:,} real tokens of each side. All answer dev in fp32, through one decoding."
    return "\n".join(lines + ([f"Interval: {some['method']}."] if some else []))
