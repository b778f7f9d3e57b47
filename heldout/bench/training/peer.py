"""The peer: transformers' Trainer as its examples run it, or tuned as a careful user would.

trainer         dynamic padding, random order, fp32, AdamW and the linear schedule as TrainingArguments has them
trainer-tuned   the same in bf16, with train_sampling_strategy="group_by_length"

Its data are made as the examples make them: a Dataset mapped through the tokenizer, a DataCollator of transformers.
Batch size, learning rate, warm-up, weight decay, optimizer steps and seed are ours (--warmup 0 --weight-decay 0 are the
examples' own); everything else is its default. Its weights answer dev through our decoding in fp32, as ours do, so that
quality is about what was learned alone.
"""

import tempfile
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from heldout.bench.child import Channel, since
from heldout.bench.flops import costs
from heldout.bench.training.examples import Prepared, prepared
from heldout.bench.training.taken import Row, Taken
from heldout.bench.training.work import Work, leave
from heldout.train.models import label_names, load_tokenizer
from heldout.train.system import System
from heldout.train.task import encoding_of
from heldout.train.untrusted import Source

#: What a careful user changes.
TUNED: dict[str, Any] = {"bf16": True, "train_sampling_strategy": "group_by_length"}
#: What keeps it from writing, logging and saving, which would be unfair to it.
QUIET: dict[str, Any] = {"save_strategy": "no", "logging_strategy": "no", "report_to": "none", "disable_tqdm": True}


def work(spec: Mapping[str, Any], channel: Channel) -> None:
    """Blocks of Trainer's optimizer steps, or a whole training and its answers to dev."""
    from transformers import Trainer, TrainingArguments, set_seed

    mine = Work.of(spec)
    set_seed(mine.seed)
    data = prepared(mine)
    given = _arguments(mine, spec["steps"])
    collator = _Noting(data)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(output_dir=folder, **given, **QUIET)
        pauses = _pauses(collator, channel, whole=mine.out is not None)
        trainer = Trainer(
            model=data.model,
            args=arguments,
            train_dataset=data.dataset,
            data_collator=collator,
            processing_class=data.tokenizer,
            callbacks=[pauses],
        )
        said = {"precision": "bf16" if arguments.bf16 else "fp32", "costs": asdict(costs(data.model))}
        channel.say(said | {"arguments": given, "parameters": data.model.num_parameters(), "steps": spec["steps"]})
        started = time.perf_counter()
        try:
            trainer.train()
        except _Enough:
            return
    seconds = since(started)
    pauses.count()
    leave(mine, _system(mine, trainer.model, trainer.accelerator), pauses.taken, seconds)
    channel.say(pauses.taken.to_json() | {"seconds": seconds})


def _arguments(mine: Work, steps: int) -> dict[str, Any]:
    """The TrainingArguments that are given; all others keep their defaults."""
    import torch

    options = mine.options
    shared: dict[str, Any] = {
        "per_device_train_batch_size": options.batch_size,
        "learning_rate": options.learning_rate,
        "warmup_steps": round(steps * options.warmup),
        "weight_decay": options.weight_decay,
        "max_steps": steps,
        "seed": mine.seed,
    }
    # Without a GPU Trainer takes bf16 only where it is told to stay on the CPU.
    own: dict[str, Any] = {} if torch.cuda.is_available() else {"use_cpu": True}
    return shared | own | (TUNED if mine.side == "trainer-tuned" else {})


class _Enough(Exception):
    """The parent asks for no further block."""


class _Noting:
    """The example's collator, which also remembers the rows of every batch; what they come to is counted later."""

    def __init__(self, data: Prepared) -> None:
        self.data = data
        self.batches: deque[list[Row]] = deque()

    def __call__(self, features: list[dict[str, Any]]) -> Any:
        self.batches.append([(feature["input_ids"], self.data.target(feature)) for feature in features])
        return self.data.collator(features)


def _pauses(collator: _Noting, channel: Channel, *, whole: bool) -> Any:
    """A callback that stops after each block until the next is asked for; a whole training is one block."""
    from transformers import TrainerCallback

    class Pauses(TrainerCallback):
        def __init__(self) -> None:
            self.taken = Taken()
            self.block: list[list[Row]] = []
            self.left = 0
            self.started = 0.0

        def on_train_begin(self, *_: Any, **__: Any) -> None:
            self._wait()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            self.left -= 1
            seconds = 0.0 if self.left else since(self.started)
            # The loader is a batch ahead of the training.
            self.block.append(collator.batches.popleft())
            if not whole and not self.left:
                self.count()
                channel.say(self.taken.to_json() | {"seconds": seconds})
                self._wait()

        def count(self) -> None:
            """What the batches come to, when no clock runs."""
            for batch in self.block:
                self.taken.add(batch)
            self.block.clear()

        def _wait(self) -> None:
            self.left = channel.asked()
            if not self.left:
                raise _Enough
            self.taken = self.taken if whole else Taken()
            self.started = time.perf_counter()

    return Pauses()


def _system(mine: Work, model: Any, accelerator: Any) -> System:
    """The peer's weights behind our encoding and decoding."""
    source = Source(mine.options.model, mine.options.trust_remote_code)
    tokenizer = load_tokenizer(source, mine.options.max_length)
    encoding = encoding_of(tokenizer, label_names(model), vars(mine.options))
    return System(mine.task, model, encoding, mine.task.head(mine.card), accelerator)
