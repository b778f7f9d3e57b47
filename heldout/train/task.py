"""What a task is to the code that trains and predicts: a frozen dataclass of functions (tasks/ fills it in)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from heldout.records import Card, Example, Prediction
from heldout.train.loop import Loss
from heldout.train.windows import Window

Long = Literal["head", "tail", "head+tail", "windows"]
Only = Literal["", "premise", "hypothesis"]
Logits = Sequence["np.ndarray[Any, np.dtype[np.float32]]"]


@dataclass(frozen=True)
class Encoding:
    """How texts become windows of at most ``max_length`` tokens.

    ``labels`` name the columns of the logits. ``long``: what is read of a longer text (label tasks). ``stride``: the
    tokens that neighbouring windows share, None for a quarter of a window (tasks whose answer stands in the text).
    ``only``: the one field that is read of a pair, "" for both. ``max_answer``: the longest answer in tokens.
    """

    tokenizer: PreTrainedTokenizerFast
    labels: Sequence[str]
    max_length: int
    long: Long = "head"
    stride: int | None = None
    only: Only = ""
    max_answer: int = 30


@dataclass(frozen=True)
class Encoded:
    """The windows of every example, in order, and what was read of each: {"tokens", "lost"}."""

    windows: Sequence[Sequence[Window]]
    seen: Sequence[dict[str, int]]

    def flat(self) -> list[Window]:
        """All windows in one list, in the order of the examples."""
        return [window for windows in self.windows for window in windows]


def _card_labels(card: Card) -> Sequence[str]:
    return card.labels


def _nowhere(window: Window) -> Sequence[int]:
    return ()


def _same(task: "Task", card: Card) -> "Task":
    return task


def _plain_logits(outputs: Any) -> Tensor:
    logits: Tensor = outputs.logits
    return logits


@dataclass(frozen=True)
class Task:
    """A task: ``encode`` makes windows, ``loss`` is summed over a micro-batch, ``decode`` makes predictions.

    ``model`` is a class of transformers with from_pretrained. ``decode`` gets the examples, what was encoded, the
    logits of all windows in order (of (window's length, labels) where every position has some), and the labels in the
    order of the logits. ``head`` names the columns of the model's logits; ``logits`` takes them from its outputs.
    ``for_card`` is the task as this card asks it (where questions may have no answer, a system may say so).
    ``positions`` tells of each position of a window what is read there (a word's place), negative for nothing: where a
    student's outputs are compared with its teacher's. Tasks of one answer a window have none.
    """

    name: str
    model: Any
    encode: Callable[[Sequence[Example], Encoding], Encoded]
    loss: Loss
    decode: Callable[[Sequence[Example], Encoded, Logits, Sequence[str]], list[Prediction]]
    head: Callable[[Card], Sequence[str]] = _card_labels
    logits: Callable[[Any], Tensor] = _plain_logits
    for_card: Callable[["Task", Card], "Task"] = _same
    positions: Callable[[Window], Sequence[int]] = _nowhere
