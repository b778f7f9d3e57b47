"""Our side: what heldout finetune does, from the same functions, without checkpoints and without choosing on dev."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heldout.bench.child import Channel, since, timed
from heldout.bench.flops import costs, done
from heldout.bench.training.taken import Row, Taken
from heldout.bench.training.work import Work, leave
from heldout.train.finetune import Job, Ready, ready
from heldout.train.loop import Done, train
from heldout.train.plan import Step
from heldout.train.precision import make_accelerator, resolve
from heldout.train.windows import Window


def work(spec: Mapping[str, Any], channel: Channel) -> None:
    """Blocks of optimizer steps by heldout.train.loop, or a whole training and its answers to dev."""
    mine = Work.of(spec)
    precision, _ = resolve(mine.options.precision)
    accelerator = make_accelerator(precision)
    made = ready(job_of(mine), accelerator)
    model: Any = accelerator.unwrap_model(made.system.model)
    steps = train(made.system.model, made.optimizer, made.plan, made.recipe, accelerator)
    said: dict[str, Any] = {"precision": precision, "costs": asdict(costs(model)), "done": asdict(done(model))}
    said |= {"arguments": _arguments(mine), "parameters": model.num_parameters(), "steps": len(made.plan)}
    channel.say(said)
    if mine.out is None:
        _blocks(mine, made, steps, channel)
    elif channel.asked():
        _whole(mine, made, steps, channel)


def job_of(mine: Work) -> Job:
    """The fine-tuning that this work asks for."""
    # The folder is for checkpoints and the ledger, which are not written here.
    return Job(
        folder=Path(),
        task=mine.task,
        card=mine.card,
        train=mine.train,
        train_hash="",
        dev=mine.dev,
        dev_hash="",
        options=mine.options,
        seed=mine.seed,
        resume_hint="",
    )


def _arguments(mine: Work) -> dict[str, Any]:
    """What of our options says how we train; the rest is about reading, and the same for both sides."""
    names = ("batch_size", "learning_rate", "weight_decay", "warmup", "attention_dropout", "token_budget")
    return {name: getattr(mine.options, name) for name in names} | {"seed": mine.seed}


def _blocks(mine: Work, made: Ready, steps: Iterator[Done], channel: Channel) -> None:
    for taken, seconds in timed(channel, steps):
        channel.say(_taken(mine, made, made.plan[taken]).to_json() | {"seconds": seconds})


def _whole(mine: Work, made: Ready, steps: Iterator[Done], channel: Channel) -> None:
    started = time.perf_counter()
    for _ in steps:
        pass
    seconds = since(started)
    taken = _taken(mine, made, made.plan)
    leave(mine, made.system, taken, seconds)
    channel.say(taken.to_json() | {"seconds": seconds})


def _taken(mine: Work, made: Ready, steps: Sequence[Step]) -> Taken:
    """What these steps read: their windows are a function of the step, so nothing need be noted while time runs."""
    taken = Taken()
    for step in steps:
        taken.add(_row(mine, window) for window in made.recipe.windows(step))
    return taken


def _row(mine: Work, window: Window) -> Row:
    # Of a span the window's length stands behind its start and end.
    target = window.target[:2] if mine.card.kind == "span" else window.target
    return window.inputs["input_ids"], target
