"""Fine-tuning: from prepared splits to the best weights in model/, whatever the task."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from accelerate import Accelerator
from transformers import PreTrainedModel

from heldout.data.rows import ids_of
from heldout.errors import Refused
from heldout.eval import metrics
from heldout.eval.tabulate import tabulate
from heldout.ledger import read_ledger, write_ledger
from heldout.records import Card, Example, Prediction
from heldout.train.engine import finish_tracking, start
from heldout.train.loop import Done, Loss, Recipe
from heldout.train.models import freeze_body, label_names, load_model, load_tokenizer, max_positions
from heldout.train.optim import linear_schedule, make_optimizer
from heldout.train.options import FitOptions
from heldout.train.plan import Plan, make_plan, plan_hash
from heldout.train.progress import progress, say
from heldout.train.session import Selection, Session, evaluation_steps, run
from heldout.train.sharded import prepared
from heldout.train.system import System, load_system, pad_id
from heldout.train.task import Encoded, Encoding, Task, encoding_of
from heldout.train.tokens import encode
from heldout.train.untrusted import Source
from heldout.train.windows import Batch, Window, collate


@dataclass(frozen=True)
class Setup:
    """What is trained, on which windows of train, and how they become a loss: what a teacher changes.

    heldout/train/distil.py does; ``model`` is a PreTrainedModel, or what a teacher made of one.
    """

    model: Any
    encoding: Encoding
    encoded: Encoded
    collate: Callable[[Sequence[Window]], Batch]
    loss: Loss


def untaught(setup: Setup) -> Setup:
    """Fine-tuning as it is, without a teacher."""
    return setup


@dataclass(frozen=True)
class Evaluation:
    """What dev gave after some of a training's steps: ``examples`` were seen by then, ``last`` says that it was all."""

    examples: int
    last: bool
    value: float


def unwatched(evaluation: Evaluation) -> None:
    """Nobody looks on."""


@dataclass(frozen=True)
class Job:
    """One fine-tuning: where it is written, what it is trained and chosen on, how; ``teach`` changes its setup.

    ``watch`` is told of every evaluation on dev; what it raises ends the training.
    """

    folder: Path
    task: Task
    card: Card
    train: Sequence[Example]
    train_hash: str
    dev: Sequence[Example]
    dev_hash: str
    options: FitOptions
    seed: int
    resume_hint: str
    teach: Callable[[Setup], Setup] = untaught
    watch: Callable[[Evaluation], None] = unwatched


def refuse_early(job: Job) -> None:
    """Refused where the model cannot be had, or cannot do what the options ask: before anything is written."""
    _selection(job)
    _untrained(job)


def finetune(job: Job) -> System:
    """Train (or continue, or find it done), leave the best weights in model/, and return the system."""
    accelerator = start(job.folder, job.options)
    if not (job.folder / "model").exists():
        system = _train(job, accelerator)
        finish_tracking(accelerator)
        system.save(job.folder)
        if not accelerator.is_fsdp2:
            return system
        # What answers from here on is whole in every process.
        accelerator.wait_for_everyone()
    source = Source(str(job.folder / "model"), job.options.trust_remote_code)
    return load_system(job.task, source, job.task.head(job.card), vars(job.options), accelerator)


@dataclass(frozen=True)
class Ready:
    """A fine-tuning before its first step: what ``train`` takes, and the system that answers with the same weights."""

    system: System
    setup: Setup
    optimizer: Any
    plan: Plan
    plan_hash: str
    recipe: Recipe


def ready(job: Job, accelerator: Accelerator) -> Ready:
    """The model with its head, the windows of train, their plan and the optimizer, prepared by accelerate."""
    options = job.options
    raw, encoding = _untrained(job)
    encoded = encode(job.task, job.train, encoding, "tokenising train", shown=accelerator.is_main_process)
    plan, hashed = _plan(job, encoded)
    if options.freeze:
        freeze_body(raw)
    padded = partial(collate, pad_id=pad_id(encoding), pad_type=encoding.tokenizer.pad_token_type_id)
    setup = job.teach(Setup(raw, encoding, encoded, padded, job.task.loss))
    optimizer = make_optimizer(setup.model, learning_rate=options.learning_rate, weight_decay=options.weight_decay)
    model, optimizer = prepared(accelerator, setup.model, optimizer)
    system = System(job.task, model, encoding, job.task.head(job.card), accelerator)
    return Ready(system, setup, optimizer, plan, hashed, _recipe(job, setup, len(plan)))


def _train(job: Job, accelerator: Accelerator) -> System:
    options, selection = job.options, _selection(job)
    made = ready(job, accelerator)
    system, plan = made.system, made.plan
    main = accelerator.is_main_process
    dev = encode(job.task, job.dev, system.encoding, "tokenising dev", shown=main)

    taken = 0

    def evaluate() -> float:
        value = value_of(selection.metric, job.card, job.dev, system.answer(job.dev, dev, "dev"))
        job.watch(Evaluation(sum(len(step.rows) for step in plan[:taken]), taken == len(plan), value))
        return value

    if main:
        _note_in_ledger(job, made.plan_hash, selection)
    with progress("training", len(plan), "steps", shown=main) as advance:

        def report(done: Done, before: int) -> None:
            nonlocal taken
            taken = done.step + 1
            advance(1, done.words, before)

        session = Session(
            folder=job.folder,
            plan=plan,
            plan_hash=made.plan_hash,
            recipe=made.recipe,
            selection=selection,
            evaluate=evaluate,
            evaluate_after=evaluation_steps(plan, options.eval_every),
            save_every=options.save_every,
            report=report,
            say=say if main else lambda message: None,
            resume_hint=job.resume_hint,
        )
        run(system.model, made.optimizer, session, accelerator)
    return system


def _untrained(job: Job) -> tuple[PreTrainedModel, Encoding]:
    """The encoder with a fresh head, its tokenizer and limits."""
    options = job.options
    source = Source(options.model, options.trust_remote_code)
    tokenizer = load_tokenizer(source, options.max_length)
    model = load_model(
        job.task.model,
        source,
        labels=job.task.head(job.card),
        seed=job.seed,
        attention_dropout=options.attention_dropout,
        say=say,
    )
    positions = max_positions(model)
    if positions is not None and options.max_length > positions:
        raise Refused(
            f"--max-length {options.max_length}: {options.model} has {positions} positions; ask for {positions} or less"
        )
    return model, encoding_of(tokenizer, label_names(model), vars(options))


def _plan(job: Job, encoded: Encoded) -> tuple[Plan, str]:
    plan = make_plan(
        encoded.lengths(),
        batch_size=job.options.batch_size,
        epochs=job.options.epochs,
        seed=job.seed,
        max_steps=job.options.max_steps,
    )
    return plan, plan_hash(plan, ids_of(job.train).__getitem__)


def _recipe(job: Job, setup: Setup, steps: int) -> Recipe:
    return Recipe(
        windows=lambda step: [window for row in step.rows for window in setup.encoded.windows[row]],
        collate=setup.collate,
        loss=setup.loss,
        rate=linear_schedule(peak=job.options.learning_rate, steps=steps, warmup=job.options.warmup),
        seed=job.seed,
        token_budget=job.options.token_budget,
    )


def value_of(metric: str, card: Card, gold: Sequence[Example], predictions: Sequence[Prediction]) -> float:
    """One number of one system, without interval: what a checkpoint is chosen by."""
    return metrics.find(metric).of(tabulate(card, gold, predictions))


def _selection(job: Job) -> Selection:
    if job.options.select == "loss":
        if job.card.kind not in metrics.find("nll").kinds:
            raise Refused(
                f"--select loss: predictions of {job.task.name} have no likelihood of gold; use --select main"
            )
        return Selection("nll", "min", job.options.patience)
    main = metrics.find(job.card.metrics[0])
    return Selection(main.name, "max" if main.higher_is_better else "min", job.options.patience)


def _note_in_ledger(job: Job, hashed: str, selection: Selection) -> None:
    ledger = read_ledger(job.folder).with_plan(hashed)
    chosen = f"checkpoint with the {selection.direction}imum of {selection.metric}"
    ledger = ledger.with_fitted("weights", "train", job.train_hash, len(job.train))
    write_ledger(job.folder, ledger.with_fitted(chosen, "dev", job.dev_hash, len(job.dev)))
