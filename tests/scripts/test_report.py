"""``heldout report``: writes one file, says where, refuses in one line."""

from pathlib import Path

import pytest

from heldout.cli import main
from heldout.records import Card, Example, Prediction
from heldout.runs import write_json, write_lines


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    labels = ("bad", "good")
    write_json(folder / "card.json", Card("sentiment", "1", "label", labels, ("accuracy", "ece")).to_json())
    for name in ("dev", "films"):
        gold = [Example(f"{name}{k}", {"text": f"film {k} was fine"}, labels[k % 2]) for k in range(30)]
        answers = [Prediction(e.id, labels[k % 3 % 2], [0.6, 0.4]) for k, e in enumerate(gold)]
        write_lines(folder / "gold" / f"{name}.jsonl", (example.to_json() for example in gold))
        write_lines(folder / "predictions" / f"{name}.jsonl", (answer.to_json() for answer in answers))
    return folder


def test_the_report_lies_in_the_run_folder_and_its_place_is_printed(run_folder, capsys):
    assert main(["report", str(run_folder)]) == 0
    assert capsys.readouterr().out == f"{run_folder / 'report.html'}\n"
    assert "film 3 was fine" in (run_folder / "report.html").read_text()


def test_out_text_and_the_number_of_mistakes_are_options(run_folder, tmp_path):
    out = tmp_path / "elsewhere" / "page.html"
    assert main(["report", str(run_folder), "--out", str(out), "--no-text", "--mistakes", "3"]) == 0
    assert "was fine" not in out.read_text() and out.read_text().count("<article") == 3
    assert not (run_folder / "report.html").exists()


@pytest.mark.parametrize("words", [["none"], [], ["none", "--mistakes", "-1"], ["none", "--mistakes", "many"]])
def test_a_wrong_call_is_one_line_and_status_2(words, capsys):
    assert main(["report", *words]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and said.err.startswith("heldout: ")
