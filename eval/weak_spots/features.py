"""What a search for weak spots looks at: the cases of a data set, whether each was answered wrong, and their features.

A case is an example, or, of sentences with tags, an entity of gold (wrong where it was not found exactly). A feature is
a function of text and gold alone: lengths, cues, overlap of a pair's texts, rare words, capitals, digits, gold's label,
what is known of the example (domain, phenomenon), and every slice of the card. Words are counted in the set itself:
one that stands in one or two of its texts is rare.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.bio import Entity
from heldout.eval.own_slices.fields import text_of, words_of
from heldout.eval.slices import EntitySlice, Slice, chosen, first_answer
from heldout.eval.slices.lexical_overlap import share, words
from heldout.eval.slices.negation import FOLDER, scopes
from heldout.eval.table import FloatArray, IntArray, Table
from heldout.eval.tags import TagTable
from heldout.records import Card, Example, Prediction

#: A word that stands in no more texts of the set than so is rare.
RARE = 2
#: Slices whose borders would only repeat, more coarsely, a feature that is a number here.
AS_NUMBERS = {"length", "lexical_overlap", "answer_length", "answer_position", "context_length", "entity_length"}
SIGNS = re.compile(r"[!?]")
DIGITS = re.compile(r"\d")


@dataclass(frozen=True)
class Feature:
    """A property of m cases: numbers (m,), or with ``parts`` the number of each case's part, -1 for none.

    ``expression`` is what the language of --slice calls it, "" where it has no word for it.
    """

    name: str
    values: NDArray[Any]
    parts: tuple[str, ...] = ()
    expression: str = ""


@dataclass(frozen=True)
class Cases:
    """m cases: 1.0 where answered wrong, the example of each, what they are called, and their features."""

    wrong: FloatArray
    owner: IntArray
    what: str
    features: tuple[Feature, ...]

    def __len__(self) -> int:
        return len(self.wrong)


def cases(card: Card, gold: Sequence[Example], table: Table) -> Cases:
    """The cases of a data set with one system's answers to it; none of a card of kind lm, which answers nothing."""
    if isinstance(table, TagTable):
        side = table.strict.gold
        at: list[tuple[int, Entity]] = [
            (int(row), (int(start), int(end), table.types[kind]))
            for row, (start, end, kind) in zip(side.owner, side.span, strict=True)
        ]
        features = [*_of_entities(gold, at), *_entity_parts(card, gold, at)]
        of_examples = _spread([*_of_texts(gold), *_of_slices(card, gold)], side.owner)
        return Cases(1.0 - side.hit, side.owner, "gold entities", _varied([*features, *of_examples]))
    features = [*_of_texts(gold), *_of_pairs(gold), *_of_answers(gold), *_of_slices(card, gold)]
    features += [_parts("gold", [e.gold for e in gold], "gold")] if card.kind == "label" else []
    return Cases(1.0 - table.correct, np.arange(len(gold)), "examples", _varied(features))


def _varied(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Those that are not the same for all cases."""
    return tuple(feature for feature in features if len(np.unique(feature.values)) > 1)


def _spread(features: Sequence[Feature], owner: IntArray) -> list[Feature]:
    """Features of examples as those of the entities in them."""
    return [Feature(f"{f.name} (sentence)" if not f.parts else f.name, f.values[owner], f.parts) for f in features]


def _numbers(name: str, values: Sequence[float], expression: str = "") -> Feature:
    return Feature(name, np.array(values, dtype=np.float64), expression=expression)


def _parts(name: str, values: Sequence[str | None], expression: str = "") -> Feature:
    names = tuple(sorted({value for value in values if value is not None}))
    number: dict[str | None, int] = {value: position for position, value in enumerate(names)}
    return Feature(name, np.array([number.get(value, -1) for value in values]), names, expression)


def _of_texts(gold: Sequence[Example]) -> list[Feature]:
    """Of every text field, and of the whole where there is but one."""
    fields = list(dict.fromkeys(name for example in gold for name in example.text))
    found = []
    for name in fields:
        texts = [words_of(example.text.get(name, "")) for example in gold]
        of, expression = ("", "") if len(fields) == 1 else (f" of {name}", f"{name}.")
        said = list(map(words, texts))
        found += [
            _numbers(f"words{of}", [len(text.split()) for text in texts], f"{expression}words"),
            *(_numbers(f"{what}{of}", list(map(count, texts))) for what, count in COUNTED.items()),
            _per_100(f"rare words per 100{of}", said, _rare(said)),
        ]
        if len(fields) == 1:
            good, bad = _opinion()
            found += [_per_100("good words per 100", said, good), _per_100("bad words per 100", said, bad)]
    return found


def _capitals(text: str) -> float:
    letters = [word for word in text.split() if any(map(str.isalpha, word))]
    return 100 * sum(word.isupper() and len(word) > 1 for word in letters) / max(1, len(letters))


COUNTED: Mapping[str, Callable[[str], float]] = {
    "characters a word": lambda text: sum(map(len, text.split())) / max(1, len(text.split())),
    "words in capitals per 100": _capitals,
    "words with digits": lambda text: sum(DIGITS.search(word) is not None for word in text.split()),
    "exclamation and question marks": lambda text: len(SIGNS.findall(text)),
    "commas and other marks per 100 words": lambda text: (
        100 * sum(text.count(mark) for mark in ",;:()-") / max(1, len(text.split()))
    ),
    "negation cues": lambda text: sum(1 for _ in scopes(text)),
}


def _rare(said: Sequence[Sequence[str]]) -> set[str]:
    stands_in = Counter(word for text in said for word in set(text))
    return {word for word, n in stands_in.items() if n <= RARE}


def _per_100(name: str, said: Sequence[Sequence[str]], wanted: AbstractSet[str]) -> Feature:
    return _numbers(name, [100 * sum(word in wanted for word in text) / max(1, len(text)) for text in said])


@cache
def _opinion() -> tuple[frozenset[str], frozenset[str]]:
    lists = json.loads((FOLDER / "opinion_words.json").read_text(encoding="utf-8"))
    return frozenset(lists["positive"]), frozenset(lists["negative"])


def _of_pairs(gold: Sequence[Example]) -> list[Feature]:
    """How two texts lie to each other: NLI's, and a question's with its passage."""
    for second, first in (("hypothesis", "premise"), ("question", "context")):
        if all({first, second} <= example.text.keys() for example in gold):
            both = [(words(e.text[second]), words(e.text[first])) for e in gold]
            return [_numbers(f"per cent of the words of {second} in {first}", [100 * share(a, b) for a, b in both])]
    return []


def _of_answers(gold: Sequence[Example]) -> list[Feature]:
    """Of questions: their first answer, and how many there are. Of those without an answer all are 0."""
    answers = [first_answer(example) for example in gold]
    if not any(answers):
        return []
    texts = ["" if answer is None else answer["text"] for answer in answers]
    place = [
        0.0 if answer is None else 100 * answer["start"] / max(1, len(words_of(example.text.get("context", ""))))
        for example, answer in zip(gold, answers, strict=True)
    ]
    return [
        _numbers("words of the first answer", [len(text.split()) for text in texts]),
        _numbers("place of the first answer (per cent of the passage)", place),
        _numbers("answers of gold", [len(example.gold) for example in gold], "gold.count"),
        _parts("spelling of the first answer", [_shape(text) if text else None for text in texts]),
    ]


def _shape(text: str) -> str:
    """How a name or an answer is written, in a few kinds."""
    if DIGITS.search(text):
        return "with digits"
    if text.isupper():
        return "in capitals"
    return "in lower case" if text.islower() else "capitalised"


def _of_entities(gold: Sequence[Example], at: Sequence[tuple[int, Entity]]) -> list[Feature]:
    spelt = [" ".join(map(str, gold[row].text["words"][start:end])) for row, (start, end, _) in at]
    in_sentence, in_set = Counter(row for row, _ in at), Counter(map(str.lower, spelt))
    return [
        _parts("entity type", [kind for _, (_, _, kind) in at]),
        _numbers("words of the entity", [end - start for _, (start, end, _) in at]),
        _numbers("characters of the entity", list(map(len, spelt))),
        _parts("spelling of the entity", list(map(_shape, spelt))),
        _numbers("place of its first word", [start for _, (start, _, _) in at]),
        _numbers("entities in the sentence", [in_sentence[row] for row, _ in at]),
        _numbers("times the entity stands in the set", [in_set[text.lower()] for text in spelt]),
    ]


def _entity_parts(card: Card, gold: Sequence[Example], at: Sequence[tuple[int, Entity]]) -> list[Feature]:
    found = [
        one for one in chosen(card) if isinstance(one, EntitySlice) and one.name not in (*AS_NUMBERS, "entity_type")
    ]
    return [_parts(one.name.replace("_", " "), [one.value(gold[row], entity) for row, entity in at]) for one in found]


def _of_slices(card: Card, gold: Sequence[Example]) -> list[Feature]:
    """The parts of the card's slices, the user's own among them; what belongs to a system is none of text and gold."""
    nothing = Prediction("", None)
    features = []
    for one in chosen(card):
        if isinstance(one, Slice) and not one.of_system and one.name not in AS_NUMBERS:
            values = [one.value(example, nothing) or one.rest for example in gold]
            features.append(_parts(one.name.replace("_", " "), values, EXPRESSED.get(one.name, "")))
    return features


#: Slices that the language of --slice has a word for.
EXPRESSED = {"domain": "domain"}


def whole_text(example: Example) -> str:
    """What tells two examples' texts apart."""
    return text_of(example.text)
