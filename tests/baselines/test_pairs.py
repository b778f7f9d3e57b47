"""The baselines of pairs: what they may look at, and that they find it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.baselines import BASELINES, BaselineOptions
from heldout.baselines.word_overlap import features
from heldout.data import load_task
from heldout.records import Example, Prediction

WORDS = [
    f"{start}{end}" for start in ("bak", "lum", "tor", "fen", "gid") for end in ("a", "el", "is", "on", "ur", "ot")
]
LABELS = ("entailment", "neutral", "contradiction")


def pairs(n: int, seed: int, *, telling: bool) -> list[Example]:
    """Pairs whose overlap gives the label away; with ``telling``, a word of the hypothesis does, and no overlap."""
    rng, rows = random.Random(seed), []
    for i in range(n):
        label = rng.choice(LABELS)
        premise = rng.sample(WORDS, 10)
        others = [word for word in WORDS if word not in premise]
        kept = 0 if telling else {"entailment": 4, "neutral": 2, "contradiction": 0}[label]
        hypothesis = rng.sample(premise, kept) + rng.sample(others, 4 - kept)
        rng.shuffle(hypothesis)
        hypothesis += [{"entailment": "some", "neutral": "sad", "contradiction": "nobody"}[label]] if telling else []
        rows.append(Example(f"{seed}-{i}", {"premise": " ".join(premise), "hypothesis": " ".join(hypothesis)}, label))
    return rows


def answers(kind: str, train: list[Example], test: list[Example]) -> list[Prediction]:
    card = load_task("nli").card(train)
    return BASELINES[kind].fit(train, train[:60], card, 0, BaselineOptions()).predict(test)


def right(said: list[Prediction], test: list[Example]) -> float:
    return sum(p.answer == e.gold for p, e in zip(said, test, strict=True)) / len(test)


@pytest.mark.parametrize(("kind", "telling"), [("hypothesis-only", True), ("word-overlap", False)])
def test_each_finds_what_it_looks_at_and_not_what_it_does_not(kind: str, telling: bool) -> None:
    train, test = pairs(300, 1, telling=telling), pairs(100, 2, telling=telling)
    assert right(answers(kind, train, test), test) > 0.95
    other, blind = pairs(300, 3, telling=not telling), pairs(100, 4, telling=not telling)
    assert right(answers(kind, other, blind), blind) < 0.5


def test_hypothesis_only_never_sees_the_premise() -> None:
    train, test = pairs(200, 1, telling=True), pairs(40, 2, telling=True)
    blanked = [Example(e.id, {**e.text, "premise": "nothing at all"}, e.gold) for e in train]
    assert answers("hypothesis-only", blanked, test) == answers("hypothesis-only", train, test)


def test_a_pairs_features_count_words_both_ways() -> None:
    assert features("The old dog sleeps.", "The dog sleeps")[:4] == [1.0, 0.75, 1.0, 0.0]
    assert features("The old dog sleeps.", "old DOG")[:4] == [1.0, 0.5, 1.0, 1.0]
    assert features("The old dog sleeps.", "A cat")[:4] == [0.0, 0.0, 0.0, 0.0]
    assert features("The golden dog", "old")[3] == 0.0, "a part of a word is no word"


@given(st.lists(st.sampled_from(WORDS), max_size=8), st.lists(st.sampled_from(WORDS), max_size=8))
def test_features_are_shares_and_lengths_whatever_the_texts(premise: list[str], hypothesis: list[str]) -> None:
    found = features(" ".join(premise), " ".join(hypothesis))
    assert len(found) == 6
    assert all(0 <= value <= 1 for value in found[:4])
    assert (found[2] == 1) == (bool(hypothesis) and set(hypothesis) <= set(premise))
    swapped = features(" ".join(hypothesis), " ".join(premise))
    assert (found[0], found[4]) == (swapped[1], swapped[5])
