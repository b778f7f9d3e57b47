"""A teacher's answers from a file: refused with the reason where they are not of these examples or labels."""

import json
import math

import numpy as np
import pytest

from heldout.errors import Refused
from heldout.records import Card, Example
from heldout.train.answers import read_answers

CARD = Card("sentiment", "1", "label", ("negative", "positive"), ("accuracy",))
TRAIN = [Example("a", {"text": "dull"}, "negative"), Example("b", {"text": "lovely"}, "positive")]
ROWS = [
    {"id": "c", "answer": "positive", "scores": [0.4, 0.6]},
    {"id": "b", "answer": "positive", "scores": [1e-9, 1 - 1e-9]},
    {"id": "a", "answer": "negative", "scores": [0.75, 0.25]},
]


@pytest.fixture
def written(tmp_path):
    def write(rows, card=None, name="teacher.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        if card is not None:
            (tmp_path / "card.json").write_text(json.dumps(card.to_json()))
        return path

    return write


def test_answers_are_joined_by_id_and_kept_at_full_precision(written):
    answers = read_answers(written(ROWS), CARD, TRAIN)
    assert [prediction.id for prediction in answers.predictions] == ["a", "b"]
    assert answers.unused == 1
    assert answers.agreement(TRAIN) == 1.0
    rows = answers.log_p(["positive", "negative"])
    assert rows[0].tolist() == pytest.approx([math.log(0.25), math.log(0.75)])
    assert rows[1][1] == pytest.approx(math.log(1e-9))


def test_labels_are_matched_by_name_in_whatever_order_and_case(written):
    theirs = Card("other", "1", "label", ("POSITIVE", "NEGATIVE"), ("accuracy",))
    rows = [
        {"id": "a", "answer": "NEGATIVE", "scores": [0.25, 0.75]},
        {"id": "b", "answer": "POSITIVE", "scores": [0.9, 0.1]},
    ]
    path = written(rows, theirs, "predictions/train.jsonl")
    answers = read_answers(path, CARD, TRAIN)
    assert [prediction.answer for prediction in answers.predictions] == ["negative", "positive"]
    assert np.exp(answers.log_p(["negative", "positive"])).tolist()[0] == pytest.approx([0.75, 0.25])


def refused(path, *parts, card=CARD, train=TRAIN, teacher_card=None):
    with pytest.raises(Refused) as error:
        read_answers(path, card, train, teacher_card)
    assert all(part in str(error.value) for part in parts), error.value


def test_ids_that_do_not_match_are_refused_naming_one_of_each(written):
    path = written(ROWS[:2])
    refused(path, "no prediction for 1 of the 2 examples", "'a'", "its own ids begin with 'c'")
    refused(written([]), "holds no predictions")


def test_label_names_that_do_not_match_are_refused(written):
    refused(written([{"id": "a", "answer": "sad", "scores": [0.4, 0.6]}]), "'sad'", "negative")
    theirs = Card("other", "1", "label", ("happy", "sad"), ("accuracy",))
    path = written([{"id": "a", "answer": "sad", "scores": [0.4, 0.6]}], theirs, "predictions/train.jsonl")
    refused(path, "happy, sad", "negative, positive", "--label")


def test_answers_without_probabilities_are_refused(written):
    refused(written([{"id": "a", "answer": "negative"}, ROWS[1]]), "'a'", "no scores")


def test_scores_that_stand_in_another_order_are_refused(written):
    swapped = [row | {"scores": row["scores"][::-1]} for row in ROWS]
    refused(written(swapped), "2 of 2 answers are not the likeliest", "--teacher-card")


def test_tags_for_another_sentence_are_refused(written):
    card = Card("ner", "1", "tags", ("O", "B-x", "I-x"), ("entity_f1",))
    train = [Example("a", {"words": ["one", "two", "three"]}, ["O", "O", "O"])]
    path = written([{"id": "a", "answer": ["O", "B-x"], "scores": [[0.9, 0.05, 0.05], [0.1, 0.8, 0.1]]}])
    refused(path, "2 tags for the 3 words", card=card, train=train)
