import json
from pathlib import Path

import pytest

from heldout.cli import main
from heldout.data.suites import SUITES


def test_list_names_every_suite_of_every_task_with_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "list"]) == 0
    shown = capsys.readouterr().out
    lines = [line.split() for line in shown.splitlines() if line.startswith("suite:")]
    assert [line[1] for line in lines] == [
        task for suite in SUITES.values() for task in suite.rows for _ in suite.rows[task]
    ]
    assert all(int(line[2]) >= 300 for line in lines) and len(lines) == 7


def test_list_of_a_suite_shows_an_example_of_every_phenomenon(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "list", "negation", "--task", "sentiment", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown) == 23
    assert shown[0] == {
        "phenomenon": "not + good",
        "cases": "31",
        "example": "The film is not good. → negative",
        "its twin": "The film is good. → positive",
    }


def test_what_write_writes_is_a_source_of_the_same_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "negation.jsonl"
    assert main(["suite", "write", "negation", "--task", "qa", "--out", str(out)]) == 0
    assert main(["suite", "check", str(out), "--task", "qa", "--json"]) == 0
    checked = json.loads(capsys.readouterr().out.split("\n", 1)[1])
    assert checked["rows"] == 1200 and checked["pairs"] == 600 and checked["problems"] == []


def test_new_writes_a_template_that_check_finds_right_and_never_over_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.jsonl"
    assert main(["suite", "new", str(path), "--task", "ner"]) == 0
    assert main(["suite", "check", str(path), "--task", "ner"]) == 0
    assert "2 rows, 1 pairs" in capsys.readouterr().out
    assert main(["suite", "new", str(path), "--task", "ner"]) == 2
    assert "is there already" in capsys.readouterr().err


def test_check_lists_what_is_wrong_by_row_and_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"text": "Fine.", "gold": "positive"}\n{"text": "", "gold": "negative", "expect": "inv"}\n')
    assert main(["suite", "check", str(path), "--task", "sentiment"]) == 2
    out, err = capsys.readouterr()
    assert f"{path}, line 2: a text is empty" in out
    assert err == f"heldout: {path}: 1 of 2 rows have something wrong; mend those listed above\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lst"], "did you mean list?"),
        (["new"], "needs a name: the file to write"),
        (["new", "mine.csv", "--task", "ner"], "name it mine.jsonl"),
        (["list", "negation"], "needs --task, one of"),
        (["write", "negation", "--task", "nli"], "needs --out"),
        (["list", "negatoin", "--task", "nli"], "did you mean negation?"),
    ],
)
def test_a_call_that_lacks_something_is_told_what(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", *words]) == 2
    assert message in capsys.readouterr().err
