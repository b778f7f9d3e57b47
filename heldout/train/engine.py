"""What every training shares with every other: the engine, noted where the run is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator

from heldout.errors import Refused
from heldout.runs import read_json, write_json
from heldout.train.options import LoopOptions
from heldout.train.precision import make_accelerator, resolve
from heldout.train.progress import say


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
