"""Sentiment: one text, one of two or more labels.

    {"id": "r1", "text": {"text": "The plot drags, but I was never bored."}, "gold": "positive", "about": {}}

    [CLS] the plot drags , but i was never bored . [SEP]  →  logits (labels,)  →  softmax  →  answer and scores

A text past the limit keeps its head, its tail or both, or is read in windows whose probabilities are averaged.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor
from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast

from heldout.errors import Refused
from heldout.records import Example, Prediction
from heldout.train.losses import cross_entropy
from heldout.train.task import Encoded, Encoding, Logits, Long, Task
from heldout.train.windows import Window

#: Texts tokenised at a time: enough for the tokenizer's threads, little memory.
BLOCK = 1000


@dataclass(frozen=True)
class Frame:
    """The special tokens that the tokenizer puts around one text, with their segment ids, and the text's own."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    types_before: tuple[int, ...]
    types_after: tuple[int, ...]
    type_inside: int


def encode(examples: Sequence[Example], encoding: Encoding) -> Encoded:
    """Windows of at most ``max_length`` tokens; the windows of one example share its weight equally."""
    frame = _frame(encoding.tokenizer)
    room = encoding.max_length - len(frame.before) - len(frame.after)
    if room < 1:
        raise Refused(f"--max-length {encoding.max_length}: leaves no token of the text; give more")
    rows: list[list[Window]] = []
    seen: list[dict[str, int]] = []
    ids_of_label = {label: row for row, label in enumerate(encoding.labels)}
    for start in range(0, len(examples), BLOCK):
        block = examples[start : start + BLOCK]
        texts = [example.text["text"] for example in block]
        bodies = encoding.tokenizer.backend_tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        for example, body in zip(block, (body.ids for body in bodies), strict=True):
            pieces = cut(body, room, encoding.long)
            target = ids_of_label.get(example.gold)
            weight = 1 / len(pieces)
            rows.append([Window(len(rows), _inputs(piece, frame, encoding), target, weight) for piece in pieces])
            kept = len(body) if encoding.long == "windows" else len(pieces[0])
            seen.append({"tokens": kept, "lost": len(body) - kept})
    return Encoded(rows, seen)


def cut(body: Sequence[int], room: int, long: Long) -> list[list[int]]:
    """The piece or pieces of a text's tokens that the model reads, each of at most ``room`` tokens.

    Windows cover the whole text, overlap by a quarter at least, and are spread evenly.

    >>> cut([1, 2, 3, 4, 5], 3, "head"), cut([1, 2, 3, 4, 5], 3, "tail"), cut([1, 2, 3, 4, 5], 3, "head+tail")
    ([[1, 2, 3]], [[3, 4, 5]], [[1, 4, 5]])
    """
    if len(body) <= room:
        return [list(body)]
    if long == "head":
        return [list(body[:room])]
    if long == "tail":
        return [list(body[-room:])]
    if long == "head+tail":
        # A quarter from the head, the rest from the tail: Sun et al. 2019 (section 5.3.1) keep 128 + 382 of 510.
        head = min(max(room // 4, 1), room - 1)
        return [[*body[:head], *body[len(body) - (room - head) :]]]
    stride = max(room * 3 // 4, 1)
    count = 1 + math.ceil((len(body) - room) / stride)
    starts = [round(number * (len(body) - room) / (count - 1)) for number in range(count)]
    return [list(body[start : start + room]) for start in starts]


def loss(outputs: Any, targets: Tensor, weights: Tensor) -> Tensor:
    """The weighted sum of cross entropies."""
    return cross_entropy(outputs.logits, targets, weights)


def decode(examples: Sequence[Example], encoded: Encoded, logits: Logits, labels: Sequence[str]) -> list[Prediction]:
    """Answers and scores: softmax of each window in double precision, averaged over an example's windows."""
    predictions, row = [], 0
    for example, windows, seen in zip(examples, encoded.windows, encoded.seen, strict=True):
        shares = np.mean([_softmax(window) for window in logits[row : row + len(windows)]], axis=0)
        row += len(windows)
        predictions.append(Prediction(example.id, labels[int(shares.argmax())], [float(p) for p in shares], seen=seen))
    return predictions


def _softmax(logits: "np.ndarray[Any, Any]") -> "np.ndarray[Any, np.dtype[np.float64]]":
    shifted = np.exp(logits.astype(np.float64) - float(logits.max()))
    shares: np.ndarray[Any, np.dtype[np.float64]] = shifted / shifted.sum()
    return shares


def _frame(tokenizer: PreTrainedTokenizerFast) -> Frame:
    """Read off what the tokenizer itself puts around a text, so that every kind of model is framed its own way."""
    whole = tokenizer("a", return_special_tokens_mask=True)
    special = whole["special_tokens_mask"]
    ids = whole["input_ids"]
    types = whole.get("token_type_ids", [0] * len(ids))
    if 0 not in special or 1 not in special:
        raise Refused("the tokenizer puts no special tokens around a text ([CLS] … [SEP]); give an encoder's tokenizer")
    first = special.index(0)
    last = len(special) - special[::-1].index(0)
    return Frame(tuple(ids[:first]), tuple(ids[last:]), tuple(types[:first]), tuple(types[last:]), types[first])


def _inputs(piece: Sequence[int], frame: Frame, encoding: Encoding) -> dict[str, list[int]]:
    inputs = {"input_ids": [*frame.before, *piece, *frame.after]}
    if "token_type_ids" in encoding.tokenizer.model_input_names:
        inputs["token_type_ids"] = [*frame.types_before, *[frame.type_inside] * len(piece), *frame.types_after]
    return inputs


TASK = Task("sentiment", AutoModelForSequenceClassification, encode, loss, decode)
