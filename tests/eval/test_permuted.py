"""FAULTS C2: labels in another order, told from the answers alone."""

import random

import pytest

from heldout.eval.permuted import OPENING, below_chance
from heldout.eval.score import score
from heldout.eval.tabulate import tabulate
from heldout.eval.text import render
from heldout.records import Card, Example, Prediction

LABELS = ("entailment", "neutral", "contradiction")
CARD = Card("nli", "1", "label", LABELS, ("accuracy",), ("domain",))


def made(answer, n=300, card=CARD, right=0.9, seed=1):
    """Gold drawn at random; a model right nine times of ten, whose answer goes through ``answer``."""
    rng, gold, said = random.Random(seed), [], []
    for i in range(n):
        label = rng.choice(card.labels)
        meant = label if rng.random() < right else rng.choice(card.labels)
        gold.append(Example(str(i), {}, label))
        said.append(Prediction(str(i), answer(meant)))
    return gold, said


def note(*rows, card=CARD):
    return below_chance(tabulate(card, *rows))


def test_a_turned_model_is_told_with_the_order_that_sets_it_right():
    turn = dict(zip(LABELS, (*LABELS[1:], LABELS[0]), strict=True))
    gold, said = made(turn.get)
    right = sum(turn[e.gold] == p.answer for e, p in zip(gold, said, strict=True)) / len(gold)
    found = note(gold, said)
    assert found.startswith(OPENING)
    assert "neutral as entailment" in found
    assert "contradiction as neutral" in found
    assert "entailment as contradiction" in found
    assert f"it would be {right:.3f}" in found


def test_two_swapped_labels_of_three_leave_the_third_out_of_the_sentence():
    swap = {"entailment": "contradiction", "contradiction": "entailment", "neutral": "neutral"}
    rows = made(swap.get)
    # A third is right: not below chance, however odd.
    assert note(*rows) is None
    few_neutral = [(e, p) for e, p in zip(*rows, strict=True) if e.gold != "neutral"]
    found = note(*map(list, zip(*few_neutral, strict=True)))
    assert "contradiction as entailment" in found
    assert "neutral as" not in found


@pytest.mark.parametrize("answer", [lambda meant: meant, lambda meant: "neutral"], ids=["good", "constant"])
def test_a_good_and_a_blind_model_are_not_accused(answer):
    assert note(*made(answer)) is None


def test_a_model_that_always_gives_a_rare_label_knows_nothing_and_is_not_below_chance():
    gold = [Example(str(i), {}, "neutral" if i < 10 else "entailment") for i in range(300)]
    assert note(gold, [Prediction(e.id, "neutral") for e in gold]) is None


def test_guesses_and_a_system_that_an_edited_set_fools_are_not_accused():
    for seed in range(50):
        assert note(*made(lambda meant: meant, right=0.0, seed=seed)) is None
    # Two labels, wrong on two of three: below chance, but a third from right in the other order as well.
    two = Card("edited", "1", "label", LABELS[:2], ("accuracy",))
    gold = [Example(str(i), {}, LABELS[i % 2]) for i in range(300)]
    fooled = [Prediction(str(i), LABELS[(i + (i % 3 > 0)) % 2]) for i in range(300)]
    assert sum(e.gold == p.answer for e, p in zip(gold, fooled, strict=True)) == 100
    assert note(gold, fooled, card=two) is None


def test_a_handful_of_examples_and_a_great_many_labels_are_left_alone():
    turn = dict(zip(LABELS, (*LABELS[1:], LABELS[0]), strict=True))
    assert note(*made(turn.get, n=29)) is None
    many = Card("many", "1", "label", tuple("abcdefgh"), ("accuracy",))
    shift = dict(zip(many.labels, (*many.labels[1:], many.labels[0]), strict=True))
    assert note(*made(shift.get, card=many), card=many) is None


def test_the_note_stands_in_the_scores_and_in_the_terminals_text():
    turn = dict(zip(LABELS, (*LABELS[1:], LABELS[0]), strict=True))
    scored = score(CARD, *made(turn.get), data="snli", replicates=50)
    assert [line.startswith(OPENING) for line in scored["notes"]] == [True]
    assert OPENING in render(scored)
    assert score(CARD, *made(lambda meant: meant), data="snli", replicates=50)["notes"] == []
