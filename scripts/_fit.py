"""What finetune and distill share: one run folder, from its splits to its scores."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from heldout.data.prepare import Prepared
from heldout.errors import Refused
from heldout.eval.card import write_card
from heldout.eval.run_scores import score_run
from heldout.ledger import read_ledger
from heldout.runs import came_to_nothing, environment, write_json
from heldout.scripts._blocks import files_of, forget, write_answers
from heldout.scripts._long import same
from heldout.train.finetune import Job, finetune
from heldout.train.precision import resolve
from heldout.train.processes import is_main_process
from heldout.train.system import System


def fit(job: Job, options: Mapping[str, Any], prepared: Prepared) -> None:
    """Everything of one run folder; what is there already is not made again. ``options`` is its options.json."""
    if is_main_process():
        _begin(job.folder, options, prepared)
    _predict(job, finetune(job), prepared)
    if is_main_process():
        score_run(job.folder)
        write_card(job.folder)


def without_tests(prepared: Prepared) -> Prepared:
    """Train and dev alone: what a choice may be made on."""
    splits = {name: prepared.splits[name] for name in ("train", "dev")}
    kept = {name: split for name, split in prepared.ledger.splits.items() if name in splits}
    return Prepared(prepared.card, splits, replace(prepared.ledger, splits=kept))


def _begin(folder: Path, options: Mapping[str, Any], prepared: Prepared) -> None:
    """Write what a run starts from; Refused where it has begun on data that have changed since."""
    if came_to_nothing(folder):
        write_json(folder / "options.json", options)
        write_json(folder / "environment.json", environment())
        prepared.write(folder)
        return
    same(folder, options)
    before = read_ledger(folder).splits
    for name, split in prepared.ledger.splits.items():
        if name not in before or before[name]["hash"] != split["hash"]:
            raise Refused(f"{folder}: {name} ({split['source']}) has changed since the run began; choose another --out")


def _predict(job: Job, system: System, prepared: Prepared) -> None:
    main = is_main_process()
    for name, split in prepared.splits.items():
        path = job.folder / "predictions" / f"{name}.jsonl"
        # Which sets are left is for the main process to say: another one may look when it has just written one.
        if name != "train" and not system.agreed(int(path.exists())):
            # The other processes may be here before the main one has written model/.
            model = files_of(job.folder / "model") if main else {}
            key = {"data": split.hash, "model": model, "precision": resolve(job.options.precision)[0]}
            write_answers(path, system, split.examples, f"predicting {name}", key=key, main=main)
            if main:
                forget(path)
