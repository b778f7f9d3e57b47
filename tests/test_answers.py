"""What spans must look like in gold and in predictions: refused with file and row, or read as they were."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.records import Card, Example, Prediction, read_gold, read_predictions
from heldout.runs import write_lines

CARD = Card("qa", "2.0", "span", (), ("f1", "em"))
TEXT = {"question": "Who baked the bread?", "context": "Ada baked the bread."}
GOLD = {"id": "q1", "text": TEXT, "gold": [{"text": "Ada", "start": 0}], "about": {}}
BEST = {"text": "Ada", "start": 0, "end": 3, "p": 0.6}
LATER = {"text": "bread", "start": 14, "end": 19, "p": 0.2}
SAID = {"id": "q1", "answer": "Ada", "scores": {"null_score": -1.5, "best": BEST, "nbest": [BEST, LATER]}}


def lines(folder: Path, *rows: Any) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def refused(read: Any, *arguments: Any) -> str:
    with pytest.raises(Refused) as error:
        read(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_gold_of_spans_comes_back_as_it_was_with_and_without_an_answer(tmp_path: Path) -> None:
    path = lines(tmp_path, GOLD, GOLD | {"id": "q2", "gold": []})
    assert read_gold(path, CARD) == [Example("q1", TEXT, GOLD["gold"]), Example("q2", TEXT, [])]


@pytest.mark.parametrize(
    ("gold", "says"),
    [
        (None, "gold is null; a question without labels cannot be scored, an impossible one has []"),
        ("Ada", "gold must be a list of answers"),
        ({"text": ["Ada"], "answer_start": [0]}, "gold must be a list of answers"),
        (["Ada"], "an answer of gold must be"),
        ([{"text": "Ada"}], "an answer of gold must be"),
        ([{"text": None, "start": 0}], "an answer of gold must be"),
        ([{"text": "Ada", "start": -1}], "an answer of gold must be"),
        ([{"text": "Ada", "start": True}], "an answer of gold must be"),
        ([{"text": "Ada", "start": 0}, {"text": "Ada", "start": 0.0}], "an answer of gold must be"),
    ],
)
def test_wrong_gold_of_spans_is_refused_with_its_row(tmp_path: Path, gold: Any, says: str) -> None:
    path = lines(tmp_path, GOLD, GOLD | {"id": "q2", "gold": gold})
    message = refused(read_gold, path, CARD)
    assert message.startswith(f"{path}, line 2: ") and says in message


def test_a_v2_file_without_labels_is_refused(tmp_path: Path) -> None:
    unlabelled = {key: value for key, value in GOLD.items() if key != "gold"}
    assert "a file without gold labels cannot be scored" in refused(read_gold, lines(tmp_path, unlabelled), CARD)


def test_predictions_of_spans_come_back_as_they_were_bare_or_with_scores(tmp_path: Path) -> None:
    rows = [SAID, {"id": "q2", "answer": ""}, {"id": "q3", "answer": "", "scores": {"best": BEST}}]
    assert read_predictions(lines(tmp_path, *rows), CARD) == [
        Prediction("q1", "Ada", SAID["scores"]),
        Prediction("q2", ""),
        Prediction("q3", "", {"best": BEST}),
    ]


def scores(**change: Any) -> dict[str, Any]:
    return {"scores": {"null_score": -1.5, "best": BEST, "nbest": [BEST, LATER]} | change}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"answer": None}, 'answer must be a string, "" where there is none'),
        ({"answer": ["Ada"]}, "answer must be a string"),
        ({"scores": [0.5]}, 'scores must be an object with "best"'),
        ({"scores": {"null_score": 1.0}}, 'scores must be an object with "best"'),
        (scores(no_answer=1.0), 'scores must be an object with "best"'),
        (scores(null_score=None), "null_score must be a finite number"),
        (scores(null_score=float("nan")), "null_score must be a finite number"),
        (scores(null_score=float("inf")), "null_score must be a finite number"),
        (scores(null_score=10**400), "null_score must be a finite number"),
        (scores(null_score=True), "null_score must be a finite number"),
        (scores(best="Ada"), "a span must be an object of text, start, end and p"),
        (scores(best={"text": "Ada"}), "a span must be an object of text, start, end and p"),
        (scores(best=BEST | {"score": 1.0}), "a span must be an object of text, start, end and p"),
        (scores(best=BEST | {"text": ""}), "the text of a span is never empty"),
        (scores(best=BEST | {"text": None}), "the text of a span is never empty"),
        (scores(best=BEST | {"start": 3}), "a span starts before it ends"),
        (scores(best=BEST | {"start": -1}), "a span starts before it ends"),
        (scores(best=BEST | {"end": 3.0}), "a span starts before it ends"),
        (scores(best=BEST | {"p": 1.5}), "p of a span must be a probability"),
        (scores(best=BEST | {"p": float("nan")}), "p of a span must be a probability"),
        (scores(nbest=BEST), '"nbest" must be a list'),
        (scores(nbest=[BEST, 3]), "a span must be an object"),
        (scores(nbest=[LATER, BEST]), '"nbest" must fall in p'),
    ],
)
def test_wrong_predictions_of_spans_are_refused_with_their_row(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    path = lines(tmp_path, SAID | {"id": "q0"}, SAID | change)
    message = refused(read_predictions, path, CARD)
    assert message.startswith(f"{path}, line 2: ") and says in message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SAID["scores"], *BEST]), inner),
    max_leaves=8,
)


@given(gold=json_values, answer=json_values, scores=json_values)
def test_whatever_stands_in_a_line_it_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, gold: Any, answer: Any, scores: Any
) -> None:
    folder = tmp_path_factory.mktemp("any")
    write_lines(folder / "gold.jsonl", [GOLD | {"gold": gold}])
    write_lines(folder / "said.jsonl", [SAID | {"answer": answer, "scores": scores}])
    for read, name in ((read_gold, "gold"), (read_predictions, "said")):
        try:
            assert len(read(folder / f"{name}.jsonl", CARD)) == 1
        except Refused as error:
            assert "\n" not in str(error) and "line 1" in str(error)


spans = st.tuples(st.text(min_size=1, max_size=9), st.integers(0, 99), st.integers(1, 9), st.floats(0, 1)).map(
    lambda row: {"text": row[0], "start": row[1], "end": row[1] + row[2], "p": row[3]}
)


@given(st.text(max_size=9), st.floats(allow_nan=False, allow_infinity=False), spans, st.lists(spans, max_size=4))
def test_any_well_made_prediction_survives_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory, answer: str, null_score: float, best: dict[str, Any], nbest: list[Any]
) -> None:
    nbest.sort(key=lambda span: -span["p"])
    prediction = Prediction("q1", answer, {"null_score": null_score, "best": best, "nbest": nbest})
    path = tmp_path_factory.mktemp("said") / "said.jsonl"
    write_lines(path, [prediction.to_json()])
    assert read_predictions(path, CARD) == [prediction]
