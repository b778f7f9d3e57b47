"""Checkpoints: safetensors and JSON, written under a temporary name and renamed; a damaged one is passed over.

    checkpoints/step-200/  model.safetensors  optimizer.safetensors  state.json {"step", "files": {name: sha256}, …}

No generator state is kept: dropout is a function of seed and step (loop.py), the order of examples of the plan.
"""

import errno
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, load_model, save_file
from torch import nn
from torch.distributed.tensor import DTensor

from heldout.errors import Failed
from heldout.runs import atomic
from heldout.train.sharded import gathered, put, spread, weights

FILES = ("model.safetensors", "optimizer.safetensors")


@dataclass(frozen=True)
class Tensors:
    """What a checkpoint holds of model and optimizer, whole, whatever the processes have of it."""

    model: Mapping[str, torch.Tensor]
    optimizer: Mapping[str, torch.Tensor]


def gather(model: nn.Module, optimizer: torch.optim.Optimizer, *, keep: bool = True) -> Tensors:
    """The tensors of a checkpoint; where weights are spread over the processes, every one must ask.

    None of them where this process is not to ``keep`` them: whole, they are three times the model.
    """
    return Tensors(weights(model, keep=keep), _optimizer_tensors(optimizer, keep))


def save(folder: Path, tensors: Tensors, state: Mapping[str, Any]) -> Path:
    """Write checkpoints/step-N of a run, N = ``state["step"]``, the steps taken; Failed on a full disk."""
    target = folder / "checkpoints" / f"step-{state['step']}"
    with atomic(target) as temporary:
        temporary.mkdir()
        with disk_errors():
            save_file(dict(tensors.model), str(temporary / FILES[0]))
            save_file(dict(tensors.optimizer), str(temporary / FILES[1]))
        sums = {name: _sha256(temporary / name) for name in FILES}
        (temporary / "state.json").write_text(json.dumps(dict(state) | {"files": sums}, indent=2) + "\n")
    return target


@contextmanager
def disk_errors() -> Iterator[None]:
    """safetensors reports a full disk with an exception of its own; raise the system's, which ``atomic`` explains."""
    try:
        yield
    except SafetensorError as error:
        number = re.search(r"os error (\d+)", str(error))
        raise OSError(int(number[1]) if number else errno.EIO, str(error)) from error


def load(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer | None) -> None:
    """Put a checkpoint's weights into the model and, where given, its moments into the optimizer.

    Failed where its files are not those that were written.
    """
    if _whole(path) is None:
        raise Failed(f"{path}: is damaged or gone; train again with another --out")
    if any(isinstance(parameter, DTensor) for parameter in model.parameters()):
        put(model, load_file(path / FILES[0]))
    else:
        load_model(model, path / FILES[0], strict=True)
    if optimizer is not None:
        _restore(optimizer, load_file(path / FILES[1]))


def latest(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    """The newest whole checkpoint of a run and its state; newer, damaged ones are named on stderr and removed."""
    damaged = []
    found = None
    for path in _by_step(folder):
        state = _whole(path)
        if state is not None:
            found = path, state
            break
        damaged.append(path)
    for path in damaged:
        instead = f"using {found[0].name}" if found else "starting from the first step"
        print(f"heldout: {path} is damaged; {instead}", file=sys.stderr)
        # Every process looks, and one of them is the first to remove it.
        shutil.rmtree(path, ignore_errors=True)
    return found


def prune(folder: Path) -> None:
    """Remove all checkpoints but the two newest (the older is the fallback of a damaged one) and the best of each."""
    newest = _by_step(folder)[:2]
    states = [json.loads((path / "state.json").read_text()) for path in newest]
    keep = {path.name for path in newest} | {f"step-{state.get('best_step')}" for state in states}
    for path in _by_step(folder):
        if path.name not in keep:
            shutil.rmtree(path)


def _by_step(folder: Path) -> list[Path]:
    found = (folder / "checkpoints").glob("step-*")
    return sorted(found, key=lambda path: -int(path.name.removeprefix("step-")))


def _whole(path: Path) -> dict[str, Any] | None:
    try:
        state: dict[str, Any] = json.loads((path / "state.json").read_text())
        sums = state["files"]
        whole = all(_sha256(path / name) == sums[name] for name in FILES)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return state if whole else None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _optimizer_tensors(optimizer: torch.optim.Optimizer, keep: bool) -> dict[str, torch.Tensor]:
    """The optimizer's state as flat tensors "ROW.NAME", rows in the order of its parameters."""
    state = optimizer.state_dict()["state"]
    tensors = ((f"{row}.{name}", value) for row, values in state.items() for name, value in values.items())
    return gathered(((name, torch.as_tensor(value)) for name, value in tensors), keep)


def _restore(optimizer: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]) -> None:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        row, name = key.split(".", 1)
        state.setdefault(int(row), {})[name] = spread(tensor, parameters[int(row)])
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
