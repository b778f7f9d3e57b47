"""Gazetteer: the entities of train, looked up; nothing is learnt about how names look or what surrounds them.

From the left, the longest entry that begins at a word is taken, and its words are passed over. An entry's type is the
one that train gives it most often, of equally frequent ones the first in the alphabet. Case is folded: strict F1 with
it, and without, is 0.217 and 0.183 from the Broad Twitter Corpus' part b to a, 0.328 and 0.330 from CrossNER's politics
dev to test, and 0.050 and 0.000 from WNUT-17's train to its dev, out of which every entity of train was taken.

Answers only: a list has no probabilities, so what needs scores says so in the report.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted
from heldout.bio import Entity, strict, tags_of
from heldout.errors import Refused
from heldout.records import Card, Example, Prediction

#: Types by the words of an entry, case folded.
Gazetteer = Mapping[tuple[str, ...], str]


def fit(train: Sequence[Example], dev: Sequence[Example], card: Card, seed: int, options: BaselineOptions) -> Fitted:
    """Collect train's entities; Refused for a card of another kind than tags and where train has no entity."""
    if card.kind != "tags":
        raise Refused(f"gazetteer: not applicable to {card.name}, whose answers are no entities; leave it out")
    entries = gazetteer(train)
    if not entries:
        raise Refused("gazetteer: train holds no entity; give sentences with some")

    def answer(example: Example) -> Prediction:
        words = example.text["words"]
        return Prediction(example.id, tags_of(look_up(words, entries), len(words)))

    return Fitted(lambda examples: [answer(example) for example in examples])


def gazetteer(train: Sequence[Example]) -> Gazetteer:
    """The entities of train with the type that each has most often."""
    types: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for example in train:
        for start, end, kind in strict(example.gold):
            types[folded(example.text["words"][start:end])][kind] += 1
    return {words: min(counts, key=lambda kind: (-counts[kind], kind)) for words, counts in types.items()}


def folded(words: Sequence[str]) -> tuple[str, ...]:
    """The words with their case folded."""
    return tuple(word.casefold() for word in words)


def look_up(words: Sequence[str], entries: Gazetteer) -> list[Entity]:
    """The entries that stand in a sentence, longest first from the left.

    >>> look_up(["Upper", "Silver", "Lake", "Inn"], {("upper", "silver"): "place", ("silver", "lake", "inn"): "hotel"})
    [(0, 2, 'place')]
    """
    words = folded(words)
    longest = max(map(len, entries))
    found: list[Entity] = []
    start = 0
    while start < len(words):
        ends = range(min(start + longest, len(words)), start, -1)
        end = next((end for end in ends if words[start:end] in entries), None)
        if end is not None:
            found.append((start, end, entries[words[start:end]]))
        start = end or start + 1
    return found


BASELINE = Baseline("gazetteer", fit)
