"""What came of a search: sweep.json and the table a person reads, from the storage and the trials' folders."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.eval.columns import aligned
from heldout.options import flag
from heldout.runs import read_json
from heldout.sweep.search import Trial

#: Half a 95% interval in standard errors of a normal distribution.
HALF = 1.96


@dataclass(frozen=True)
class Judge:
    """What trials are chosen by: a metric on dev, its direction, and the seeds of every trial (none: the sweep's)."""

    metric: str
    unit: str
    maximize: bool
    seeds: Sequence[int] = ()

    def folders(self, trial: Path) -> list[Path]:
        """The runs of a trial."""
        return [trial / f"seed-{seed}" for seed in self.seeds] or [trial]

    def entries(self, trial: Path) -> list[Mapping[str, Any]]:
        """The metric on dev of each run that is through: {"value", "low", "high", "n", …}."""
        paths = [run / "scores" / "dev.json" for run in self.folders(trial)]
        return [read_json(path)["metrics"][self.metric] for path in paths if path.exists()]


def outcome(folder: Path, trials: Sequence[Trial], judge: Judge) -> dict[str, Any]:
    """The part of sweep.json that changes: every trial, the best, and which others cannot be told from it."""
    done = [trial for trial in trials if trial.state == "done" and trial.value is not None]
    rows = [_row(folder / trial.name, trial, judge) for trial in trials]
    if not done:
        return {"trials": rows, "best": None}
    sign = 1 if judge.maximize else -1
    # Of equals the first.
    best = max(done, key=lambda trial: (sign * (trial.value or 0.0), -trial.number))
    entries = judge.entries(folder / best.name)
    error = _standard_error(entries)
    between = _between_seeds([row["by_seed"] for row in rows if row["state"] == "done"])
    # The difference of two means over k seeds has the standard deviation s · √(2 / k).
    noise = max(error or 0.0, (between or 0.0) * (2 / max(1, len(judge.seeds))) ** 0.5)
    close = [
        trial.name for trial in done if trial is not best and abs((trial.value or 0.0) - (best.value or 0.0)) <= noise
    ]
    return {
        "trials": rows,
        "best": {
            "trial": best.name,
            "value": best.value,
            "of": len(done),
            "n": entries[0]["n"] if entries else None,
            "standard_error": error,
            "deviation_between_seeds": between,
            "cannot_be_told_from_it": close,
        },
    }


def table(kept: Mapping[str, Any]) -> str:
    """sweep.json for a terminal: the trials, best first, and what may be believed of the best."""
    names = list(dict.fromkeys(name for row in kept["trials"] for name in row["values"]))
    sign = -1 if kept["direction"] == "max" else 1
    rows = sorted(kept["trials"], key=lambda row: (row["value"] is None, sign * (row["value"] or 0.0)))
    head = ["trial", *(flag(name)[2:] for name in names), f"dev {kept['metric']}", "seconds", "state"]
    cells = [
        [
            row["trial"],
            *(shown(row["values"][name]) for name in names),
            "" if row["value"] is None else f"{row['value']:.4f}",
            f"{row['seconds']:,.0f}" if row["seconds"] >= 10 else f"{row['seconds']:.1f}",
            row["state"] + (f": {row['why']}" if row["why"] else ""),
        ]
        for row in rows
    ]
    return "\n".join([*aligned([head, *cells]), "", *_words(kept)])


def _words(kept: Mapping[str, Any]) -> list[str]:
    counts = {state: sum(row["state"] == state for row in kept["trials"]) for state in STATES}
    said = ", ".join(f"{n} {state}" for state, n in counts.items() if n)
    lines = [f"{len(kept['trials'])} of {kept['wanted']} trials: {said or 'none yet'}"]
    if kept["points"] is not None and kept["points"] <= kept["wanted"]:
        lines.append(f"the space holds {kept['points']} points, of which every one that the options take is a trial")
    best = kept["best"]
    if best is None:
        return [*lines, "no trial is done yet, so there is no best one"]
    close, metric = best["cannot_be_told_from_it"], kept["metric"]
    lines.append(
        f"best: {best['trial']}, dev {metric} {best['value']:.4f}; the best of {best['of']} on dev is optimistic"
    )
    if best["deviation_between_seeds"] is not None:
        seeds = len(kept["seeds"])
        lines.append(
            f"values are means of {seeds} seeds; one trial's seeds lie {best['deviation_between_seeds']:.4f} apart "
            "(standard deviation within trials)"
        )
    else:
        lines.append("one seed a trial: another seed may change the order of trials that are close (--seeds 1,2,3)")
    if best["standard_error"] is not None:
        lines.append(f"dev's n is {best['n']:,}: {metric} there has a standard error of {best['standard_error']:.4f}")
    if close:
        lines.append(f"not to be told from the best by this: {', '.join(close)}")
    return lines


STATES = ("done", "pruned", "failed", "refused", "running")


def _row(folder: Path, trial: Trial, judge: Judge) -> dict[str, Any]:
    return {
        "trial": trial.name,
        "values": dict(trial.values),
        "value": trial.value,
        "by_seed": [entry["value"] for entry in judge.entries(folder)] if trial.state == "done" else [],
        "seconds": round(sum(map(_seconds, judge.folders(folder))), 1),
        "state": trial.state,
        "why": trial.why,
        "evaluations": [list(pair) for pair in sorted(trial.evaluations.items())],
    }


def _seconds(run: Path) -> float:
    """Seconds of training steps, over all lives of a run; evaluations on dev are not among them."""
    path = run / "losses.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    # The last line of a run that is being written, or was killed, may be cut.
    whole = [line for line in lines if line.endswith("}")]
    return float(sum(json.loads(line)["seconds"] for line in whole))


def _standard_error(entries: Sequence[Mapping[str, Any]]) -> float | None:
    """That of one run on dev, from its 95% interval; the mean of several runs' (they share dev's examples)."""
    widths = [entry["high"] - entry["low"] for entry in entries if entry.get("low") is not None]
    return statistics.fmean(widths) / (2 * HALF) if widths else None


def _between_seeds(values: Sequence[Sequence[float]]) -> float | None:
    """The standard deviation within trials, pooled over them; None where no trial has two seeds."""
    several = [row for row in values if len(row) > 1]
    if not several:
        return None
    squares = sum(statistics.variance(row) * (len(row) - 1) for row in several)
    return float((squares / sum(len(row) - 1 for row in several)) ** 0.5)


def shown(value: Any) -> str:
    """A value of a trial for people."""
    return f"{value:g}" if isinstance(value, float) else str(value)
