"""One trial of a sweep, from its values to what it is worth on dev, and what the sweep's folder says of all of them."""

import shlex
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from heldout.data.prepare import Prepared
from heldout.errors import Diverged, Refused
from heldout.ledger import read_ledger, write_ledger
from heldout.options import flag, to_json
from heldout.runs import atomic, write_json, writing
from heldout.scripts import finetune
from heldout.scripts._fit import fit
from heldout.sweep.outcome import Judge, outcome, shown
from heldout.sweep.recipe import recipe
from heldout.sweep.search import Pruned, Search, Trial, turn
from heldout.sweep.space import Dimension, size
from heldout.train.finetune import Evaluation, unwatched
from heldout.train.progress import say

#: How often a trial may end with nothing new made (its process killed for memory, say) before it counts as failed.
LIVES = 5


@dataclass(frozen=True)
class Work:
    """What the trials of one call share; ``recipe`` is what was asked for, ``base`` what every trial is made from."""

    out: Path
    options: Any
    recipe: finetune.Options
    base: finetune.Options
    prepared: Prepared
    judge: Judge
    search: Search


def names(space: Sequence[Dimension]) -> str:
    """The options that are varied, in words."""
    return " + ".join(flag(dimension.name)[2:] for dimension in space)


def one_trial(work: Work, trial: Trial) -> None:
    """Train the trial, or what is left of it, and tell the search what came of it; Pruned and Diverged pass through."""
    folder, search = work.out / trial.name, work.search
    said = ", ".join(f"{flag(name)[2:]} {shown(value)}" for name, value in trial.values.items())
    say(f"{trial.name} of {work.options.trials}: {said}")
    try:
        if search.lives(trial, _made(folder)) > LIVES:
            raise Diverged(f"ended {LIVES} times with nothing new made (killed for its memory?)")
        _runs(work, trial, folder)
    except (Pruned, Diverged) as ended:
        search.tell(trial, "pruned" if isinstance(ended, Pruned) else "failed", why=str(ended))
        _forget(folder)
        raise
    except Refused as refused:
        search.tell(trial, "refused", why=str(refused))
        raise Refused(f"{trial.name}: {refused}") from None
    values = [entry["value"] for entry in work.judge.entries(folder)]
    if None in values:
        search.tell(trial, "failed", why=f"dev has no {work.judge.metric}")
        raise Diverged(f"dev has no {work.judge.metric}: nothing in it that the metric is about")
    value = fmean(values)
    search.tell(trial, "done", value=value)
    _forget(folder)
    say(f"{trial.name}: dev {work.judge.metric} {value:.4f}")


def _runs(work: Work, trial: Trial, folder: Path) -> None:
    """The run of the trial, or one for each seed; the first one is watched by the pruner."""
    options = replace(work.base, out=str(folder), **trial.values)
    if work.judge.seeds:
        write_json(folder / "options.json", to_json(options))
    for number, run in enumerate(work.judge.folders(folder)):
        one = replace(options, seed=work.judge.seeds[number]) if work.judge.seeds else options
        job = finetune.job(run, one, work.prepared)
        with writing(run, resume=True) if work.judge.seeds else nullcontext():
            fit(replace(job, watch=unwatched if number else _watch(work, trial)), to_json(one), work.prepared)


def _watch(work: Work, trial: Trial) -> Any:
    def watch(evaluation: Evaluation) -> None:
        work.search.report(trial, evaluation.examples, evaluation.value, last=evaluation.last)

    return watch


def _made(folder: Path) -> list[str]:
    """What a trial has made so far: by this one tells a trial that comes no further."""
    return sorted(str(path.relative_to(folder)) for path in folder.glob("**/checkpoints/step-*"))


def _forget(folder: Path) -> None:
    """Remove the checkpoints of a trial that is through: three of them are nine times its model on the disk."""
    for checkpoints in folder.glob("**/checkpoints"):
        # Another process of the sweep may be at it too.
        shutil.rmtree(checkpoints, ignore_errors=True)


def write_outcome(work: Work) -> dict[str, Any]:
    """Write sweep.json and best.toml by what the storage says now, and the best trial's ledger once all are through."""
    options, search = work.options, work.search
    with turn(work.out):
        for trial in search.trials():
            # Its process may have been killed right after it had told the search.
            if trial.state in ("done", "pruned", "failed"):
                _forget(work.out / trial.name)
        splits = {
            name: {"source": split.source, "hash": split.hash, "n": len(split.examples)}
            for name, split in work.prepared.splits.items()
        }
        kept = {
            "task": options.task,
            "metric": work.judge.metric,
            "unit": work.judge.unit,
            "direction": "max" if work.judge.maximize else "min",
            "space": list(options.space),
            "points": size(work.search.space),
            "wanted": options.trials,
            "sampler": options.sampler,
            "pruner": options.pruner,
            "seed": options.seed,
            "seeds": list(work.judge.seeds),
            "splits": splits,
            **outcome(work.out, search.trials(), work.judge),
        }
        write_json(work.out / "sweep.json", kept)
        if kept["best"] is not None:
            _write_best(work, kept)
    return kept


def _write_best(work: Work, kept: dict[str, Any]) -> None:
    best = kept["best"]
    values = next(row["values"] for row in kept["trials"] if row["trial"] == best["trial"])
    thing = f"best of {best['of']} trials over {names(work.search.space)}"
    chosen = "; ".join(filter(None, [work.recipe.chosen, thing]))
    comment = [
        f"The best of {best['of']} trials by dev {kept['metric']}: {best['trial']}, {best['value']:.4f}, which is",
        "optimistic, as the best of several: a test that no trial saw says how good it is. Run where the sweep ran:",
        f"heldout finetune --config {shlex.quote(str(work.out / 'best.toml'))} --out RUN",
    ]
    text = recipe(replace(work.recipe, **values, chosen=chosen), without=("out", "resume", "json"), comment=comment)
    with atomic(work.out / "best.toml") as temporary:
        temporary.write_text(text, encoding="utf-8")
    if all(row["state"] != "running" for row in kept["trials"]):
        _note_best(work, work.out / best["trial"], thing)


def _note_best(work: Work, trial: Path, thing: str) -> None:
    """The best trial's ledger says of how many it is the best; what it said of fewer is taken back."""
    dev, over = work.prepared.splits["dev"], f" trials over {names(work.search.space)}"
    for run in work.judge.folders(trial):
        ledger = read_ledger(run)
        fitted = {name: entry for name, entry in ledger.fitted.items() if not name.endswith(over)}
        write_ledger(run, replace(ledger, fitted=fitted).with_fitted(thing, "dev", dev.hash, len(dev.examples)))
