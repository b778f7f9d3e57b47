"""``heldout score --task``: gold as a task's source, answers in the files of shared tasks, WNUT-17's as published."""

import json
from pathlib import Path
from typing import Any

import pytest

from heldout.cli import main

GOLD = "Greta\tB-person\nBerg\tI-person\nsaw\tO\nMalmö\tB-place\n\nRain\tO\n"
SAID = "Greta O B-person\nBerg O I-person\nsaw O O\nMalmö B-place O\n\nrain O O\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.conll").write_text(GOLD)
    (tmp_path / "said.conll").write_text(SAID)
    return tmp_path


def score(*words: str, task: str = "ner", gold: str = "gold.conll", said: str = "said.conll") -> int:
    return main(["score", "--task", task, "--gold", gold, "--predictions", said, "--replicates", "50", *words])


def shown(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_columns_are_scored_against_columns_and_words_that_differ_are_counted(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In conlleval's form: gold's tag stands between the word and the last column, which is what the system said."""
    assert score("--json", "--out", "scores.json") == 0
    row = shown(capsys)
    assert row["metrics"]["entity_precision"]["value"] == 1.0
    assert row["metrics"]["entity_recall"]["value"] == 0.5
    assert row["notes"] == ["1 of 5 words in said.conll are not those of gold."]
    assert json.loads((files / "scores.json").read_text()) == row


def test_answers_in_our_own_format_are_joined_by_id(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": "gold.conll:2", "answer": ["O"]}, {"id": "gold.conll:1", "answer": ["O", "O", "O", "B-place"]}]
    (files / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert score("--json", said="said.jsonl") == 0
    assert shown(capsys)["metrics"]["entity_recall"]["value"] == 0.5


def test_how_the_source_was_read_is_noted(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "gold.conll").write_text(GOLD.replace("B-", "I-"))
    assert score() == 0
    assert "gold.conll: 2 tags converted from IO to IOB2." in capsys.readouterr().out


def test_a_card_says_which_tags_there_are_and_dev_files_are_read_as_the_others(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = ["O", "B-person", "I-person", "B-place"]
    card = {"name": "trips", "kind": "tags", "labels": labels, "metrics": ["entity_f1", "nll"]}
    (files / "card.json").write_text(json.dumps(card))
    sure = {"B-person": [0.1, 0.7, 0.1, 0.1], "I-person": [0.1, 0.1, 0.7, 0.1], "O": [0.7, 0.1, 0.1, 0.1]}
    answers = {"gold.conll:1": ["B-person", "I-person", "O", "O"], "gold.conll:2": ["O"]}
    rows = [{"id": name, "answer": tags, "scores": [sure[tag] for tag in tags]} for name, tags in answers.items()]
    (files / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    more = ["--card", "card.json", "--dev-gold", "gold.conll", "--dev-predictions", "said.jsonl"]
    assert score("--json", *more, said="said.jsonl") == 0
    row = shown(capsys)
    assert row["card"] == "trips"
    assert row["variants"]["temperature"]["in_sample"] is True
    (files / "gold.conll").write_text(GOLD.replace("place", "river"))
    assert score(*more, said="said.jsonl") == 2
    assert "the entity types 'river' are not among person, place" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (SAID + "\nmore O O\n", "said.conll: 3 sentences for the 2 of gold"),
        (SAID.replace("saw O O\n", ""), "said.conll, sentence 1 (line 1): 3 words for the 4 of gold"),
        (
            SAID.replace("rain O O", "rain O I-O"),
            "said.conll, sentence 2 (line 6): the answer of word 1, 'I-O', is not",
        ),
        (SAID.replace("rain O O", "rain O"), "said.conll, line 6: 2 columns where the first line has 3"),
        ("rain\nrain\n", "said.conll: no file of columns"),
    ],
)
def test_a_submission_that_does_not_fit_gold_is_one_line_and_status_2(
    files: Path, capsys: pytest.CaptureFixture[str], said: str, says: str
) -> None:
    (files / "said.conll").write_text(said)
    assert score() == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert says in captured.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["score", "--task", "ner", "--gold", "gold.conll"], "--predictions is missing"),
        (["score", "run", "--task", "ner"], "--task goes with files and run is a run folder"),
        (["score", "--task", "nerr", "--gold", "gold.conll", "--predictions", "said.conll"], "no task 'nerr'"),
    ],
)
def test_wrong_calls_are_one_line_and_status_2(
    files: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and says in captured.err


def test_squads_own_files_are_scored_as_they_are(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = [
        {"id": "q1", "question": "Who left?", "answers": [{"text": "Greta", "answer_start": 0}]},
        {"id": "q2", "question": "When?", "answers": [{"text": "today", "answer_start": 11}]},
    ]
    paragraphs = [{"context": "Greta left today.", "qas": questions}]
    (files / "gold.json").write_text(json.dumps({"version": "1.1", "data": [{"title": "T", "paragraphs": paragraphs}]}))
    (files / "said.json").write_text(json.dumps({"q2": "left today", "q1": "Greta"}))
    assert score("--json", task="qa", gold="gold.json", said="said.json") == 0
    metrics = shown(capsys)["metrics"]
    assert (metrics["em"]["value"], metrics["f1"]["value"]) == (0.5, pytest.approx((1 + 2 / 3) / 2))
    for said, says in (
        ([], "said.json: must be an object from the id"),
        ({"q1": None}, "said.json, id 'q1': answer must be a string"),
        ({"q1": ""}, "said.json: 1 of 2 examples have no prediction; the first is id 'q2'"),
        ({"q1": "", "q2": "", "q3": ""}, "said.json: 1 predictions are for ids that gold lacks; the first is id 'q3'"),
    ):
        (files / "said.json").write_text(json.dumps(said))
        assert score(task="qa", gold="gold.json", said="said.json") == 2
        assert says in capsys.readouterr().err


def test_wnut17s_submissions_get_their_published_figures(real_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The published F1 is conlleval's: two of the seven begin entities with I-, which a strict reader does not take."""
    folder = real_data / "wnut17"
    figures = {
        "uh_ritual": (41.86, 41.86),
        "spinningbytes.txt": (40.78, 41.31),
        "sjtu_adapt.txt": (40.42, 40.42),
        "arcada": (39.98, 39.98),
        "flytxt": (38.35, 38.35),
        "mic-cis.txt": (37.06, 37.30),
        "drexel_cci": (26.30, 26.30),
    }
    assert sorted(path.name for path in (folder / "submissions").iterdir()) == sorted(figures)
    for name, (published, strict) in figures.items():
        gold, said = (str(folder / path) for path in ("emerging.test.annotated", f"submissions/{name}"))
        assert score("--json", gold=gold, said=said) == 0
        row = shown(capsys)
        values = [round(100 * row["metrics"][name]["value"], 2) for name in ("entity_f1_lenient", "entity_f1")]
        assert values == [published, strict], name
        assert (row["n"], row["metrics"]["entity_f1"]["n"]) == (1287, 1079)
        others = ["1283 of 23394 words" in note for note in row["notes"]]
        assert others == ([True] if name == "mic-cis.txt" else [])
