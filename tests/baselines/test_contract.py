"""What every baseline must keep; each is found by listing the folder."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from heldout.baselines import BASELINES, BaselineOptions, find
from heldout.errors import Refused
from heldout.eval.tabulate import tabulate
from heldout.records import Card, Example, Prediction, read_predictions
from heldout.runs import write_lines

CARD = Card("films", "1", "label", ("negative", "positive"), ("accuracy", "nll"))
DEFAULT = BaselineOptions()
#: Those that answer with a label. Texts here have the fields of all of them.
KINDS = ["hypothesis-only", "lexicon", "majority", "static", "tfidf", "word-overlap"]
#: Fits every baseline on the same texts and prints its predictions: run under several hash seeds.
PROGRAM = """
import json, sys
from heldout.baselines import BASELINES, BaselineOptions
from heldout.records import Card, Example
card = Card("films", "1", "label", ("negative", "positive"), ("accuracy", "nll"))
words = ["plot", "actor", "scene", "music", "joke", "ending", "camera", "script"]
def example(i, kind):
    text = f"a {('great', 'dull')[i % 2]} {words[i % 8]} and {words[i * 5 % 7]}"
    fields = {"text": text, "premise": text, "hypothesis": text[i % 9:]}
    return Example(f"{kind}{i}", fields, ("positive", "negative")[i % 2])
train, dev = ([example(i, kind) for i in range(n)] for n, kind in ((60, "t"), (20, "d")))
for name in sys.argv[1:]:
    fitted = BASELINES[name].fit(train, dev, card, 0, BaselineOptions())
    print(name, dict(fitted.chosen_on_dev), json.dumps([p.to_json() for p in fitted.predict(dev)]))
"""


def examples(*rows: tuple[str, str]) -> list[Example]:
    return [
        Example(str(i), {"text": text, "premise": text, "hypothesis": text}, label)
        for i, (text, label) in enumerate(rows)
    ]


TRAIN = examples(
    ("a good film with a good plot", "positive"),
    ("a great film, a joy", "positive"),
    ("a good joke and a great plot", "positive"),
    ("a bad film with a dull plot", "negative"),
    ("a dull joke, a bad film", "negative"),
)
DEV = examples(("a great plot", "positive"), ("a dull plot", "negative"))
TEST = examples(("nothing known", "positive"), ("good", "negative"), ("", "negative"), ("bad é 🎬", "negative"))


def predictions(kind: str, test: Sequence[Example] = TEST) -> list[Prediction]:
    return BASELINES[kind].fit(TRAIN, DEV, CARD, 0, DEFAULT).predict(test)


def test_the_folder_holds_these_baselines_under_their_own_names() -> None:
    assert set(KINDS) <= set(BASELINES)
    assert all(baseline.name == name for name, baseline in BASELINES.items())


def test_every_other_baseline_refuses_a_card_of_labels_by_name() -> None:
    for name in set(BASELINES) - set(KINDS):
        with pytest.raises(Refused, match=f"{name}: not applicable to films"):
            BASELINES[name].fit(TRAIN, DEV, CARD, 0, DEFAULT)


@pytest.mark.parametrize("kind", ["hypothesis-only", "word-overlap"])
def test_baselines_of_pairs_refuse_single_texts(kind: str) -> None:
    single = [Example(e.id, {"text": e.text["text"]}, e.gold) for e in TRAIN]
    with pytest.raises(Refused, match=f"{kind}: not applicable to films, whose texts are no pairs"):
        BASELINES[kind].fit(single, single, CARD, 0, DEFAULT)


def test_an_unknown_baseline_names_the_nearest() -> None:
    with pytest.raises(Refused, match="'tf-idf' is unknown; did you mean tfidf"):
        find("tf-idf")


@pytest.mark.parametrize("kind", KINDS)
def test_each_example_gets_one_prediction_that_a_predictions_file_takes(kind: str, tmp_path: Path) -> None:
    said = predictions(kind)
    assert [prediction.id for prediction in said] == [example.id for example in TEST]
    write_lines(tmp_path / "said.jsonl", (prediction.to_json() for prediction in said))
    assert read_predictions(tmp_path / "said.jsonl", CARD) == said
    assert len(tabulate(CARD, TEST, said)) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_prediction_does_not_depend_on_what_else_is_predicted(kind: str) -> None:
    alone, together = [predictions(kind, [example])[0] for example in TEST], predictions(kind)
    assert [(one.id, one.answer) for one in alone] == [(one.id, one.answer) for one in together]
    for one, other in zip(alone, together, strict=True):
        # A product of dense matrices (static) rounds its last bit by their height.
        assert (one.scores is None) == (other.scores is None)
        assert one.scores is None or one.scores == pytest.approx(other.scores, abs=1e-12)
    assert predictions(kind, []) == []


@pytest.mark.parametrize("kind", KINDS)
def test_test_gold_and_dev_are_no_part_of_what_is_learnt(kind: str) -> None:
    """With one C to choose from, only train could tell two fits apart; test's gold never can."""
    swapped = [Example(e.id, e.text, "positive" if e.gold == "negative" else "negative") for e in TEST]
    assert predictions(kind, swapped) == predictions(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_known_by_name_whatever_the_order_of_the_card(kind: str) -> None:
    turned = Card("films", "1", "label", ("positive", "negative"), ("accuracy", "nll"))
    there = BASELINES[kind].fit(TRAIN, DEV, turned, 0, DEFAULT).predict(TEST)
    for one, other in zip(predictions(kind), there, strict=True):
        assert one.answer == other.answer
        assert one.scores == (other.scores and other.scores[::-1])


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_train_split_is_refused(kind: str) -> None:
    with pytest.raises(Refused):
        BASELINES[kind].fit([], DEV, CARD, 0, DEFAULT)


def test_predictions_are_the_same_under_every_hash_seed() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, *KINDS],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1]
    assert [line.split()[0] for line in said[0].splitlines()] == KINDS
    assert len(json.loads(said[0].splitlines()[0].split("} ", 1)[1])) == 20
