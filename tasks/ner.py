"""Named entities: a tag for every word, read off its first sub-word.

    {"id": "n1", "text": {"words": ["Greta", "left", "Malmö"]}, "gold": ["B-person", "O", "B-place"], "about": {}}

    [CLS] gre ##ta left malm ##o [SEP]  →  logits (positions, labels)  →  softmax at gre, left, malm  →  scores a word
                                                                        →  the best valid IOB2 sequence  →  answer

Long sentences are read in windows that share words; each word has one window in which it is trained and read, the one
that shows most of what stands around it. A word that comes to no sub-word (control characters, white space) is
answered O with probability 1: what could not be read is a miss wherever gold says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import pre_tokenizers

from heldout.bio import OUTSIDE, best_valid, strict
from heldout.records import Example, Prediction
from heldout.train.framing import BLOCK, Frame, frame
from heldout.train.task import AutoClass, Encoded, Encoding, Logits, Task
from heldout.train.windows import IGNORED, Window

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerFast

#: The place of positions from which no word is read.
NOWHERE = -1


@dataclass(frozen=True)
class Pieces:
    """The sub-words of a sentence: ``words`` are the places of those words that have any, ``ids`` are theirs."""

    words: list[int]
    ids: list[list[int]]


def encode(examples: Sequence[Example], encoding: Encoding) -> Encoded:
    """Windows of at most ``max_length`` tokens, cut between words; a window's weight is the words that it is read for.

    The tags of gold decide nothing but targets (FAULTS N7). Of a word that fills more than a window, the first
    sub-words are read and the others counted as lost.
    """
    framed = frame(encoding.tokenizer, 1)
    room = framed.room(encoding.max_length)
    stride = room // 4 if encoding.stride is None else encoding.stride
    ids_of_label = {label: row for row, label in enumerate(encoding.labels)}
    rows: list[list[Window]] = []
    seen: list[dict[str, int]] = []
    for row, (example, whole) in enumerate(zip(examples, _pieces(examples, encoding.tokenizer), strict=True)):
        pieces = Pieces(whole.words, [ids[:room] for ids in whole.ids])
        lengths = [len(ids) for ids in pieces.ids]
        spans = cut(lengths, room, stride)
        read_in = most_context(lengths, spans)
        # A sentence without gold (distillation needs none) has a target for none of its words.
        golds = example.gold or [None] * len(example.text["words"])
        targets = [ids_of_label.get(tag, IGNORED) for tag in golds]
        rows.append(
            [
                _window(row, pieces, framed, span, [word for word in range(*span) if read_in[word] == number], targets)
                for number, span in enumerate(spans)
            ]
        )
        seen.append({"tokens": sum(lengths), "lost": sum(map(len, whole.ids)) - sum(lengths)})
    return Encoded(rows, seen)


def _pieces(examples: Sequence[Example], tokenizer: PreTrainedTokenizerFast) -> Iterator[Pieces]:
    _begin_words_with_a_space(tokenizer)
    for start in range(0, len(examples), BLOCK):
        sentences = [example.text["words"] for example in examples[start : start + BLOCK]]
        # Not encode_batch_fast: it leaves out which word a sub-word is of.
        for found in tokenizer.backend_tokenizer.encode_batch(
            sentences, is_pretokenized=True, add_special_tokens=False
        ):
            by_word: dict[int, list[int]] = {}
            # Without special tokens every sub-word is of some word.
            words = [word for word in found.word_ids if word is not None]
            for word, identity in zip(words, found.ids, strict=True):
                by_word.setdefault(word, []).append(identity)
            yield Pieces(list(by_word), list(by_word.values()))


def _begin_words_with_a_space(tokenizer: PreTrainedTokenizerFast) -> None:
    """Let a byte-level tokenizer (RoBERTa, GPT-2) put a space before each word of a list, as in text (FAULTS Q5).

    Without it "Malmö" behind another word would be the sub-words of a text's beginning. The setting is saved with the
    model, so that whoever loads it splits words as it was trained.
    """
    top = tokenizer.backend_tokenizer.pre_tokenizer
    # The stubs of tokenizers don't know that a Sequence can be walked through.
    parts = list(top) if isinstance(top, pre_tokenizers.Sequence) else [top]  # type: ignore[call-overload]
    for part in parts:
        if isinstance(part, pre_tokenizers.ByteLevel) and not part.add_prefix_space:
            part.add_prefix_space = True
            # Under this name save_pretrained writes it and the tokenizer's class reads it.
            tokenizer.add_prefix_space = True


def cut(lengths: Sequence[int], room: int, stride: int) -> list[tuple[int, int]]:
    """Windows over words of these lengths in sub-words, none above ``room``: (first word, word behind the last).

    Each window is as full as it can be, and begins with as many words of the one before as ``stride`` sub-words hold.

    >>> cut([1, 1, 1, 1, 1], room=3, stride=1), cut([2, 3, 1], room=3, stride=2), cut([], room=3, stride=1)
    ([(0, 3), (2, 5)], [(0, 1), (1, 2), (2, 3)], [(0, 0)])
    """
    before = [0, *accumulate(lengths)]
    spans: list[tuple[int, int]] = []
    first = end = 0
    while not spans or end < len(lengths):
        while end < len(lengths) and before[end + 1] - before[first] <= room:
            end += 1
        spans.append((first, end))
        # A window without the next word would be no step forward.
        while end < len(lengths) and (before[end] - before[first] > stride or before[end + 1] - before[first] > room):
            first += 1
    return spans


def most_context(lengths: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[int]:
    """For each word the window that shows most on its poorer side, in sub-words; of equals the first.

    >>> most_context([1, 1, 1, 1, 1, 1], [(0, 4), (2, 6)])
    [0, 0, 0, 1, 1, 1]
    """
    before = [0, *accumulate(lengths)]
    best, read_in = [-1] * len(lengths), [0] * len(lengths)
    for number, (first, end) in enumerate(spans):
        for word in range(first, end):
            shown = min(before[word] - before[first], before[end] - before[word + 1])
            if shown > best[word]:
                best[word], read_in[word] = shown, number
    return read_in


def _window(
    row: int, pieces: Pieces, framed: Frame, span: tuple[int, int], read: Sequence[int], targets: Sequence[int]
) -> Window:
    """The window over a span of words, ``read`` being those of them that are trained and read here."""
    starts = list(accumulate(map(len, pieces.ids[slice(*span)]), initial=len(framed.special[0])))
    inputs = framed.around([identity for ids in pieces.ids[slice(*span)] for identity in ids])
    places, target = ([fill] * len(inputs["input_ids"]) for fill in (NOWHERE, IGNORED))
    for word in read:
        position = starts[word - span[0]]
        places[position], target[position] = pieces.words[word], targets[pieces.words[word]]
    return Window(row, inputs, target, float(sum(tag != IGNORED for tag in target)), places)


def loss(outputs: Any, targets: Tensor, weights: Tensor) -> Tensor:
    """The sum of cross entropies over the words that are read; the loop makes it the mean over a step's words."""
    from heldout.train.losses import token_cross_entropy

    return token_cross_entropy(outputs.logits, targets, weights)


def decode(examples: Sequence[Example], encoded: Encoded, logits: Logits, labels: Sequence[str]) -> list[Prediction]:
    """Answers (the best valid sequence), scores (a row of probabilities a word), entities with theirs.

    Scores keep six significant digits (25,000 words with 13 labels are 4 MB of JSON, with all digits 7.4 MB); rows
    still sum to 1 within 2e-6. The answer is found on what is written, so the file alone gives it again.
    """
    predictions, row = [], 0
    for example, windows, seen in zip(examples, encoded.windows, encoded.seen, strict=True):
        scores = np.tile(np.array([float(label == OUTSIDE) for label in labels]), (len(example.text["words"]), 1))
        for window, values in zip(windows, logits[row : row + len(windows)], strict=True):
            places = np.array(window.places)
            scores[places[places != NOWHERE]] = _softmax(values[places != NOWHERE])
        row += len(windows)
        predictions.append(answer(example.id, scores, labels, seen))
    return predictions


def answer(identity: str, scores: NDArray[np.float64], labels: Sequence[str], seen: dict[str, int]) -> Prediction:
    """The prediction for a sentence with these probabilities (words, labels)."""
    written = [[float(f"{p:.6g}") for p in word] for word in scores.tolist()]
    tags = best_valid(written, labels)
    chosen = [word[labels.index(tag)] for word, tag in zip(written, tags, strict=True)]
    entities = [
        {"start": start, "end": end, "type": kind, "p": float(f"{np.mean(chosen[start:end]):.6g}")}
        for start, end, kind in strict(tags)
    ]
    return Prediction(identity, tags, written, entities, seen)


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """The probabilities of rows of logits, in double precision."""
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    shares: NDArray[np.float64] = shifted / shifted.sum(axis=-1, keepdims=True)
    return shares


def positions(window: Window) -> Sequence[int]:
    """The word that is read at each position, NOWHERE for none."""
    found: Sequence[int] = window.places
    return found


TASK = Task("ner", AutoClass("AutoModelForTokenClassification"), encode, loss, decode, positions=positions)
