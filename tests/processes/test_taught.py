"""A student is taught by two processes as by one: the teacher's answers, the loss curve, the controls."""

import json

import pytest

from heldout.runs import read_json


@pytest.fixture(scope="module", params=["", "cosine"], ids=["outputs", "and states"])
def taught(request, ranks, words, one, tmp_path_factory):
    """The folders of the same distillation by one process and by two."""
    folder = tmp_path_factory.mktemp("taught")
    more = {"--max-length": "16", "--batch-size": "5", "--learning-rate": "1e-2", "--epochs": "2", "--dev-size": "20"}
    train = words[words.index("--train") + 1]
    call = ["distill", "sentiment", "--teacher", one, "--layers", "1", "--train", train, "--precision", "fp32"]
    call += [part for pair in more.items() for part in pair]
    call += ["--hidden", request.param] if request.param else []
    for processes in (1, 2):
        out = folder / f"by-{processes}"
        ranks.run([*call, "--out", out], folder / f"logs-{processes}", processes=processes)
    return folder / "by-1", folder / "by-2"


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_student_and_its_controls_take_the_steps_of_one_process(taught, losses):
    for folder in ("", "controls/plain", "controls/hard"):
        alone, both = (run / folder for run in taught)
        assert read_json(both / "ledger.json")["plan"] == read_json(alone / "ledger.json")["plan"]
        assert read_json(both / "environment.json")["processes"] == 2
        assert len(losses(alone)) > 20
        assert losses(both) == pytest.approx(losses(alone), abs=1e-4)


def test_the_student_answers_every_row_of_dev_once(taught):
    alone, both = (rows(run / "predictions" / "dev.jsonl") for run in taught)
    assert [row["id"] for row in both] == [row["id"] for row in alone] and len(both) == 20
    assert [row["scores"] for row in both] == [pytest.approx(row["scores"], abs=1e-3) for row in alone]


def test_the_teacher_says_the_same_to_both(taught):
    alone, both = (sorted(path.name for path in (run / "teacher").iterdir()) for run in taught)
    assert alone == both
    said = [rows(next((run / "teacher").glob("*.jsonl"))) for run in taught]
    assert [row["id"] for row in said[1]] == [row["id"] for row in said[0]]
    assert [row["scores"] for row in said[1]] == [pytest.approx(row["scores"], abs=1e-5) for row in said[0]]
