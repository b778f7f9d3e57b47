"""The options of training, and what they may be: without torch, so that a command's --help comes at once."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from heldout.errors import Refused
from heldout.options import REQUIRED, flag, option
from heldout.train.task import Long, Only

Precision = Literal["auto", "fp32", "bf16"]

#: What --track takes: trackers of accelerate that are one package to install. tensorboard writes to RUN/tracking/, the
#: others where their own environment says (WANDB_MODE, MLFLOW_TRACKING_URI).
TRACKERS = ("tensorboard", "wandb", "mlflow")


@dataclass(frozen=True)
class LoopOptions:
    """How weights are trained, whatever they learn; fine-tuning and pretraining inherit these."""

    batch_size: int = option(16, "examples an optimizer step, over all processes")
    epochs: int = option(2, "passes over train")
    max_steps: int = option(0, "stop after so many steps (0: no limit)")
    learning_rate: float = option(5e-5, "the highest learning rate, after the warm-up")
    weight_decay: float = option(0.01, "decay of matrices; biases and norms have none")
    warmup: float = option(0.1, "share of the steps in which the learning rate rises")
    attention_dropout: float | None = option(
        None, "dropout of the attention (default: the model's own; 0 saves a CPU 4 to 6%)"
    )
    precision: Precision = option("auto", "auto is bf16 where the hardware multiplies it")
    token_budget: int = option(4096, "padded tokens a micro-batch: less memory, the same result")
    patience: int = option(0, "stop after so many evaluations without a better one (0: never)")
    eval_every: int = option(0, "steps between evaluations on dev (0: each epoch's end)")
    save_every: int = option(500, "steps between checkpoints")
    track: tuple[str, ...] = option(
        (), f"also log losses and dev's numbers to {', '.join(TRACKERS)}; again for more", metavar="TRACKER"
    )
    trust_remote_code: bool = option(False, "let code that comes with the model run on this machine")

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing, before any work."""
        for name in ("batch_size", "epochs", "token_budget", "save_every"):
            check(name, getattr(self, name), getattr(self, name) >= 1, "1 or more")
        for name in ("max_steps", "patience", "eval_every"):
            check(name, getattr(self, name), getattr(self, name) >= 0, "0 or more")
        check("learning_rate", self.learning_rate, self.learning_rate > 0, "more than 0, such as 5e-5")
        check("weight_decay", self.weight_decay, self.weight_decay >= 0, "0 or more")
        check("warmup", self.warmup, 0 <= self.warmup <= 1, "a share from 0 to 1")
        dropout = self.attention_dropout
        check("attention_dropout", dropout, dropout is None or 0 <= dropout < 1, "from 0 to less than 1")
        for name in self.track:
            check("track", name, name in TRACKERS, f"one of {', '.join(TRACKERS)}")
            if find_spec(name) is None:
                raise Refused(f"--track {name}: it is not installed; pip install {name}")


def check(name: str, value: object, holds: bool, wanted: str) -> None:
    """Refuse the value of the option ``name`` where it does not hold, saying what is ``wanted``."""
    if not holds:
        raise Refused(f"{flag(name)} {value}: give {wanted}")


@dataclass(frozen=True)
class ReadOptions(LoopOptions):
    """How a model reads what it is fine-tuned on, and how its best weights are chosen; commands inherit these."""

    max_length: int = option(256, "tokens the model reads at a time, special tokens included")
    long: Long = option("head", "what is read of a longer text (sentiment)")
    stride: int | None = option(None, "tokens that windows of a longer text share (default: a quarter; ner, qa)")
    only: Only = option("", "the one text of a pair that is read, as a control (nli)")
    max_answer: int = option(30, "the longest answer in tokens (qa)")
    freeze: bool = option(False, "train the head (and a pooler) only: a probe of the encoder as it is")
    select: Literal["main", "loss"] = option("main", "best weights by dev's main metric (highest) or loss (lowest)")

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing, before any work."""
        super().__post_init__()
        check("max_answer", self.max_answer, self.max_answer >= 1, "1 or more")
        check("max_length", self.max_length, self.max_length >= 3, "3 or more")
        stride = self.stride
        check("stride", stride, stride is None or 0 <= stride < self.max_length, "0 or more, less than --max-length")


@dataclass(frozen=True)
class FitOptions(ReadOptions):
    """How a model is fine-tuned."""

    model: str = option(REQUIRED, "the encoder to start from: a folder or a hub id", metavar="MODEL")
