"""What a task is to the code that trains and predicts: a frozen dataclass of functions (tasks/ fills it in).

Encoding and decoding import no torch, so that an exported model is asked without it; losses do, when they are called.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from heldout.records import Card, Example, Prediction
from heldout.train.packed import Packed
from heldout.train.windows import Window

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from heldout.train.loop import Loss

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
    """The windows of every example, in order, and what was read of each: {"tokens", "lost"}.

    Lists as a task makes them, or flat arrays that look like lists (heldout/train/packed.py).
    """

    windows: Sequence[Sequence[Window]]
    seen: Sequence[dict[str, int]]

    def flat(self) -> Sequence[Window]:
        """All windows in a row, in the order of the examples."""
        if isinstance(self.windows, Packed):
            return self.windows.flat()
        return [window for windows in self.windows for window in windows]

    def lengths(self) -> list[int]:
        """The tokens of each example's windows together."""
        if isinstance(self.windows, Packed):
            return list(self.windows.lengths.tolist())
        return [sum(map(len, windows)) for windows in self.windows]


def _card_labels(card: Card) -> Sequence[str]:
    return card.labels


def _nowhere(window: Window) -> Sequence[int]:
    return ()


def _same(task: Task, card: Card) -> Task:
    return task


def _plain_logits(outputs: Any) -> Any:
    return outputs.logits


class AutoClass:
    """A class of transformers by its name, imported when it is first asked for something (from_pretrained)."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(getattr(importlib.import_module("transformers"), self.name), attribute)


@dataclass(frozen=True)
class Task:
    """A task: ``encode`` makes windows, ``loss`` is summed over a micro-batch, ``decode`` makes predictions.

    ``model`` is a class of transformers with from_pretrained (an AutoClass). ``decode`` gets the examples, what was
    encoded, the logits of all windows in order (of (window's length, labels) where every position has some), and the
    labels in the order of the logits. ``head`` names the columns of the model's logits; ``logits`` takes them from its
    outputs, torch's or, of an exported model, numpy's. ``for_card`` is the task as this card asks it (where questions
    may have no answer, a system may say so). ``positions`` tells of each position of a window what is read there (a
    word's place), negative for nothing: where a student's outputs are compared with its teacher's. Tasks of one answer
    a window have none.
    """

    name: str
    model: Any
    encode: Callable[[Sequence[Example], Encoding], Encoded]
    loss: Loss
    decode: Callable[[Sequence[Example], Encoded, Logits, Sequence[str]], list[Prediction]]
    head: Callable[[Card], Sequence[str]] = _card_labels
    logits: Callable[[Any], Any] = _plain_logits
    for_card: Callable[[Task, Card], Task] = _same
    positions: Callable[[Window], Sequence[int]] = _nowhere


def answers(
    task: Task, encoding: Encoding, labels: Sequence[str], examples: Sequence[Example], encoded: Encoded, logits: Logits
) -> list[Prediction]:
    """The predictions that a model's logits make, ``encoding.labels`` being its labels and ``labels`` the card's."""
    own = list(encoding.labels)
    if own != list(labels):
        columns = [own.index(label) for label in labels]
        logits = [rows[..., columns] for rows in logits]
    return task.decode(examples, encoded, logits, labels)


def encoding_of(tokenizer: PreTrainedTokenizerFast, labels: Sequence[str], options: Mapping[str, Any]) -> Encoding:
    """The encoding that a run's options ask for; what older runs did not have keeps its default."""
    fields = {field.name for field in dataclasses.fields(Encoding)}
    return Encoding(tokenizer, labels, **{key: value for key, value in options.items() if key in fields})
