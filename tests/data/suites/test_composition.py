import re
from collections import Counter

import pytest

from heldout.data.prepare import load
from heldout.data.sources import Loaded, SourceOptions
from heldout.data.suites.composition import COLOURS, NEW_COLOURS, NEW_THINGS, THINGS, held_out

#: "a red car", "the car is red", "a car that is red", read apart from the frames that made them.
COLOUR, THING = "|".join((*COLOURS, *NEW_COLOURS)), "|".join((*THINGS, *NEW_THINGS))
FACT = re.compile(rf"\b({COLOUR}) ({THING})\b|\b({THING}) (?:that )?is ({COLOUR})\b")


def facts(text: str) -> set[tuple[str, str]]:
    return {(a or d, b or c) for a, b, c, d in FACT.findall(text.lower())}


@pytest.fixture(scope="module")
def train() -> Loaded:
    return load("nli", "suite:composition@train", SourceOptions())


@pytest.fixture(scope="module")
def test_part() -> Loaded:
    return load("nli", "suite:composition", SourceOptions())


def test_a_hypothesis_follows_where_its_fact_is_one_of_the_premise(train: Loaded, test_part: Loaded) -> None:
    for example in (*train.examples, *test_part.examples):
        told, (asked,) = facts(example.text["premise"]), facts(example.text["hypothesis"])
        assert len(told) == (2 if example.id == "seeds" else 3)
        assert (example.gold == "entailment") == (asked in told), example
        # Both words of what does not follow stand in the premise: only who binds them to each other can tell.
        assert asked[0] in {c for c, _ in told} and asked[1] in {t for _, t in told}
    assert len(train.examples) == 4000 and len(test_part.examples) == 1201
    assert Counter(example.gold for example in train.examples) == {"entailment": 2000, "non-entailment": 2000}


def test_train_holds_no_held_out_pair_and_every_word_of_one(train: Loaded) -> None:
    seen = {fact for example in train.examples for field in example.text.values() for fact in facts(field)}
    assert seen == {(c, t) for c in COLOURS for t in THINGS} - held_out()
    assert len(held_out()) == 30 and ("red", "house") in held_out()
    assert {("red", "car"), ("blue", "house")} <= seen


def test_the_test_part_asks_for_seen_recombined_and_unseen_pairs_in_sentences_that_are_new(
    train: Loaded, test_part: Loaded
) -> None:
    premises = {example.text["premise"] for example in train.examples}
    trained = {fact for example in train.examples for field in example.text.values() for fact in facts(field)}
    counts = Counter()
    for example in test_part.examples:
        (asked,) = facts(example.text["hypothesis"])
        known = asked[0] in COLOURS and asked[1] in THINGS
        part = "seen" if asked in trained else "recombined" if known else "unseen"
        assert example.about["phenomenon"] == part, example
        assert example.text["premise"] not in premises
        counts[part, example.gold] += 1
    assert counts.pop(("recombined", "non-entailment")) == 201
    assert len(counts) == 5 and set(counts.values()) == {200}


def test_the_easy_part_is_of_seen_pairs_of_one_or_two_things_and_half_of_it_follows(train: Loaded) -> None:
    seen = {fact for example in train.examples for field in example.text.values() for fact in facts(field)}
    found = load("nli", "suite:composition@easy", SourceOptions()).examples
    counts, swapped = Counter(), 0
    for example in found:
        told, (asked,) = facts(example.text["premise"]), facts(example.text["hypothesis"])
        assert told | {asked} <= seen and asked[1] in {thing for _, thing in told}
        assert (example.gold == "entailment") == (asked in told), example
        counts[len(told), example.gold] += 1
        swapped += asked not in told and asked[0] in {colour for colour, _ in told}
    assert len(found) == len({tuple(e.text.values()) for e in found}) == 2400 and swapped == 450
    assert counts == {
        (1, "entailment"): 150,
        (1, "non-entailment"): 150,
        (2, "entailment"): 1050,
        (2, "non-entailment"): 1050,
    }


def test_the_seeds_own_example_stands_in_it(test_part: Loaded) -> None:
    seeds = test_part.examples[0]
    assert seeds.text == {"premise": "There is a red car and a blue house.", "hypothesis": "There is a red house."}
    assert (seeds.gold, seeds.about["phenomenon"]) == ("non-entailment", "recombined")


def test_a_card_of_three_labels_takes_the_two_by_its_collapse() -> None:
    three = ("entailment", "neutral", "contradiction", "non-entailment")
    assert load("nli", "suite:composition", SourceOptions(), labels=three).examples
