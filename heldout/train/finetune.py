"""Fine-tuning: from prepared splits to the best weights in model/, whatever the task."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import torch
from accelerate import Accelerator
from transformers import PreTrainedModel

from heldout.errors import Refused
from heldout.eval import metrics
from heldout.eval.table import tabulate
from heldout.ledger import read_ledger, write_ledger
from heldout.options import REQUIRED, flag, option
from heldout.records import Card, Example, Prediction
from heldout.runs import read_json, write_json
from heldout.train.loop import Done, Recipe
from heldout.train.models import Source, label_names, load_model, load_tokenizer, max_positions
from heldout.train.optim import linear_schedule, make_optimizer
from heldout.train.plan import Step, make_plan, plan_hash
from heldout.train.precision import Precision, make_accelerator, resolve
from heldout.train.progress import progress, say
from heldout.train.session import Selection, Session, evaluation_steps, run
from heldout.train.system import System, encoding_of, load_system, pad_id
from heldout.train.task import Encoded, Encoding, Long, Only, Task
from heldout.train.windows import collate


@dataclass(frozen=True)
class FitOptions:
    """How a model is fine-tuned; commands inherit these."""

    model: str = option(REQUIRED, "the encoder to start from: a folder or a hub id", metavar="MODEL")
    max_length: int = option(256, "tokens the model reads at a time, special tokens included")
    long: Long = option("head", "what is read of a longer text (sentiment)")
    stride: int | None = option(None, "tokens that windows of a longer text share (default: a quarter; ner, qa)")
    only: Only = option("", "the one text of a pair that is read, as a control (nli)")
    max_answer: int = option(30, "the longest answer in tokens (qa)")
    batch_size: int = option(16, "examples an optimizer step, over all processes")
    epochs: int = option(2, "passes over train")
    max_steps: int = option(0, "stop after so many steps (0: no limit)")
    learning_rate: float = option(5e-5, "the highest learning rate, after the warm-up")
    weight_decay: float = option(0.01, "decay of matrices; biases and norms have none")
    warmup: float = option(0.1, "share of the steps in which the learning rate rises")
    attention_dropout: float | None = option(
        None, "dropout of the attention (default: the model's own; 0 more than doubles the speed on a CPU)"
    )
    precision: Precision = option("auto", "auto is bf16 where the hardware multiplies it")
    token_budget: int = option(4096, "padded tokens a micro-batch: less memory, the same result")
    select: Literal["main", "loss"] = option("main", "best weights by dev's main metric (highest) or loss (lowest)")
    patience: int = option(0, "stop after so many evaluations without a better one (0: never)")
    eval_every: int = option(0, "steps between evaluations on dev (0: each epoch's end)")
    save_every: int = option(500, "steps between checkpoints")
    trust_remote_code: bool = option(False, "let code that comes with the model run on this machine")

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing, before any work."""
        for name in ("batch_size", "epochs", "token_budget", "save_every", "max_answer"):
            _check(name, getattr(self, name), getattr(self, name) >= 1, "1 or more")
        for name in ("max_steps", "patience", "eval_every"):
            _check(name, getattr(self, name), getattr(self, name) >= 0, "0 or more")
        _check("max_length", self.max_length, self.max_length >= 3, "3 or more")
        stride = self.stride
        _check("stride", stride, stride is None or 0 <= stride < self.max_length, "0 or more, less than --max-length")
        _check("learning_rate", self.learning_rate, self.learning_rate > 0, "more than 0, such as 5e-5")
        _check("weight_decay", self.weight_decay, self.weight_decay >= 0, "0 or more")
        _check("warmup", self.warmup, 0 <= self.warmup <= 1, "a share from 0 to 1")
        dropout = self.attention_dropout
        _check("attention_dropout", dropout, dropout is None or 0 <= dropout < 1, "from 0 to less than 1")


def _check(name: str, value: object, holds: bool, wanted: str) -> None:
    if not holds:
        raise Refused(f"{flag(name)} {value}: give {wanted}")


@dataclass(frozen=True)
class Job:
    """One fine-tuning: where it is written, what it is trained and chosen on, how."""

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


def finetune(job: Job) -> System:
    """Train (or continue, or find it done), leave the best weights in model/, and return the system."""
    precision, reason = resolve(job.options.precision)
    accelerator = make_accelerator(precision)
    if accelerator.is_main_process:
        say(f"precision {precision}: {reason}; {accelerator.num_processes} process(es) on {accelerator.device.type}")
        _note_engine(job.folder, precision, accelerator)
    if not (job.folder / "model").exists():
        system = _train(job, accelerator)
        if accelerator.is_main_process:
            system.save(job.folder)
        return system
    source = Source(str(job.folder / "model"), job.options.trust_remote_code)
    return load_system(job.task, source, job.task.head(job.card), vars(job.options), accelerator)


def _train(job: Job, accelerator: Accelerator) -> System:
    options = job.options
    raw, encoding = _untrained(job)
    encoded = job.task.encode(job.train, encoding)
    plan, hashed = _plan(job, encoded)
    optimizer = make_optimizer(raw, learning_rate=options.learning_rate, weight_decay=options.weight_decay)
    model, optimizer = accelerator.prepare(raw, optimizer)
    system = System(job.task, model, encoding, job.task.head(job.card), accelerator)
    dev, selection = job.task.encode(job.dev, encoding), _selection(job)

    def evaluate() -> float:
        return value_of(selection.metric, job.card, job.dev, system.answer(job.dev, dev, "dev"))

    main = accelerator.is_main_process
    if main:
        _note_in_ledger(job, hashed, selection)
    with progress("training", len(plan), "steps", shown=main) as advance:
        session = Session(
            folder=job.folder,
            plan=plan,
            plan_hash=hashed,
            recipe=_recipe(job, encoded, encoding, len(plan)),
            selection=selection,
            evaluate=evaluate,
            evaluate_after=evaluation_steps(plan, options.eval_every),
            save_every=options.save_every,
            report=lambda done: advance(1, _note(done)),
            say=say if main else lambda message: None,
            resume_hint=job.resume_hint,
        )
        run(model, optimizer, session, accelerator)
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


def _plan(job: Job, encoded: Encoded) -> tuple[tuple[Step, ...], str]:
    plan = make_plan(
        [sum(map(len, windows)) for windows in encoded.windows],
        batch_size=job.options.batch_size,
        epochs=job.options.epochs,
        seed=job.seed,
        max_steps=job.options.max_steps,
    )
    return plan, plan_hash(plan, [example.id for example in job.train])


def _recipe(job: Job, encoded: Encoded, encoding: Encoding, steps: int) -> Recipe:
    return Recipe(
        windows=lambda step: [window for row in step.rows for window in encoded.windows[row]],
        collate=partial(collate, pad_id=pad_id(encoding), pad_type=encoding.tokenizer.pad_token_type_id),
        loss=job.task.loss,
        rate=linear_schedule(peak=job.options.learning_rate, steps=steps, warmup=job.options.warmup),
        seed=job.seed,
        token_budget=job.options.token_budget,
    )


def value_of(metric: str, card: Card, gold: Sequence[Example], predictions: Sequence[Prediction]) -> float:
    """One number of one system, without interval: what a checkpoint is chosen by."""
    return metrics.find(metric).of(tabulate(card, gold, predictions))


def _selection(job: Job) -> Selection:
    if job.options.select == "loss":
        return Selection("nll", "min", job.options.patience)
    main = metrics.find(job.card.metrics[0])
    return Selection(main.name, "max" if main.higher_is_better else "min", job.options.patience)


def _note(done: Done) -> str:
    return f"loss {done.loss:.3f}, {done.tokens / done.seconds:,.0f} tokens/s"


def _note_in_ledger(job: Job, hashed: str, selection: Selection) -> None:
    ledger = read_ledger(job.folder).with_plan(hashed)
    chosen = f"checkpoint with the {selection.direction}imum of {selection.metric}"
    ledger = ledger.with_fitted("weights", "train", job.train_hash, len(job.train))
    write_ledger(job.folder, ledger.with_fitted(chosen, "dev", job.dev_hash, len(job.dev)))


def _note_engine(folder: Path, precision: str, accelerator: Accelerator) -> None:
    """Write into environment.json what the options leave open; Refused where a resumed run would change precision."""
    path = folder / "environment.json"
    before = read_json(path) if path.exists() else {}
    if before.get("precision", precision) != precision:
        raise Refused(
            f"{folder}: was started in {before['precision']}; continue with --precision {before['precision']}"
        )
    engine = {
        "precision": precision,
        "device": accelerator.device.type,
        "processes": accelerator.num_processes,
        "threads": torch.get_num_threads(),
    }
    write_json(path, before | engine)


def is_main_process() -> bool:
    """Whether this process is the one that writes, known before torch is imported: accelerate launch sets RANK."""
    return os.environ.get("RANK", "0") == "0"
