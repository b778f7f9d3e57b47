"""Metrics once more, slowly and from their definitions: plain Python, no arrays, nothing of heldout.eval."""

import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heldout.records import Card, Example, Prediction

Pairs = Sequence[tuple[Example, Prediction]]
Entity = tuple[int, int, str]


def accuracy(card: Card, pairs: Pairs) -> float:
    """The share of answers that are gold's label."""
    rows = _collapsed(card, pairs)
    return sum(gold == answer for gold, answer in rows) / len(rows)


def macro_f1(card: Card, pairs: Pairs) -> float:
    """The mean over gold's labels of 2 right / (answered + gold)."""
    rows = _collapsed(card, pairs)
    labels = sorted({gold for gold, _ in rows})
    total = 0.0
    for label in labels:
        right = sum(gold == answer == label for gold, answer in rows)
        answered = sum(answer == label for _, answer in rows)
        total += 2 * right / (answered + sum(gold == label for gold, _ in rows))
    return total / len(labels)


def _collapsed(card: Card, pairs: Pairs) -> list[tuple[str, str]]:
    """Gold and answer by label, the answers made one as gold has them (HANS: non-entailment)."""
    made = set(card.collapse.values()) - set(card.labels)
    to = card.collapse if any(example.gold in made for example, _ in pairs) else {}
    return [(to.get(example.gold, example.gold), to.get(said.answer, said.answer)) for example, said in pairs]


def entities(tags: Sequence[str]) -> list[Entity]:
    """IOB2 read strictly: an entity begins at B-X and goes on over each I-X behind it."""
    found, at = [], 0
    while at < len(tags):
        if not tags[at].startswith("B-"):
            at += 1
            continue
        kind, end = tags[at][2:], at + 1
        while end < len(tags) and tags[end] == f"I-{kind}":
            end += 1
        found.append((at, end, kind))
        at = end
    return found


def entity_f1(card: Card, pairs: Pairs) -> float:
    """2 right / (found + gold) over the whole set, never a mean over sentences (FAULTS N5)."""
    right = found = wanted = 0
    for example, prediction in pairs:
        gold, answer = entities(example.gold), entities(prediction.answer)
        right += len([entity for entity in answer if entity in gold])
        found, wanted = found + len(answer), wanted + len(gold)
    return 2 * right / (found + wanted) if wanted else float("nan")


def em(card: Card, pairs: Pairs) -> float:
    """The mean of SQuAD's exact match, the largest over gold answers."""
    return sum(max(float(a == b) for a, b in _texts(card, pair, pairs)) for pair in pairs) / len(pairs)


def f1(card: Card, pairs: Pairs) -> float:
    """The mean of SQuAD's F1 over words, the largest over gold answers."""
    empty = float(_second(card, pairs))
    return sum(max(_f1(a.split(), b.split(), empty) for a, b in _texts(card, pair, pairs)) for pair in pairs) / len(
        pairs
    )


def _second(card: Card, pairs: Pairs) -> bool:
    return card.version.startswith("2") or any(not example.gold for example, _ in pairs)


def _texts(card: Card, pair: tuple[Example, Prediction], pairs: Pairs) -> list[tuple[str, str]]:
    """Each gold answer beside the given one, normalised; by version 2.0 empty ones do not count, and none means ""."""
    golds = [_normalised(str(answer["text"])) for answer in pair[0].gold]
    if _second(card, pairs):
        golds = [gold for gold in golds if gold] or [""]
    return [(gold, _normalised(str(pair[1].answer))) for gold in golds]


def _normalised(text: str) -> str:
    """Lower case, without ASCII punctuation, the words a, an and the, and more than one space."""
    kept = "".join(character for character in text.lower() if character not in string.punctuation)
    words: list[str] = []
    word = ""
    for character in f"{kept} ":
        # A word ends where a letter, digit or _ does; what stands between is kept as it is.
        if character.isalnum() or character == "_":
            word += character
            continue
        words += [" " if word in ("a", "an", "the") else word, character]
        word = ""
    return " ".join("".join(words).split())


def _f1(gold: Sequence[str], answer: Sequence[str], both_empty: float) -> float:
    if not gold and not answer:
        return both_empty
    counts, shared = Counter(gold), 0
    for word in answer:
        if counts[word] > 0:
            counts[word] -= 1
            shared += 1
    return 2 * shared / (len(gold) + len(answer)) if shared else 0.0


#: The metrics that are known here, by the kind of card.
ORACLE: Mapping[str, Mapping[str, Callable[[Card, Pairs], float]]] = {
    "label": {"accuracy": accuracy, "macro_f1": macro_f1},
    "tags": {"entity_f1": entity_f1},
    "span": {"em": em, "f1": f1},
}


def plain(card: Card, gold: Sequence[Example], predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Every metric that is known here of these answers; a doubled, missing or unknown id is a KeyError."""
    by_id = {prediction.id: prediction for prediction in predictions}
    pairs = [(example, by_id.pop(example.id)) for example in gold]
    if by_id:
        raise KeyError(next(iter(by_id)))
    return {name: metric(card, pairs) for name, metric in ORACLE.get(card.kind, {}).items()}
