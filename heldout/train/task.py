"""What a task is to the code that trains and predicts: a frozen dataclass of functions (tasks/ fills it in)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from transformers import PreTrainedTokenizerFast

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

    def flat(self) -> list[Window]:
        """All windows in one list, in the order of the examples."""
        return [window for windows in self.windows for window in windows]


@dataclass(frozen=True)
class Task:
    """A task: ``encode`` makes windows, ``loss`` is summed over a micro-batch, ``decode`` makes predictions.

    ``model`` is a class of transformers with from_pretrained. ``decode`` gets the examples, what was encoded, the
    logits of all windows in order, and the labels in the order of the logits.
    """

    name: str
    model: Any
    encode: Callable[[Sequence[Example], Encoding], Encoded]
    loss: Loss
    decode: Callable[[Sequence[Example], Encoded, Logits, Sequence[str]], list[Prediction]]
