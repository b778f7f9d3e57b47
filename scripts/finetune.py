"""Fine-tune an encoder on a task, with its baselines, and score it on every test set.

    heldout finetune sentiment --model google-bert/bert-base-uncased \\
        --train stanfordnlp/imdb:train --test imdb=stanfordnlp/imdb:test --test yelp=yelp.csv --out runs/imdb
    heldout report runs/imdb

The first --test is the domain of train; the others are shifted domains. Where no --dev is given, one is carved from
train. A killed run continues with the same command and --resume. Several seeds make RUN/seed-1/, RUN/seed-2/, …
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.baselines import find, write_baseline_run
from heldout.data import load_task as load_data
from heldout.data import task_names
from heldout.data.prepare import Prepared, PrepareOptions, parse_tests, prepare
from heldout.data.rows import Rows
from heldout.errors import Refused
from heldout.eval.summary import summary
from heldout.options import REQUIRED, option, positional, to_json
from heldout.runs import read_json, refuse_taken, write_json
from heldout.scripts._long import held, resume_hint, same_options, stoppable
from heldout.tasks import load_task
from heldout.train.options import FitOptions
from heldout.train.processes import is_main_process
from heldout.train.progress import say

if TYPE_CHECKING:
    from heldout.train.finetune import Job


@dataclasses.dataclass(frozen=True)
class Options(PrepareOptions, FitOptions):
    """What ``heldout finetune`` takes."""

    task: str = positional(f"what to learn: {', '.join(task_names())}")
    train: tuple[str, ...] = option(REQUIRED, "the labelled examples to learn from; again for more", metavar="SOURCE")
    dev: str | None = option(None, "the split to choose on; carved from train where not given", metavar="SOURCE")
    test: tuple[str, ...] = option((), "a set to score; again for a shifted domain", metavar="NAME=SOURCE")
    out: str = option(REQUIRED, "the run folder to write", metavar="RUN")
    seed: int = option(1, "draws the dev split, the order of examples, the new head, dropout")
    seeds: str = option("", "several runs on the same splits, as RUN/seed-1/ …", metavar="1,2,3")
    chosen: str | None = option(
        None, "what was chosen on dev before this run, for its ledger (heldout sweep writes it)", metavar="WHAT"
    )
    baseline: tuple[str, ...] = option(
        (), "a baseline to fit beside it; none for none (default: the task's own)", metavar="KIND"
    )
    resume: bool = option(False, "continue a run that was stopped or killed, from its last checkpoint")
    json: bool = option(False, "print the scores as JSON")


def run(options: Options) -> int:
    """Prepare the splits, train, predict, fit the baselines, score; print what came out."""
    from heldout.scripts._fit import fit

    out, seeds = Path(options.out), parse_seeds(options.seeds)
    if is_main_process():
        same_options(out, options) if options.resume else refuse_taken(out)
    load_task(options.task)
    for kind in _kinds(options):
        find(kind)
    prepared = splits(options, parse_tests(options.test))
    folders = {seed: out / f"seed-{seed}" for seed in seeds} or {options.seed: out}
    with stoppable(resume_hint("finetune")), held(out, resume=options.resume):
        _write(out / "options.json", to_json(options))
        for seed, folder in folders.items():
            one = dataclasses.replace(options, seed=seed)
            with held(folder, resume=options.resume) if seeds else nullcontext():
                fit(job(folder, one, prepared), to_json(one), prepared)
        if is_main_process():
            _baselines(out, options, prepared)
    if is_main_process():
        _print(options, list(folders.values()))
    return 0


def splits(options: Options, tests: Mapping[str, str], *, unread: Collection[str] = ()) -> Prepared:
    """The splits of a call with these ``tests``, those ``unread`` left alone, and in the ledger what was chosen."""
    prepared = prepare(
        options.task,
        train=options.train,
        dev=options.dev,
        tests=tests,
        options=options,
        seed=options.seed,
        unread=unread,
    )
    fields = prepared.splits["train"].examples[0].text
    if options.only and options.only not in fields:
        raise Refused(f"--only {options.only}: the examples of {options.task} have {', '.join(fields)}; leave it out")
    if not options.chosen:
        return prepared
    dev = prepared.splits["dev"]
    ledger = prepared.ledger.with_fitted(options.chosen, "dev", dev.hash, len(dev.examples))
    return dataclasses.replace(prepared, ledger=ledger)


def job(folder: Path, options: Options, prepared: Prepared) -> Job:
    """One run of these options in ``folder``."""
    from heldout.train.finetune import Job

    splits = prepared.splits
    return Job(
        folder=folder,
        task=load_task(options.task, prepared.card),
        card=prepared.card,
        train=splits["train"].examples,
        train_hash=splits["train"].hash,
        dev=splits["dev"].examples,
        dev_hash=splits["dev"].hash,
        options=options,
        seed=options.seed,
        resume_hint=resume_hint("finetune"),
    )


def _baselines(out: Path, options: Options, prepared: Prepared) -> None:
    """Fit the baselines that are asked for as runs under RUN/baselines/; one that does not apply is named."""
    shared = {field.name for field in dataclasses.fields(PrepareOptions)} | {"task", "train", "dev", "test", "seed"}
    said = {key: value for key, value in to_json(options).items() if key in shared}
    for kind in _fitting(options, prepared):
        folder = out / "baselines" / kind
        if _is_done(folder):
            continue
        shutil.rmtree(folder, ignore_errors=True)
        say(f"baseline {kind}")
        try:
            write_baseline_run(folder, kind, prepared, seed=options.seed, run_options=said)
        except Refused as refused:
            say(f"baseline {kind} left out: {refused}")


def _fitting(options: Options, prepared: Prepared) -> list[str]:
    """Those of them that are fitted: where train is too large to be held, by default none that learns its texts."""
    kinds, held = list(_kinds(options)), not isinstance(prepared.splits["train"].examples, Rows)
    if held or options.baseline:
        return kinds
    left_out = [kind for kind in kinds if find(kind).learns == "texts"]
    if left_out:
        say(f"{', '.join(left_out)}: left out, as they would hold all of train; --baseline {left_out[0]} asks for it")
    return [kind for kind in kinds if kind not in left_out]


def _kinds(options: Options) -> tuple[str, ...]:
    """The baselines that are asked for, else those of the task."""
    return tuple(kind for kind in options.baseline or load_data(options.task).baselines if kind != "none")


def _is_done(folder: Path) -> bool:
    state = folder / "run.json"
    return state.exists() and read_json(state)["state"] == "done"


def _write(path: Path, value: Any) -> None:
    if is_main_process():
        write_json(path, value)


def parse_seeds(text: str) -> list[int]:
    """The seeds of --seeds, none for ""; Refused where they are no numbers, or one stands twice."""
    try:
        seeds = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise Refused(f"--seeds {text}: give whole numbers with commas between, such as 1,2,3") from None
    if len(set(seeds)) != len(seeds):
        raise Refused(f"--seeds {text}: every seed once")
    return seeds


def _print(options: Options, folders: Sequence[Path]) -> None:
    tests = list(parse_tests(options.test)) or ["dev"]
    if options.json:
        rows = {f.name: {name: read_json(f / "scores" / f"{name}.json") for name in tests} for f in folders}
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    print(summary([*folders, *sorted(Path(options.out, "baselines").glob("*"))], tests))
    print(f"\nthe whole story: heldout report {options.out}")
