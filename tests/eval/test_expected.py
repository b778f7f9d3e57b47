import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.cases import direction
from heldout.errors import Refused
from heldout.eval.metrics import chosen, find
from heldout.eval.score import score
from heldout.eval.slices import known
from heldout.eval.tabulate import tabulate
from heldout.eval.text import render
from heldout.records import Card, Example, Prediction

CARD = Card("mood", "1", "label", ("bad", "good"), ("accuracy",))
NAMES = ("both_right", "twin_gap", "flip_rate", "moved", "expectation_met")


def case(identity: str, gold: str, **about: Any) -> Example:
    return Example(identity, {"text": identity}, gold, about)


def said(identity: str, p: float) -> Prediction:
    return Prediction(identity, "good" if p > 0.5 else "bad", [1 - p, p])


@st.composite
def suites(draw: st.DrawFn) -> tuple[list[Example], list[Prediction]]:
    gold, answers = [], []
    for pair in range(draw(st.integers(1, 6))):
        size = draw(st.integers(2, 4))
        for member in range(size):
            about: dict[str, Any] = {"pair": str(pair), "role": "changed" if member else "original"}
            expect = draw(st.sampled_from(["mft", "inv", "dir", None])) if member else None
            about |= {"expect": expect} if expect else {}
            about |= {"direction": draw(st.sampled_from(["+good", "-good", "-bad:0.1", "+answer:-0.1"]))}
            name = f"{pair}-{member}"
            gold.append(case(name, draw(st.sampled_from(["bad", "good"])), **about))
            answers.append(said(name, draw(st.integers(0, 10)) / 10))
    order = draw(st.permutations(range(len(gold))))
    return [gold[k] for k in order], answers


def slow(gold: list[Example], answers: list[Prediction]) -> dict[str, float]:
    """The definitions, pair by pair, with nothing shared with the code under test."""
    by_id = {answer.id: answer for answer in answers}
    lists: dict[str, list[float]] = {name: [] for name in NAMES}
    for example in gold:
        original = next(other for other in gold if other.id == example.about["pair"] + "-0")
        if example is original:
            continue
        mine, before = by_id[example.id], by_id[original.id]
        right, was_right = mine.answer == example.gold, before.answer == original.gold
        lists["both_right"].append(float(right and was_right))
        lists["twin_gap"].append(float(was_right) - float(right))
        expect = example.about.get("expect")
        if expect == "mft":
            lists["expectation_met"].append(float(right))
        if expect == "inv":
            lists["flip_rate"].append(float(mine.answer != before.answer))
            lists["expectation_met"].append(float(mine.answer == before.answer))
        if expect == "dir":
            sign, label, margin = {
                "+good": (1, "good", None),
                "-good": (-1, "good", None),
                "-bad:0.1": (-1, "bad", 0.1),
                "+answer:-0.1": (1, before.answer, -0.1),
            }[example.about["direction"]]
            at = ("bad", "good").index(label)
            change = round(sign * (mine.scores[at] - before.scores[at]), 6)
            lists["moved"].append(float(change > 0 if margin is None else change >= margin))
            lists["expectation_met"].append(lists["moved"][-1])
    return {name: float(np.mean(values)) if values else math.nan for name, values in lists.items()}


@given(suites())
@settings(max_examples=150, deadline=None)
def test_expectations_equal_their_definitions_pair_by_pair(suite: tuple[list[Example], list[Prediction]]) -> None:
    gold, answers = suite
    table, wanted = tabulate(CARD, gold, answers), slow(gold, answers)
    brought = [metric.name for metric in chosen(CARD, table)]
    for name, value in wanted.items():
        assert find(name).of(table) == pytest.approx(value, abs=1e-9, nan_ok=True), name
        assert (name in brought) == (not math.isnan(value)), name


PAIR = [case("1-0", "good", pair="1", role="original"), case("1-1", "bad", pair="1", role="changed", expect="mft")]


def test_a_phenomenon_holds_the_changed_texts_and_still_knows_their_twins() -> None:
    gold = [Example(e.id, e.text, e.gold, {**e.about, "phenomenon": "not"}) for e in PAIR]
    row = score(CARD, gold, [said("1-0", 0.9), said("1-1", 0.8)], data="suite", replicates=50)
    part = row["slices"]["phenomenon=not"]
    assert part["n"] == 1
    assert part["metrics"]["twin_gap"]["value"] == 1 and part["metrics"]["both_right"]["value"] == 0
    assert [key for key in row["slices"] if key.startswith("role")] == ["role=changed", "role=original"]
    assert row["slices"]["role=original"]["metrics"]["twin_gap"]["value"] is None
    shown = render(row)
    assert "gap to twin" in shown and "both right" in shown


def test_examples_in_no_pair_are_told_apart_by_gold_as_hans_needs() -> None:
    value = known()["phenomenon"].value
    assert value(case("a", "good", phenomenon="subsequence"), said("a", 0.1)) == "subsequence, good"
    assert value(case("a", "good", phenomenon="not", pair="1", role="changed"), said("a", 0.1)) == "not"
    assert value(case("a", "good", phenomenon="not", pair="1", role="original"), said("a", 0.1)) is None


def test_a_move_needs_scores_and_is_not_made_up() -> None:
    gold = [PAIR[0], case("1-1", "bad", pair="1", role="changed", expect="dir", direction="-good")]
    row = score(CARD, gold, [Prediction("1-0", "good"), Prediction("1-1", "bad")], data="suite", replicates=50)
    assert row["metrics"]["moved"] == {"value": None, "note": "needs scores: 1 of 2 predictions have none"}
    assert row["metrics"]["both_right"]["value"] == 1


def test_none_of_twelve_right_is_no_certainty() -> None:
    gold, answers = [], []
    for pair in range(12):
        gold += [case(f"{pair}-{k}", "bad", pair=str(pair), role=("original", "changed")[k]) for k in (0, 1)]
        answers += [said(f"{pair}-{k}", 0.1 + 0.8 * k) for k in (0, 1)]
    part = score(CARD, gold, answers, data="suite", replicates=50)["slices"]["role=changed"]["metrics"]["accuracy"]
    # Wilson's bound for 0 of 12: z² / (12 + z²).
    assert (part["value"], part["low"]) == (0, 0) and part["high"] == pytest.approx(0.2425, abs=1e-4)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"expect": "same"}, "id 'a': expect 'same' is none of mft, inv, dir"),
        ({"expect": "inv"}, "id 'a': expect inv needs the original of its pair"),
        ({"expect": "inv", "pair": "9"}, "id 'a': expect inv needs the original of its pair"),
        ({"expect": "dir", "pair": "1", "direction": "-nice"}, "direction 'nice' is none of the card's labels"),
        ({"expect": "dir", "pair": "1"}, "id 'a': direction '' must be [+] or - and a label"),
    ],
)
def test_an_expectation_that_means_nothing_is_refused_with_its_id(about: dict[str, str], message: str) -> None:
    gold = [*PAIR, case("a", "good", role="changed", **about)]
    with pytest.raises(Refused, match=message):
        tabulate(CARD, gold, [said(example.id, 0.9) for example in gold])


@given(st.sampled_from("+-"), st.from_regex(r"[a-z]+( [a-z]+)?", fullmatch=True), st.integers(-99, 99) | st.none())
def test_a_direction_is_read_as_it_is_written(sign: str, label: str, cents: int | None) -> None:
    margin = "" if cents is None else f":{cents / 100}"
    found = direction(f"{sign}{label}{margin}", "row 1")
    assert (found.sign, found.label, found.margin) == (1 if sign == "+" else -1, label, (cents or 0) / 100)


def test_sentences_are_the_same_where_the_same_words_are_the_same_entities_wherever_they_stand() -> None:
    card = Card("names", "1", "tags", ("O", "B-per", "I-per"), ("entity_f1",))
    about = {"pair": "1", "role": "original"}
    gold = [
        Example("a", {"words": ["Ann", "came"]}, ["B-per", "O"], about),
        Example(
            "b", {"words": ["Not", "Ann", "came"]}, ["O", "B-per", "O"], {**about, "role": "changed", "expect": "inv"}
        ),
    ]
    kept = [Prediction("a", ["B-per", "O"]), Prediction("b", ["O", "B-per", "O"])]
    moved = [kept[0], Prediction("b", ["B-per", "I-per", "O"])]
    rates = [find("flip_rate").of(tabulate(card, gold, answers)) for answers in (kept, moved)]
    assert rates == [0, 1]


def test_answers_are_the_same_text_as_squad_compares_texts() -> None:
    card = Card("qa", "1.1", "span", (), ("f1",))
    gold = [
        Example(name, {"question": "Who?", "context": "The Ada."}, [{"text": "Ada", "start": 4}], about)
        for name, about in (
            ("a", {"pair": "1", "role": "original"}),
            ("b", {"pair": "1", "role": "changed", "expect": "inv"}),
        )
    ]
    table = tabulate(card, gold, [Prediction("a", "The Ada"), Prediction("b", "ada.")])
    assert find("flip_rate").of(table) == 0 and find("both_right").of(table) == 1
