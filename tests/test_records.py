"""Records: what comes from outside is refused with file, row and what to do; ours comes back as it was."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.records import (
    Card,
    Example,
    Prediction,
    content_hash,
    join,
    read_card,
    read_gold,
    read_lines,
    read_predictions,
)
from heldout.runs import write_lines

CARD = Card("films", "1", "label", ("negative", "positive"), ("accuracy",))
ROW = CARD.to_json()


def lines(folder: Path, *rows: Any) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def refused(read: Any, *arguments: Any) -> str:
    with pytest.raises(Refused) as error:
        read(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_card_comes_back_as_it_was(tmp_path: Path) -> None:
    card = Card("c", "2", "label", ("a", "b"), ("mcc", "ece"), ("length",), {"a": "x"}, "Someone 2020")
    assert read_card(lines(tmp_path, card.to_json())) == card


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("{", "the card is not JSON"),
        ("[" * 100_000, "the card is not JSON"),
        ([], "must be a JSON object"),
        ({"name": "x"}, "lacks kind, labels, metrics"),
        (ROW | {"lable": []}, "unknown key 'lable'"),
        (ROW | {"kind": "image"}, "kind 'image' is unknown; use one of label, tags, span, lm"),
        (ROW | {"labels": "ab"}, "labels must be a list of strings"),
        (ROW | {"metrics": [1]}, "metrics must be a list of strings"),
        (ROW | {"metrics": []}, "metrics is empty"),
        (ROW | {"collapse": ["a"]}, "collapse must be an object"),
        (ROW | {"labels": ["a"]}, "two or more distinct labels"),
        (ROW | {"labels": ["a", "a"]}, "two or more distinct labels"),
    ],
)
def test_a_wrong_card_is_refused(tmp_path: Path, row: Any, says: str) -> None:
    path = lines(tmp_path, row)
    message = refused(read_card, path)
    assert message.startswith(f"{path}: ") and says in message


def test_a_card_that_is_not_there_or_is_a_folder_is_refused(tmp_path: Path) -> None:
    assert "no such card" in refused(read_card, tmp_path / "card.json")
    assert "cannot be read" in refused(read_card, tmp_path)


GOLD = {"id": "r1", "text": {"text": "Dull."}, "gold": "negative", "about": {"group": "film-7"}}


def test_gold_comes_back_as_it_was(tmp_path: Path) -> None:
    assert read_gold(lines(tmp_path, GOLD, "", GOLD | {"id": "r2"}), CARD) == [
        Example("r1", {"text": "Dull."}, "negative", {"group": "film-7"}),
        Example("r2", {"text": "Dull."}, "negative", {"group": "film-7"}),
    ]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (["", "{'id'}"], "line 2: not JSON"),
        ([GOLD, "[" * 100_000], "line 2: not JSON (nested too deeply)"),
        ([GOLD, json.dumps(GOLD) + " {}"], "line 2: not JSON (Extra data)"),
        ([GOLD, "\u00a0" + json.dumps(GOLD)], "line 2: not JSON"),
        ([[1]], 'line 1: every line is an object with an "id"'),
        ([{"id": 1}], 'line 1: every line is an object with an "id"'),
        ([{"id": "r1"}], 'line 1: no "gold"'),
        ([GOLD, GOLD], "line 2: id 'r1' stands here a second time"),
        ([GOLD | {"gold": "Negative"}], "line 1: gold 'Negative' is not among the card's labels"),
        ([GOLD | {"gold": ["negative"]}], "is not among the card's labels"),
        ([GOLD | {"text": "Dull."}], 'line 1: "text" must be an object'),
        ([GOLD | {"about": 1}], 'line 1: "about" must be an object'),
        ([], "holds no examples"),
    ],
)
def test_wrong_gold_is_refused_with_its_row(tmp_path: Path, rows: list[Any], says: str) -> None:
    path = lines(tmp_path, *rows)
    message = refused(read_gold, path, CARD)
    assert message.startswith(str(path)) and says in message


def test_a_byte_that_is_not_utf8_is_named_by_its_offset_in_the_file(tmp_path: Path) -> None:
    path, start = tmp_path / "gold.jsonl", json.dumps(GOLD).encode() + b"\n" + b" " * 20_000
    path.write_bytes(start + b"\xff")
    assert f"not UTF-8 at byte {len(start)}" in refused(read_gold, path, CARD)


def test_a_folder_or_nothing_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in refused(read_gold, tmp_path, CARD)
    assert "no such file" in refused(read_gold, tmp_path / "gold.jsonl", CARD)


def test_white_space_around_a_line_is_read_over_and_a_line_of_it_alone_is_none(tmp_path: Path) -> None:
    path = lines(tmp_path, " \t" + json.dumps(GOLD) + " \t", "\u00a0\u0085 ", GOLD | {"id": "r2"})
    assert [(number, row["id"]) for number, row in read_lines(path)] == [(1, "r1"), (3, "r2")]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps(GOLD), encoding="utf-8-sig")
    assert [number for number, _ in read_lines(path)] == [1]


SAID = {"id": "r1", "answer": "negative", "scores": [0.75, 0.25], "seen": {"tokens": 3, "lost": 0}}


def test_predictions_come_back_as_they_were(tmp_path: Path) -> None:
    assert read_predictions(lines(tmp_path, SAID, {"id": "r2", "answer": "positive"}), CARD) == [
        Prediction("r1", "negative", [0.75, 0.25], seen={"tokens": 3, "lost": 0}),
        Prediction("r2", "positive"),
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"answer": "NEGATIVE"}, "answer 'NEGATIVE' is not among"),
        ({"answer": 0}, "answer 0 is not among"),
        ({"scores": 0.75}, "scores must be 2 numbers"),
        ({"scores": [1.0]}, "scores must be 2 numbers"),
        ({"scores": [1.1, -0.1]}, "probabilities from 0 to 1"),
        ({"scores": [float("nan"), 1.0]}, "probabilities from 0 to 1"),
        ({"scores": [float("inf"), 0.0]}, "probabilities from 0 to 1"),
        ({"scores": [True, False]}, "probabilities from 0 to 1"),
        ({"scores": ["1", "0"]}, "probabilities from 0 to 1"),
        ({"scores": [0.75, 0.2498]}, "scores sum to 0.999800"),
        ({"seen": 3}, '"seen" must be an object of counts'),
        ({"seen": {"tokens": -1}}, '"seen" must be an object of counts'),
        ({"seen": {"lost": True}}, '"seen" must be an object of counts'),
    ],
)
def test_wrong_predictions_are_refused_with_their_row(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    path = lines(tmp_path, SAID | {"id": "r0"}, SAID | change)
    message = refused(read_predictions, path, CARD)
    assert message.startswith(f"{path}, line 2: ") and says in message


def test_scores_may_miss_one_by_their_rounding_and_are_not_renormalised(tmp_path: Path) -> None:
    (prediction,) = read_predictions(lines(tmp_path, SAID | {"scores": [0.74995, 0.25]}), CARD)
    assert prediction.scores == [0.74995, 0.25]


def test_a_prediction_without_an_answer_or_twice_is_refused(tmp_path: Path) -> None:
    assert 'line 1: no "answer"' in refused(read_predictions, lines(tmp_path, {"id": "r1"}), CARD)
    assert "line 2: id 'r1' is predicted a second time" in refused(read_predictions, lines(tmp_path, SAID, SAID), CARD)


def test_joining_is_by_id_in_the_order_of_gold() -> None:
    gold = [Example(name, {}, "positive") for name in "abc"]
    pairs = join(gold, [Prediction(name, "positive") for name in "cab"])
    assert [(example.id, prediction.id) for example, prediction in pairs] == [("a", "a"), ("b", "b"), ("c", "c")]


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        ("ac", "1 of 3 examples have no prediction; the first is id 'b'"),
        ("abcd", "1 predictions are for ids that gold lacks; the first is id 'd'"),
        ("abbc", "id 'b' is predicted twice"),
    ],
)
def test_a_lost_doubled_or_unknown_prediction_is_an_error_that_names_it(ids: str, says: str) -> None:
    gold = [Example(name, {}, "positive") for name in "abc"]
    assert says in refused(join, gold, [Prediction(name, "positive") for name in ids])


texts = st.text(st.characters(codec=None), max_size=20)


@given(rows=st.lists(st.tuples(texts, texts, st.sampled_from(CARD.labels)), min_size=1, unique_by=lambda row: row[0]))
@settings(deadline=None)  # files: under load one took 322 ms
def test_any_gold_survives_writing_and_reading(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    examples = [Example(name, {"text": text}, gold, {"group": text}) for name, text, gold in rows]
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    write_lines(path, (example.to_json() for example in examples))
    again = read_gold(path, CARD)
    assert again == examples
    assert content_hash(again) == content_hash(examples)


@given(rows=st.lists(st.tuples(texts, st.floats(0, 1)), unique_by=lambda row: row[0]))
@settings(deadline=None)  # files: under load one took 322 ms
def test_any_predictions_survive_writing_and_reading(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    predictions = [Prediction(name, "positive", [1 - p, p], seen={"lost": 0}) for name, p in rows]
    path = tmp_path_factory.mktemp("said") / "said.jsonl"
    write_lines(path, (prediction.to_json() for prediction in predictions))
    assert read_predictions(path, CARD) == predictions


def test_the_content_hash_is_of_ids_texts_gold_and_order_alone() -> None:
    one, two = Example("a", {"text": "x"}, "positive", {"group": "g"}), Example("b", {"text": "y"}, "negative")
    known = content_hash([one, two])
    assert content_hash([Example("a", {"text": "x"}, "positive"), two]) == known
    others = [
        Example("c", one.text, one.gold),
        Example("a", {"text": "z"}, one.gold),
        Example("a", one.text, "negative"),
    ]
    assert len({known, content_hash([two, one]), *(content_hash([other, two]) for other in others)}) == 5
