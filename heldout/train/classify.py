"""What tasks share that give one label a text or a pair: encoding into windows, loss, decoding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.errors import Refused
from heldout.records import Example, Prediction
from heldout.train.framing import bodies, cut, frame, longest_first
from heldout.train.task import Encoded, Encoding, Logits
from heldout.train.windows import Window

if TYPE_CHECKING:
    from torch import Tensor

#: The pieces that are read of one example, each as the model's inputs, and how many tokens its texts have.
Pieces = tuple[list[dict[str, list[int]]], int, int]


def encode_texts(examples: Sequence[Example], encoding: Encoding, field: str) -> Encoded:
    """One text an example, in windows of at most ``max_length`` tokens; those of one example share its weight."""
    framed = frame(encoding.tokenizer, 1)
    room = framed.room(encoding.max_length)

    def pieces(body: list[int]) -> Pieces:
        parts = cut(body, room, encoding.long)
        kept = len(body) if encoding.long == "windows" else len(parts[0])
        return [framed.around(part) for part in parts], kept, len(body)

    texts = [example.text[field] for example in examples]
    return _encoded(examples, encoding, map(pieces, bodies(encoding, texts)))


def encode_pairs(examples: Sequence[Example], encoding: Encoding, first: str, second: str) -> Encoded:
    """Two texts an example in one sequence; where they are too long together, tokens are taken from the longer."""
    if encoding.long == "windows":
        raise Refused("--long windows: one text is read in windows, a pair is not; use head, tail or head+tail")
    framed = frame(encoding.tokenizer, 2)
    room = framed.room(encoding.max_length)

    def pieces(one: list[int], other: list[int]) -> Pieces:
        kept = longest_first(len(one), len(other), room)
        parts = [cut(body, size, encoding.long)[0] for body, size in zip((one, other), kept, strict=True)]
        return [framed.around(*parts)], sum(kept), len(one) + len(other)

    sides = [bodies(encoding, [example.text[field] for example in examples]) for field in (first, second)]
    return _encoded(examples, encoding, map(pieces, *sides))


def _encoded(examples: Sequence[Example], encoding: Encoding, all_pieces: Iterable[Pieces]) -> Encoded:
    rows: list[list[Window]] = []
    seen: list[dict[str, int]] = []
    ids_of_label = {label: row for row, label in enumerate(encoding.labels)}
    for row, (example, (pieces, kept, whole)) in enumerate(zip(examples, all_pieces, strict=True)):
        target = ids_of_label.get(example.gold)
        rows.append([Window(row, inputs, target, 1 / len(pieces)) for inputs in pieces])
        seen.append({"tokens": kept, "lost": whole - kept})
    return Encoded(rows, seen)


def loss(outputs: Any, targets: Tensor, weights: Tensor) -> Tensor:
    """The weighted sum of cross entropies."""
    from heldout.train.losses import cross_entropy

    return cross_entropy(outputs.logits, targets, weights)


def decode(examples: Sequence[Example], encoded: Encoded, logits: Logits, labels: Sequence[str]) -> list[Prediction]:
    """Answers and scores: softmax of each window in double precision, averaged over an example's windows."""
    predictions, row = [], 0
    for example, windows, seen in zip(examples, encoded.windows, encoded.seen, strict=True):
        shares = np.mean([_softmax(window) for window in logits[row : row + len(windows)]], axis=0)
        row += len(windows)
        predictions.append(Prediction(example.id, labels[int(shares.argmax())], [float(p) for p in shares], seen=seen))
    return predictions


def _softmax(logits: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    shifted = np.exp(logits.astype(np.float64) - float(logits.max()))
    shares: np.ndarray[Any, np.dtype[np.float64]] = shifted / shifted.sum()
    return shares
