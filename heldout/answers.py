"""What an answer of each kind of card must look like, in gold and in predictions, checked line by line.

A label is one of the card's names. Gold of a span is a list of {"text", "start"}, [] where there is no answer; its
prediction is a string, "" for none, with scores of at most three keys:

    {"null_score": -1.5, "best": {"text": "Ada", "start": 4, "end": 7, "p": 0.6}, "nbest": [{"text": "Ada", …}, …]}
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from heldout.errors import Refused

#: How far the scores of one example may be from summing to one before the file is refused (DESIGN: 1e-4).
SUM_TOLERANCE = 1e-4
#: What a span of a prediction holds.
SPAN_KEYS = {"text", "start", "end", "p"}
Check = Callable[[str, Mapping[str, Any], Sequence[str]], None]


def label_gold(where: str, row: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Refused where gold is none of these labels."""
    if row["gold"] not in labels:
        raise Refused(f"{where}: gold {row['gold']!r} is not among the card's labels {list(labels)}")


def label_prediction(where: str, row: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Refused where the answer is no label, or the scores are no probabilities of the labels."""
    if row["answer"] not in labels:
        raise Refused(f"{where}: answer {row['answer']!r} is not among the card's labels {list(labels)}")
    scores = row.get("scores")
    if scores is None:
        return
    if not isinstance(scores, list) or len(scores) != len(labels):
        raise Refused(f"{where}: scores must be {len(labels)} numbers in the order of {list(labels)}")
    if not all(map(_probability, scores)):
        raise Refused(f"{where}: scores must be probabilities from 0 to 1, got {scores}")
    if abs(sum(scores) - 1) > SUM_TOLERANCE:
        raise Refused(f"{where}: scores sum to {sum(scores):.6f}; they must sum to 1 (give or take {SUM_TOLERANCE})")


def span_gold(where: str, row: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Refused where gold is no list of answers; None is a question that nobody answered, not one without an answer."""
    answers = row["gold"]
    if answers is None:
        raise Refused(f"{where}: gold is null; a question without labels cannot be scored, an impossible one has []")
    if not isinstance(answers, list):
        raise Refused(f"{where}: gold must be a list of answers, [] where there is none, got {answers!r:.40}")
    for answer in answers:
        if not isinstance(answer, dict) or not isinstance(answer.get("text"), str) or not _place(answer.get("start")):
            raise Refused(f'{where}: an answer of gold must be {{"text": string, "start": offset}}, got {answer!r:.80}')


def span_prediction(where: str, row: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Refused where the answer is no string, or its scores are not as the head of this file has them."""
    if not isinstance(row["answer"], str):
        raise Refused(f'{where}: answer must be a string, "" where there is none, got {row["answer"]!r:.40}')
    scores = row.get("scores")
    if scores is None:
        return
    if not isinstance(scores, dict) or "best" not in scores or not scores.keys() <= {"null_score", "best", "nbest"}:
        raise Refused(f'{where}: scores must be an object with "best" and, if known, "null_score" and "nbest"')
    if "null_score" in scores and not _finite(scores["null_score"]):
        raise Refused(f"{where}: null_score must be a finite number, got {scores['null_score']!r:.40}")
    spans = scores.get("nbest", [])
    if not isinstance(spans, list):
        raise Refused(f'{where}: "nbest" must be a list of spans')
    for span in (scores["best"], *spans):
        _check_span(where, span)
    if any(after["p"] > before["p"] for before, after in pairwise(spans)):
        raise Refused(f'{where}: "nbest" must fall in p; sort it')


def _check_span(where: str, span: Any) -> None:
    """Best is never empty, so that any threshold can be replayed from the file."""
    if not isinstance(span, dict) or span.keys() != SPAN_KEYS:
        raise Refused(f"{where}: a span must be an object of text, start, end and p, got {span!r:.80}")
    if not isinstance(span["text"], str) or not span["text"]:
        raise Refused(f'{where}: the text of a span is never empty; "answer": "" says that there is none')
    if not (_place(span["start"]) and _place(span["end"]) and span["start"] < span["end"]):
        raise Refused(f"{where}: a span starts before it ends, offsets from 0, got {span['start']}, {span['end']}")
    if not _probability(span["p"]):
        raise Refused(f"{where}: p of a span must be a probability from 0 to 1, got {span['p']!r:.40}")


def _place(value: Any) -> bool:
    return type(value) is int and value >= 0


def _finite(value: Any) -> bool:
    """JSON's numbers may also be NaN, Infinity, or a whole number that no float can hold."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _probability(value: Any) -> bool:
    return _finite(value) and 0 <= value <= 1


#: The checks of each kind; a kind that is not here is not checked.
GOLD: Mapping[str, Check] = {"label": label_gold, "span": span_gold}
PREDICTION: Mapping[str, Check] = {"label": label_prediction, "span": span_prediction}
