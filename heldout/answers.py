"""What an answer of each kind of card must look like, in gold and in predictions, checked line by line.

A label is one of the card's names. Tags are a list of the card's names, one a word; their scores are a list of
probabilities a word, their entities (optional, for systems that are sure of entities rather than words):

    {"start": 0, "end": 2, "type": "person", "p": 0.9}        end is the word behind the last

Gold of a span is a list of {"text", "start"}, [] where there is no answer; its
prediction is a string, "" for none, with scores of at most three keys:

    {"null_score": -1.5, "best": {"text": "Ada", "start": 4, "end": 7, "p": 0.6}, "nbest": [{"text": "Ada", …}, …]}

Of a language model (kind lm) a line tells the summed natural-log loss and the number of predicted tokens; optional are
those of them that were the most likely one, and of a pair the probability that its second text is the true next one:

    {"id": "wiki/1", "nll": 40.5, "n": 12, "correct": 5, "next": 0.9}
"""

import sys
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any

from heldout.bio import OUTSIDE, allowed
from heldout.errors import Refused

#: How far the scores of one example may be from summing to one before the file is refused (DESIGN: 1e-4).
SUM_TOLERANCE = 1e-4
#: What a span of a prediction holds.
SPAN_KEYS = {"text", "start", "end", "p"}
#: What an entity of a prediction holds.
ENTITY_KEYS = {"start", "end", "type", "p"}
Check = Callable[[str, Mapping[str, Any], Sequence[str]], None]


def label_gold(where: str, row: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Refused where gold is none of these labels."""
    if row["gold"] not in labels:
        raise Refused(f"{where}: gold {row['gold']!r} is not among the card's labels {list(labels)}")


def label_prediction(where: str, row: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Refused where the answer is no label, or the scores are no probabilities of the labels."""
    if row["answer"] not in labels:
        raise Refused(f"{where}: answer {row['answer']!r} is not among the card's labels {list(labels)}")
    if row.get("scores") is not None:
        _check_scores(where, row["scores"], labels)


def _check_scores(where: str, scores: Any, labels: Sequence[str]) -> None:
    if not isinstance(scores, list) or len(scores) != len(labels):
        raise Refused(f"{where}: scores must be {len(labels)} numbers in the order of {list(labels)}")
    if not all(map(_probability, scores)):
        raise Refused(f"{where}: scores must be probabilities from 0 to 1, got {scores}")
    if abs(sum(scores) - 1) > SUM_TOLERANCE:
        raise Refused(f"{where}: scores sum to {sum(scores):.6f}; they must sum to 1 (give or take {SUM_TOLERANCE})")


def tags_card(where: str, labels: Sequence[str]) -> None:
    """Refused where the labels are no tags of IOB2: O, and of each type a B- and, unless it is one word, an I-."""
    types = {tag[2:] for tag in labels if tag[:2] == "B-" and tag != "B-"}
    odd = [tag for tag in labels if tag != OUTSIDE and (tag[:2] not in ("B-", "I-") or tag[2:] not in types)]
    if odd or OUTSIDE not in labels or len(set(labels)) != len(labels) or not types:
        wrong = f"{odd[0]!r} is none of these" if odd else f"got {list(labels)}"
        raise Refused(f"{where}: labels of a card of kind tags are O and, of each type, B-TYPE and I-TYPE; {wrong}")


def tags_gold(where: str, row: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Refused where gold is no valid IOB2 of the card's tags, or not one for each of the text's words.

    An I- that continues nothing is no entity to a strict reader: gold of another scheme would lose its entities.
    """
    _check_tags(where, "gold", row["gold"], labels)
    for word, (before, tag) in enumerate(pairwise([OUTSIDE, *row["gold"]])):
        if not allowed(before, tag):
            raise Refused(f"{where}: the gold of word {word + 1}, {tag!r}, continues nothing; IOB2 begins with B-")
    words = _field(row, "text", "words", row["gold"])
    if not isinstance(words, list) or len(words) != len(row["gold"]) or not all(isinstance(w, str) for w in words):
        raise Refused(f'{where}: "words" must be a list of {len(row["gold"])} strings, one for each tag of gold')
    unseen = _field(row, "about", "unseen", [])
    if not isinstance(unseen, list) or not all(map(_place, unseen)):
        raise Refused(f'{where}: "unseen" must list the first words of entities, from 0, got {unseen!r:.40}')


def tags_prediction(where: str, row: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Refused where the answer is no list of the card's tags, or scores or entities don't fit it."""
    _check_tags(where, "answer", row["answer"], labels)
    n, scores, entities = len(row["answer"]), row.get("scores"), row.get("entities")
    if scores is not None:
        if not isinstance(scores, list) or len(scores) != n:
            raise Refused(f"{where}: scores must be a list of {n} lists of probabilities, one for each tag of answer")
        for word, given in enumerate(scores):
            _check_scores(f"{where}, word {word + 1}", given, labels)
    if not isinstance(entities, list | None):
        raise Refused(f"{where}: entities must be a list, got {entities!r:.40}")
    types = {tag[2:] for tag in labels if tag != OUTSIDE}
    for entity in entities or ():
        _check_entity(where, entity, n, types)


def _field(row: Mapping[str, Any], key: str, name: str, default: Any) -> Any:
    """A field of the row's text or about, which reading gold checks to be objects once this is through."""
    inside = row.get(key)
    return inside.get(name, default) if isinstance(inside, dict) else default


def _check_tags(where: str, key: str, tags: Any, labels: Sequence[str]) -> None:
    if not isinstance(tags, list):
        raise Refused(f"{where}: {key} must be a list of tags, one a word, got {tags!r:.40}")
    known = set(labels)
    for word, tag in enumerate(tags):
        if not isinstance(tag, str) or tag not in known:
            shown = f"{tag!r:.40}, is not among the card's labels {list(labels)}"
            raise Refused(f"{where}: the {key} of word {word + 1}, {shown}")


def _check_entity(where: str, entity: Any, words: int, types: Set[str]) -> None:
    if not isinstance(entity, dict) or entity.keys() != ENTITY_KEYS:
        raise Refused(f"{where}: an entity must be an object of start, end, type and p, got {entity!r:.80}")
    start, end = entity["start"], entity["end"]
    if not (_place(start) and _place(end) and start < end <= words):
        raise Refused(f"{where}: an entity starts before it ends, among {words} words from 0, got {start}, {end}")
    if not isinstance(entity["type"], str) or entity["type"] not in types:
        raise Refused(f"{where}: the type {entity['type']!r:.40} of an entity is none of {', '.join(sorted(types))}")
    if not _probability(entity["p"]):
        raise Refused(f"{where}: p of an entity must be a probability from 0 to 1, got {entity['p']!r:.40}")


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


def lm_gold(where: str, row: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Refused where gold does not tell the number of tokens to predict, or ``next`` is no truth value."""
    gold = row["gold"]
    if not isinstance(gold, dict) or not _place(gold.get("n")) or type(gold.get("next", True)) is not bool:
        raise Refused(
            f'{where}: gold must be an object {{"n": tokens to predict}}, of pairs with "next": true or false'
        )


def lm_prediction(where: str, row: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Refused where loss, counts or the pair's probability are none."""
    if not _finite(row.get("nll")) or row["nll"] < 0 or not _place(row.get("n")):
        raise Refused(f'{where}: needs "nll", the summed loss in nats from 0, and "n", the number of tokens')
    correct = row.get("correct", 0)
    if not _place(correct) or correct > row["n"]:
        raise Refused(f'{where}: "correct" must be a count of at most {row["n"]}, got {correct!r:.40}')
    if not _probability(row.get("next", 0)):
        raise Refused(f'{where}: "next" must be a probability from 0 to 1, got {row["next"]!r:.40}')


def _place(value: Any) -> bool:
    return type(value) is int and value >= 0


def _finite(value: Any) -> bool:
    """JSON's numbers may also be NaN, Infinity, or a whole number that no float can hold."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _probability(value: Any) -> bool:
    return _finite(value) and 0 <= value <= 1


#: The checks of each kind; a kind that is not here is not checked.
GOLD: Mapping[str, Check] = {"label": label_gold, "tags": tags_gold, "span": span_gold, "lm": lm_gold}
PREDICTION: Mapping[str, Check] = {
    "label": label_prediction,
    "tags": tags_prediction,
    "span": span_prediction,
    "lm": lm_prediction,
}
