"""How a model does a task: encode, model class, loss, decode; one file a task, found by its name.

A task is a frozen dataclass of functions: ``dataclasses.replace(task, loss=…)`` makes a new one from another.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from transformers import PreTrainedTokenizerFast

from heldout.errors import Refused
from heldout.options import nearest
from heldout.records import Example, Prediction
from heldout.train.loop import Loss
from heldout.train.windows import Window

Long = Literal["head", "tail", "head+tail", "windows"]
Logits = Sequence["np.ndarray[Any, np.dtype[np.float32]]"]


@dataclass(frozen=True)
class Encoding:
    """How texts become windows: at most ``max_length`` tokens, and what happens to longer texts."""

    tokenizer: PreTrainedTokenizerFast
    labels: Sequence[str]
    max_length: int
    long: Long = "head"


@dataclass(frozen=True)
class Encoded:
    """The windows of every example, in order, and what was read of each: {"tokens", "lost"}."""

    windows: Sequence[Sequence[Window]]
    seen: Sequence[dict[str, int]]


@dataclass(frozen=True)
class Task:
    """A task: ``encode`` makes windows, ``loss`` is summed over a micro-batch, ``decode`` makes predictions.

    ``decode`` gets the examples, what was encoded, the logits of all windows in order, and the labels in the order
    of the logits.
    """

    name: str
    model: Any
    encode: Callable[[Sequence[Example], Encoding], Encoded]
    loss: Loss
    decode: Callable[[Sequence[Example], Encoded, Logits, Sequence[str]], list[Prediction]]


def names() -> list[str]:
    """The tasks there are: the files of this folder."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def load_task(name: str) -> Task:
    """The task of that name; Refused naming the nearest where there is none."""
    if name not in names():
        raise Refused(f"unknown task {name!r}{nearest(name, names())}; there are {', '.join(names())}")
    task = importlib.import_module(f"heldout.tasks.{name}").TASK
    assert isinstance(task, Task)
    return task
