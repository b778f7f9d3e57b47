"""What every training shares with every other: the options of the loop, and the engine noted where the run is."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator

from heldout.errors import Refused
from heldout.options import flag, option
from heldout.runs import read_json, write_json
from heldout.train.precision import Precision, make_accelerator, resolve
from heldout.train.progress import say

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


def start(folder: Path, options: LoopOptions) -> Accelerator:
    """accelerate's engine in the precision that is wanted; says which, and notes it in the run's environment.json.

    Its trackers, where some are asked for, begin with the run's options.
    """
    precision, reason = resolve(options.precision)
    accelerator = make_accelerator(precision, options.track, folder / "tracking" if options.track else None)
    if options.track:
        accelerator.init_trackers("heldout", _plain(vars(options)))
    if accelerator.is_main_process:
        spread = ", each with a share of the weights (FSDP2)" if accelerator.is_fsdp2 else ""
        where = f"{accelerator.num_processes} process(es) on {accelerator.device.type}{spread}"
        say(f"precision {precision}: {reason}; {where}")
        _note(folder, precision, accelerator)
    return accelerator


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as every tracker takes them: numbers and words."""
    return {name: value if isinstance(value, int | float) else str(value) for name, value in options.items()}


def finish_tracking(accelerator: Accelerator) -> None:
    """Let the trackers write what they hold. (accelerate's end_training would also end the group of processes.)"""
    for tracker in accelerator.trackers:
        tracker.finish()


def _note(folder: Path, precision: str, accelerator: Accelerator) -> None:
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
        "sharded": accelerator.is_fsdp2,
        "threads": torch.get_num_threads(),
    }
    write_json(path, before | engine)
