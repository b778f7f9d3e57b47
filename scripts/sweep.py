"""Search for the options that fine-tune best on dev; every trial is a run folder, the best becomes a recipe.

    heldout sweep sentiment --config recipes/imdb.toml --model google-bert/bert-base-uncased --limit 2000 \\
        --space learning-rate=1e-5:1e-4:log --space batch-size=16,32 --space warmup=0:0.2 \\
        --trials 20 --eval-every 50 --pruner median --out sweeps/imdb
    heldout finetune --config sweeps/imdb/best.toml --out runs/imdb

It takes whatever finetune takes, and --space for what is varied: NAME=LOW:HIGH, NAME=LOW:HIGH:log, NAME=LOW:HIGH:STEP
or NAME=A,B,C. Where the space holds no more points than --trials, every point is tried once. Trials see train and dev
alone: the recipe's tests are not read, they stand in best.toml. --pruner median gives a trial up where dev
(--eval-every) lies below the median of the others at the same place; of --seeds it watches the first.

The same command goes on where it ended: a trial whose process was killed continues from its checkpoint, and a higher
--trials adds some. Started several times at once, on one machine, the processes share the trials:
    CUDA_VISIBLE_DEVICES=0 heldout sweep … --out S &  CUDA_VISIBLE_DEVICES=1 heldout sweep … --out S & wait
Several machines share --storage journal on a file system whose locks hold between machines (NFS 4; not tested here):
    sbatch --array=1-8 --gpus=1 --wrap 'heldout sweep … --out /shared/S'                          (SLURM, not tested)
    ray.get([ray.remote(num_gpus=1)(subprocess.run).remote(call, check=True) for _ in range(8)])    (Ray, not tested)
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.data import task_names
from heldout.data.prepare import Prepared, parse_tests
from heldout.errors import Diverged, Failed, Refused
from heldout.eval import metrics
from heldout.options import REQUIRED, option, positional, to_json
from heldout.runs import read_json, write_json
from heldout.scripts import finetune
from heldout.scripts._long import resume_hint, same, stoppable
from heldout.sweep.outcome import Judge, table
from heldout.sweep.search import Pruned, Pruner, Sampler, Search, Storage, open_study, require_optuna, turn
from heldout.sweep.space import Dimension, allowed, parse_space
from heldout.tasks import load_task
from heldout.train.progress import say

if TYPE_CHECKING:
    from heldout.scripts._trials import Work

#: What a sweep varies: what changes the weights that come out, and neither the examples nor how dev is judged.
VARIED = (
    *("learning_rate", "batch_size", "epochs", "max_steps", "warmup", "weight_decay", "attention_dropout", "patience"),
    *("max_length", "long", "stride", "max_answer", "freeze", "model"),
)


@dataclass(frozen=True)
class Options(finetune.Options):
    """What ``heldout sweep`` takes: all of finetune's, and how the search goes."""

    task: str = positional(f"what to learn: {', '.join(task_names())}")
    test: tuple[str, ...] = option((), "a set for the recipe that is written; no trial reads it", metavar="NAME=SOURCE")
    out: str = option(REQUIRED, "the folder of the sweep; the same again goes on", metavar="SWEEP")
    seed: int = option(1, "draws the trials, the dev split, and all that a run's seed draws")
    seeds: str = option("", "runs of every trial, whose mean is its value, as trial-000/seed-1/ …", metavar="1,2,3")
    resume: bool = option(False, "not needed: the same command goes on")
    json: bool = option(False, "print sweep.json")
    space: tuple[str, ...] = option((), "an option and its values; again for more", metavar="NAME=VALUES")
    trials: int = option(20, "trials in all, over all processes and calls")
    sampler: Sampler = option("tpe", "tpe learns from the trials before (after 10 at random); random does not")
    pruner: Pruner = option("none", "median gives up trials below the others' median on dev")
    storage: Storage = option("journal", "a file of lines or a database, in SWEEP")

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing, before any work."""
        super().__post_init__()
        if self.trials < 1:
            raise Refused(f"--trials {self.trials}: give 1 or more")


def run(options: Options) -> int:
    """Prepare train and dev, work through trials until all are done or in other hands, say what came of them."""
    from heldout.scripts._trials import one_trial, write_outcome

    out = Path(options.out)
    require_optuna()
    _refuse(options, out)
    recipe = finetune.Options(**{each.name: getattr(options, each.name) for each in fields(finetune.Options)})
    space = parse_space(options.space, recipe, VARIED)
    load_task(options.task)
    prepared = finetune.splits(_searched(recipe, space), {}, unread=parse_tests(options.test))
    _refuse_models(recipe, space, prepared)
    with stoppable(resume_hint("sweep")):
        work = _begun(options, recipe, space, prepared)
        while (claim := work.search.claim(options.trials)) is not None:
            trial, held = claim
            try:
                with held:
                    one_trial(work, trial)
            except (Pruned, Diverged) as ended:
                say(f"{trial.name}: {'pruned' if isinstance(ended, Pruned) else 'failed'}: {ended}")
            write_outcome(work)
        kept = write_outcome(work)
    _print(options, kept)
    return 0


def _refuse(options: Options, out: Path) -> None:
    """What cannot be a sweep, or not here."""
    finetune.parse_seeds(options.seeds)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise Refused(
            "heldout sweep is one process a trial; start the command several times, without accelerate launch"
        )
    once = options.epochs == 1 and not options.eval_every and not any("epochs" in text for text in options.space)
    if options.pruner == "median" and once:
        raise Refused("--pruner median: dev is asked once a trial, at its end; add --eval-every N to prune before it")
    if (out / "run.json").exists():
        raise Refused(f"{out}: holds a run; choose another --out for the sweep")
    same(out, _said(options))


def _said(options: Options) -> dict[str, Any]:
    """The options that must stay as they are while a sweep goes on; how many trials there are may change."""
    return {name: value for name, value in to_json(options).items() if name != "trials"}


def _refuse_models(options: finetune.Options, space: Sequence[Dimension], prepared: Prepared) -> None:
    """Refused, before any trial, where a model cannot be had or is asked to read more than it can."""
    from heldout.train.finetune import refuse_early

    ends = {dimension.name: dimension.ends for dimension in space}
    longest = max(ends.get("max_length", (options.max_length,)))
    for model in ends.get("model", (options.model,)):
        asked = replace(options, model=model, max_length=longest)
        refuse_early(finetune.job(Path(options.out), asked, prepared))


def _begun(options: Options, recipe: finetune.Options, space: Sequence[Dimension], prepared: Prepared) -> Work:
    """The sweep's folder with its options and its study, made where it is not there; of several processes by one."""
    from heldout.scripts._trials import Work

    out, main = Path(options.out), metrics.find("nll" if options.select == "loss" else prepared.card.metrics[0])
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"{out}: cannot be written in ({error.strerror}); choose another --out") from None
    with turn(out):
        same(out, _said(options))
        write_json(out / "options.json", to_json(options))
        if (out / "sweep.json").exists():
            _refuse_changed(out, prepared)
        study = open_study(out, options.storage, maximize=main.higher_is_better, pruner=options.pruner)
    judge = Judge(main.name, main.unit, main.higher_is_better, finetune.parse_seeds(options.seeds))
    base = _searched(recipe, space)
    search = Search(out, study, space, partial(allowed, base), options.sampler, options.seed)
    return Work(out, options, recipe, base, prepared, judge, search)


def _refuse_changed(out: Path, prepared: Prepared) -> None:
    for name, before in read_json(out / "sweep.json")["splits"].items():
        if before["hash"] != prepared.splits[name].hash:
            raise Refused(f"{out}: {name} ({before['source']}) has changed since the sweep began; choose another --out")


def _searched(recipe: finetune.Options, space: Sequence[Dimension]) -> finetune.Options:
    """The options of every trial: no tests, no baselines, and the ledger told that values were searched on dev."""
    from heldout.scripts._trials import names

    said = "; ".join(filter(None, [recipe.chosen, f"search over {names(space)}"]))
    return replace(recipe, test=(), baseline=("none",), chosen=said)


def _print(options: Options, kept: Mapping[str, Any]) -> None:
    """The table; Failed where nothing came of all trials."""
    print(json.dumps(kept, indent=2, ensure_ascii=False) if options.json else table(kept))
    ended = [row for row in kept["trials"] if row["state"] in ("failed", "pruned")]
    if kept["best"] is None and len(ended) == len(kept["trials"]):
        raise Failed(f"no trial came through; {ended[-1]['trial']}: {ended[-1]['why']}")
    if kept["best"] is not None and not options.json:
        best, trial = (shlex.quote(str(Path(options.out, name))) for name in ("best.toml", kept["best"]["trial"]))
        print(f"\ntrain it anew and score its tests: heldout finetune --config {best} --out RUN")
        if not options.seeds:
            print(f"or ask the trial as it is: heldout predict {trial} --data NAME=SOURCE")
