"""Tables of kind tags: sentences of words with a tag each, and the entities that the tags spell.

Entities are read twice: strictly, as IOB2 (seqeval's strict mode: an I- that continues nothing is no entity), and
leniently, as conlleval (it begins one). What is not called lenient is strict (FAULTS N2).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from heldout.bio import OUTSIDE, Entity, lenient, split, strict
from heldout.errors import Refused
from heldout.eval.entities import BoolArray, Entities, Reading, gathered, read_both
from heldout.eval.expected import Answered, Expected, expected
from heldout.eval.table import BINS, Events, FloatArray, IntArray
from heldout.records import Card, Example, Prediction, join

#: The part of a slice that an entity of a sentence (its row) is in, None where the slice says nothing of it.
Placed = Callable[[int, Entity], str | None]
#: The part of each entity of gold and of the answers.
Places = tuple[Sequence[str | None], Sequence[str | None]]


@dataclass(frozen=True)
class Words:
    """w words, those of a sentence together, in the order of sentences.

    owner, place (w,): the sentence of each and its place there. gold, answer (w,): the numbers of its tags. scores
    (w, L): its probabilities, where all sentences have them.
    """

    owner: IntArray
    place: IntArray
    gold: IntArray
    answer: IntArray
    scores: FloatArray | None

    def at(self, which: BoolArray | IntArray) -> "Words":
        """Those that a mask or indices choose."""
        scores = None if self.scores is None else self.scores[which]
        return Words(self.owner[which], self.place[which], self.gold[which], self.answer[which], scores)

    def inside(self, entities: Entities) -> "Words":
        """Those that stand in one of these entities."""
        width = 1 + max(self.place, default=0)
        spans = zip(entities.owner, entities.span, strict=True)
        wanted = [owner * width + place for owner, (start, end, _) in spans for place in range(start, end)]
        return self.at(np.isin(self.owner * width + self.place, np.array(wanted, dtype=np.int64)))


@dataclass(frozen=True)
class TagTable:
    """n sentences in gold's order: their words, and the entities of both sides read strictly and leniently.

    ``unscored`` counts the sentences without probabilities, ``unsure`` those whose entities have no confidence either.
    """

    labels: tuple[str, ...]
    types: tuple[str, ...]
    n: int
    words: Words
    strict: Reading
    lenient: Reading
    unscored: int = 0
    unsure: int = 0
    bins: int = BINS
    expected: Expected | None = None

    def __len__(self) -> int:
        return self.n

    @property
    def scored(self) -> bool:
        """Whether every sentence has probabilities for its words."""
        return self.words.scores is not None

    @property
    def gold(self) -> IntArray:
        """The number of gold's tag of each word (w,)."""
        return self.words.gold

    @property
    def probabilities(self) -> FloatArray:
        """The probabilities (w, L); Refused where a sentence lacks them."""
        if self.words.scores is None:
            raise Refused(f"{self.unscored} of {len(self)} predictions have no scores")
        return self.words.scores

    @property
    def correct(self) -> FloatArray:
        """1.0 where the entities of a sentence, read strictly, are exactly gold's, else 0.0; shape (n,)."""
        missed, spurious = (side.per_sentence(self.n, ~side.hit) for side in self.strict)
        right: FloatArray = (missed + spurious == 0).astype(np.float64)
        return right

    @cached_property
    def events(self) -> Events:
        """The entities of the answers; the event is that gold has the very same."""
        if self.unsure:
            raise Refused(f"{self.unsure} of {len(self)} predictions have no scores")
        found = self.strict.answer
        return Events(found.p, found.hit.astype(np.float64), found.owner)

    def take(self, rows: IntArray) -> "TagTable":
        """The table of these sentences only."""
        owner, kept = gathered(self.words.owner, rows)
        words = replace(self.words.at(kept), owner=owner)
        cases = None if self.expected is None else self.expected.take(rows)
        cut = replace(self, n=len(rows), words=words, expected=cases)
        return replace(cut, strict=self.strict.of(rows), lenient=self.lenient.of(rows))

    def parts(self, placed: Placed, *, by_met: bool = False) -> dict[str, "TagTable"]:
        """A table of all sentences, but of one part's entities alone, for each part that gold has an entity in.

        An entity of an answer is in the part of its own span and type, or ``by_met`` in the part of the gold entity
        that shares most words with it; one that shares none is then in no part. Of the words those that stand in the
        part's gold entities are left.
        """
        places = [self._places(both, placed, by_met) for both in (self.strict, self.lenient)]
        return {part: self._only(part, *places) for part in sorted({part for part in places[0][0] if part is not None})}

    def _places(self, both: Reading, placed: Placed, by_met: bool) -> Places:
        """The part of each entity, of gold and of the answers."""
        spans = (both.gold.span, both.answer.met if by_met else both.answer.span)
        gold, answer = (
            [
                None if start < 0 else placed(int(row), (int(start), int(end), self.types[kind]))
                for row, (start, end, kind) in zip(side.owner, found, strict=True)
            ]
            for side, found in zip(both, spans, strict=True)
        )
        return gold, answer

    def _only(self, part: str, *places: Places) -> "TagTable":
        strict, lenient = (
            Reading(*(side.at(np.array([name == part for name in names], dtype=bool)) for side, names in pairs))
            for pairs in map(zip, (self.strict, self.lenient), places)
        )
        # What is expected is expected of whole sentences.
        return replace(self, words=self.words.inside(strict.gold), strict=strict, lenient=lenient, expected=None)


def tabulate_tags(card: Card, gold: Sequence[Example], predictions: Sequence[Prediction], bins: int = BINS) -> TagTable:
    """Join by id, number the tags by name, read the entities; Refused where ids or numbers of words don't match.

    An entity's confidence is the mean probability of its tags; where there are no scores it is the p that the
    prediction itself gives it in ``entities``. Refused where that names an entity that the tags don't spell.
    """
    pairs = join(gold, predictions)
    index = {label: position for position, label in enumerate(card.labels)}
    types = tuple(dict.fromkeys(split(label)[1] for label in card.labels if label != OUTSIDE))
    golds, answers = [example.gold for example, _ in pairs], [prediction.answer for _, prediction in pairs]
    given = [prediction.scores for _, prediction in pairs]
    own = [_own_confidences(prediction) for _, prediction in pairs]

    def confidence(row: int, entity: Entity) -> float:
        scores, tags = given[row], answers[row]
        if scores is None:
            return own[row].get(entity, math.nan)
        start, end, _ = entity
        return float(sum(scores[word][index[tags[word]]] for word in range(start, end)) / (end - start))

    table = TagTable(
        labels=card.labels,
        types=types,
        n=len(pairs),
        words=_words(golds, answers, given, index),
        strict=read_both(strict, golds, answers, types, confidence),
        lenient=read_both(lenient, golds, answers, types, confidence),
        unscored=sum(scores is None for scores in given),
        unsure=sum(_unsure(prediction, known) for (_, prediction), known in zip(pairs, own, strict=True)),
        bins=bins,
    )
    return replace(table, expected=expected(card, pairs, table.correct, _same))


def _same(one: Answered, other: Answered) -> bool:
    """Whether the same entities were found in two sentences: the same words as the same types, in the same order.

    Of sentences with as many words the same places do: in small letters, or under another name, it is still the entity.
    """
    tags = (one[1].answer, other[1].answer)
    return _named(one) == _named(other) or (len(tags[0]) == len(tags[1]) and strict(tags[0]) == strict(tags[1]))


def _named(answered: Answered) -> list[tuple[tuple[str, ...], str]]:
    words = answered[0].text.get("words", [])
    return [(tuple(words[start:end]), kind) for start, end, kind in strict(answered[1].answer)]


def _words(
    golds: Sequence[Sequence[str]], answers: Sequence[Sequence[str]], given: Sequence[Any], index: Mapping[str, int]
) -> Words:
    lengths = [len(tags) for tags in golds]
    gold, answer = (
        np.array([index[tag] for tags in side for tag in tags], dtype=np.int64) for side in (golds, answers)
    )
    scores = None
    if all(rows is not None for rows in given):
        scores = np.array([p for rows in given for p in rows], dtype=np.float64).reshape(-1, len(index))
    place = np.array([place for length in lengths for place in range(length)], dtype=np.int64)
    return Words(np.repeat(np.arange(len(golds)), lengths), place, gold, answer, scores)


def _own_confidences(prediction: Prediction) -> dict[Entity, float]:
    """The p of the entities that a prediction lists."""
    found = {(e["start"], e["end"], e["type"]): float(e["p"]) for e in prediction.entities or ()}
    unspelt = found.keys() - {*strict(prediction.answer), *lenient(prediction.answer)}
    if unspelt:
        start, end, kind = min(unspelt)
        raise Refused(
            f"id {prediction.id!r}: its entities hold a {kind} from word {start} to {end}, which its tags don't spell; "
            "give the tags of all its entities, or leave entities out"
        )
    return found


def _unsure(prediction: Prediction, own: Mapping[Entity, float]) -> bool:
    """Whether a prediction leaves the confidence of its entities open, or would if it had any."""
    return prediction.scores is None and (prediction.entities is None or not own.keys() >= {*strict(prediction.answer)})
