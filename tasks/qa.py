"""Extractive QA: a question and a passage; the answer is a piece of the passage, or, in SQuAD 2.0, there is none.

    {"id": "q1", "text": {"question": "Who built it?", "context": "The mill was built by Ada Moor in 1820."},
     "gold": [{"text": "Ada Moor", "start": 22}], "about": {"group": "Mills"}}

    [CLS] who built it ? [SEP] the mill was built by ada moor in 1820 . [SEP]  →  start and end logits, (length, 2)
      →  the best start + end over all windows  →  the passage's own characters, its p, and the null score

A passage that is too long is read in windows that overlap by --stride; only (CLS, CLS) says that there is no answer
(FAULTS Q9). Nothing but the passage's tokens is ever searched (FAULTS Q11).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heldout import spans
from heldout.data.qa import WITH_IMPOSSIBLE
from heldout.errors import Refused
from heldout.records import Card, Example, Prediction
from heldout.train.framing import BLOCK, Frame, bodies, frame
from heldout.train.places import Places, places
from heldout.train.task import AutoClass, Encoded, Encoding, Logits, Task
from heldout.train.windows import Window

if TYPE_CHECKING:
    from torch import Tensor

#: How many spans a prediction lists, as SQuAD's own scripts do.
NBEST = 20
#: The position of [CLS], which stands for "no answer here".
CLS = 0
#: The place of positions at which no answer begins or ends.
NOWHERE = -1


@dataclass(frozen=True)
class Passage:
    """A passage's token ids and where they stand in it."""

    ids: Sequence[int]
    places: Places


@dataclass(frozen=True)
class Read:
    """What a window reads of a passage: ``tokens`` from ``first`` on, which stand at ``position`` in the window.

    ``longest`` is the limit of an answer's tokens.
    """

    passage: Places
    first: int
    tokens: int
    position: int
    longest: int


def encode(examples: Sequence[Example], encoding: Encoding) -> Encoded:
    """Windows of a question and a piece of its passage; the windows of one example share its weight equally.

    ``seen`` counts the tokens read and those cut off a question that is longer than half a window. Where no gold answer
    stands whole in a window, or all are too long to be given, ``unreachable`` is 1; the example then has no weight, as
    it would teach that there is no answer. Refused where no special token stands first, to say just that.
    """
    around = frame(encoding.tokenizer, 2)
    room = around.room(encoding.max_length)
    if not around.special[0]:
        raise Refused("the tokenizer puts no special token first ([CLS]), to say that there is no answer; give another")
    questions = bodies(encoding, [example.text["question"] for example in examples])
    passages = _passages(encoding, [example.text["context"] for example in examples])
    rows, seen = [], []
    for row, (example, question) in enumerate(zip(examples, questions, strict=True)):
        kept, passage = question[: room // 2], passages[example.text["context"]]
        reads = _reads(passage, around, kept, room, encoding)
        answers = example.gold or []
        given = [answer for answer in answers if any(_holds(read, _tokens(passage, answer)) for read in reads)]
        weight = 1 / len(reads) if given or not example.gold else 0.0
        taught = _tokens(passage, _agreed(given)) if given else None
        rows.append([_window(row, read, kept, passage, around, taught, weight) for read in reads])
        seen.append(_seen(len(kept) + len(passage.ids), len(question) - len(kept), unreachable=not weight))
    return Encoded(rows, seen)


def _seen(tokens: int, lost: int, *, unreachable: bool) -> dict[str, int]:
    return {"tokens": tokens, "lost": lost} | ({"unreachable": 1} if unreachable else {})


def _passages(encoding: Encoding, texts: Sequence[str]) -> dict[str, Passage]:
    """Every distinct passage, tokenised once: SQuAD asks five questions of each."""
    distinct = iter(dict.fromkeys(texts))
    found: dict[str, Passage] = {}
    while block := list(islice(distinct, BLOCK)):
        encodings = encoding.tokenizer.backend_tokenizer.encode_batch(block, add_special_tokens=False)
        found |= {text: Passage(one.ids, places(text, one.offsets)) for text, one in zip(block, encodings, strict=True)}
    return found


def _reads(passage: Passage, around: Frame, question: Sequence[int], room: int, encoding: Encoding) -> list[Read]:
    """What each window reads of the passage, after the question."""
    room -= len(question)
    position = len(around.special[0]) + len(question) + len(around.special[1])
    starts = window_starts(len(passage.ids), room, encoding.stride)
    return [
        Read(passage.places, first, min(room, len(passage.ids) - first), position, encoding.max_answer)
        for first in starts
    ]


def _window(
    row: int,
    read: Read,
    question: Sequence[int],
    passage: Passage,
    around: Frame,
    taught: tuple[int, int] | None,
    weight: float,
) -> Window:
    """The window with its target: where the answer that is taught begins and ends, CLS where it is not; its length."""
    inputs = around.around(question, passage.ids[read.first : read.first + read.tokens])
    inside = taught is not None and _holds(read, taught)
    start, end = (token - read.first + read.position for token in taught) if taught and inside else (CLS, CLS)
    return Window(row, inputs, (start, end, len(inputs["input_ids"])), weight, read)


def window_starts(length: int, room: int, stride: int | None) -> list[int]:
    """Where the windows of ``length`` tokens begin; they share ``stride`` tokens or more and are spread evenly.

    None shares a quarter of a window; more than half is never shared.

    >>> window_starts(10, 4, None), window_starts(10, 4, 2), window_starts(3, 4, 2)
    ([0, 3, 6], [0, 2, 4, 6], [0])
    """
    if length <= room:
        return [0]
    step = room - min(room // 4 if stride is None else stride, room // 2)
    count = 1 + math.ceil((length - room) / step)
    return [round(number * (length - room) / (count - 1)) for number in range(count)]


def _agreed(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What most annotators gave, of equal numbers the first."""
    return max(answers, key=answers.count)


def _tokens(passage: Passage, answer: dict[str, Any]) -> tuple[int, int] | None:
    """The first and last token of an answer, white space at its ends left out; None where it came to none."""
    text: str = answer["text"]
    start = int(answer["start"]) + len(text) - len(text.lstrip())
    return passage.places.locate(start, start + len(text.strip()))


def _holds(read: Read, span: tuple[int, int] | None) -> bool:
    """Whether an answer of these tokens can be given from what is read."""
    if span is None:
        return False
    return read.first <= span[0] and span[1] < read.first + read.tokens and span[1] - span[0] < read.longest


def loss(outputs: Any, targets: Tensor, weights: Tensor) -> Tensor:
    """The weighted sum of the mean cross entropy of start and end."""
    from heldout.train.losses import span_cross_entropy

    return span_cross_entropy(outputs.start_logits, outputs.end_logits, targets, weights)


def logits(outputs: Any) -> Any:
    """Start and end logits side by side, (rows, longest, 2), of torch's outputs or an exported model's (numpy)."""
    sides = [outputs.start_logits, outputs.end_logits]
    if isinstance(sides[0], np.ndarray):
        return np.stack(sides, axis=-1)
    import torch

    return torch.stack(sides, dim=-1)


def decode(
    examples: Sequence[Example], encoded: Encoded, logits: Logits, labels: Sequence[str], *, abstain: bool
) -> list[Prediction]:
    """Best span, null score (lowest CLS score over the windows minus the best span's), n-best, each with its p.

    p is a softmax over all spans of all windows and the null. The answer is the best span's text; with ``abstain`` it
    is "" where the null score is over 0 (another threshold is a fit, replayed from the scores).
    """
    rows = iter(logits)
    predictions = []
    for example, windows, seen in zip(examples, encoded.windows, encoded.seen, strict=True):
        scores = _scores(example.text["context"], windows, list(islice(rows, len(windows))))
        answer = "" if abstain and scores["null_score"] > 0 else scores["best"]["text"]
        predictions.append(Prediction(example.id, answer, scores, seen=seen))
    return predictions


def _scores(text: str, windows: Sequence[Window], logits: Logits) -> dict[str, Any]:
    read: Places = windows[0].places.passage
    table = spans.pool(_searched(windows, logits), tokens=len(read), longest=windows[0].places.longest)
    null = min(float(row[CLS].astype(np.float64).sum()) for row in logits)
    found, total = spans.best(table, NBEST), spans.log_total(table, null)
    nbest = []
    for first, last, score in found:
        start, end = int(read.starts[first]), int(read.ends[last])
        nbest.append({"text": text[start:end], "start": start, "end": end, "p": math.exp(score - total)})
    if not nbest:
        # A passage of which the tokenizer keeps nothing (control characters): all of it, at no probability.
        nbest = [{"text": text, "start": 0, "end": len(text), "p": 0.0}]
    return {"null_score": null - found[0][2] if found else 0.0, "best": nbest[0], "nbest": nbest}


def _searched(
    windows: Sequence[Window], logits: Logits
) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.float64]]]:
    """The passage's logits of each window, −inf where no answer may begin or end; question and specials left out."""
    for window, row in zip(windows, logits, strict=True):
        read: Read = window.places
        inside = row[read.position : read.position + read.tokens].astype(np.float64)
        piece = slice(read.first, read.first + read.tokens)
        start = np.where(read.passage.begins[piece], inside[:, 0], -np.inf)
        yield read.first, start, np.where(read.passage.closes[piece], inside[:, 1], -np.inf)


def _head(card: Card) -> Sequence[str]:
    # transformers' own names, so that the head of a model that was trained on SQuAD is kept.
    return ("LABEL_0", "LABEL_1")


def for_card(task: Task, card: Card) -> Task:
    """The task as the card asks it: with questions that have no answer, or without."""
    return replace(task, decode=partial(decode, abstain=card.version == WITH_IMPOSSIBLE))


def positions(window: Window) -> Sequence[int]:
    """The passage's tokens and [CLS], which stands for "no answer here"; NOWHERE for the question and the frame."""
    read: Read = window.places
    inside = range(read.position, read.position + read.tokens)
    return [position if position == CLS or position in inside else NOWHERE for position in range(len(window))]


TASK = Task(
    "qa",
    AutoClass("AutoModelForQuestionAnswering"),
    encode,
    loss,
    partial(decode, abstain=False),
    _head,
    logits,
    for_card,
    positions,
)
