"""Sets without gold: what changes did is told, and nothing that only gold could tell."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from heldout.cli import main
from heldout.errors import Refused
from heldout.eval.comparison.inputs import read_contest
from heldout.eval.replay import replay
from heldout.eval.report.inputs import read_inputs
from heldout.eval.run_scores import score_run
from heldout.eval.score import score
from heldout.eval.summary import summary
from heldout.eval.text import render
from heldout.records import Card, Example, Prediction, read_gold
from heldout.runs import write_json, write_lines

CARD = Card("mood", "1", "label", ("bad", "good"), ("accuracy", "macro_f1", "nll", "ece"))
#: (pair, role, expectation, p of good): one of three changes flips, one of two moves as it should.
CASES = [
    ("a", "original", {}, 0.9),
    ("a", "changed", {"expect": "inv", "phenomenon": "typo"}, 0.8),
    ("a", "changed", {"expect": "inv", "phenomenon": "typo"}, 0.3),
    ("b", "original", {}, 0.2),
    ("b", "changed", {"expect": "inv", "phenomenon": "name"}, 0.1),
    ("b", "changed", {"expect": "dir", "direction": "+good", "phenomenon": "praise"}, 0.4),
    ("b", "changed", {"expect": "dir", "direction": "+good", "phenomenon": "praise"}, 0.1),
]


def goldless() -> tuple[list[Example], list[Prediction]]:
    gold = [
        Example(str(k), {"text": f"text {k}"}, None, {"pair": pair, "group": pair, "role": role, **more})
        for k, (pair, role, more, _) in enumerate(CASES)
    ]
    return gold, [said(str(k), p) for k, (*_, p) in enumerate(CASES)]


def said(identity: str, p: float) -> Prediction:
    return Prediction(identity, "good" if p > 0.5 else "bad", [1 - p, p])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with dev and a test set that have gold, and one that has none."""
    folder = tmp_path / "run"
    write_json(folder / "card.json", CARD.to_json())
    write_json(folder / "options.json", {"task": "sentiment", "test": ["plain=plain.csv"], "model": "small/mood"})
    labelled = [Example(f"p{k}", {"text": f"plain {k}"}, ("bad", "good")[k % 2]) for k in range(40)]
    answers = [said(example.id, 0.8 if (k % 2) ^ (k % 5 == 0) else 0.1) for k, example in enumerate(labelled)]
    for name, (gold, predictions) in {
        "dev": (labelled, answers),
        "plain": (labelled[:30], answers[:30]),
        "changes": goldless(),
    }.items():
        write_lines(folder / "gold" / f"{name}.jsonl", (example.to_json() for example in gold))
        write_lines(folder / "predictions" / f"{name}.jsonl", (one.to_json() for one in predictions))
    return folder


def test_flips_and_moves_are_counted_and_what_needs_gold_says_so() -> None:
    row = score(CARD, *goldless(), data="changes", replicates=200)
    values = {name: (entry["value"], entry.get("n"), entry.get("note")) for name, entry in row["metrics"].items()}
    nothing = (None, None, "no gold")
    assert values == {
        **dict.fromkeys(("accuracy", "macro_f1", "nll", "ece"), nothing),
        "flip_rate": (pytest.approx(1 / 3), 3, None),
        "moved": (0.5, 2, None),
        "expectation_met": (pytest.approx(3 / 5), 5, None),
    }
    typo = row["slices"]["phenomenon=typo"]["metrics"]
    assert typo["flip_rate"]["value"] == 0.5 and typo["accuracy"] == {"value": None, "note": "no gold"}
    assert row["variants"] == {} and row["notes"] == []
    assert "accuracy         no gold" in render(row)


def test_a_run_scores_such_a_set_beside_the_others_and_again_the_same(run: Path) -> None:
    scored = score_run(run, replicates=200)
    assert scored["plain"]["variants"].keys() >= {"temperature"} and scored["changes"]["variants"] == {}
    assert "drop" not in scored["changes"]
    lines = summary([run], ["plain", "changes"]).splitlines()
    assert "accuracy" in lines[1] and "flip_rate" in lines[2] and "0.333" in lines[2] and "no gold" not in lines[2]
    assert replay(run).changes == ()


def test_the_report_shows_such_a_set_in_its_tab_of_behaviour_alone(run: Path, tmp_path: Path) -> None:
    score_run(run, replicates=200)
    before = (run / "scores" / "changes.json").read_bytes()
    inputs = read_inputs([run])
    assert [data.name for data in inputs.tests] == ["plain"] and [data.name for data in inputs.changes] == ["changes"]
    assert main(["report", str(run), "--format", "json", "--out", str(tmp_path / "report.json")]) == 0
    assert (run / "scores" / "changes.json").read_bytes() == before
    tabs = {tab["title"]: json.dumps(tab) for tab in json.loads((tmp_path / "report.json").read_text())["tabs"]}
    assert "answers flipped" in tabs["Behaviour"] and "changes" in tabs["Behaviour"]
    assert "gold is" not in tabs["Behaviour"] and "None" not in tabs["Behaviour"]
    assert not any("text 2" in tab for title, tab in tabs.items() if title != "Behaviour")


def test_what_needs_gold_leaves_such_a_set_out_or_refuses_it(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    score_run(run, replicates=200)
    other = run.parent / "other"
    shutil.copytree(run, other)
    assert list(read_contest({"run": run, "other": other}, {}, None, None).golds) == ["plain"]
    with pytest.raises(Refused, match=r"changes\.jsonl: has no gold to compare"):
        read_contest({"run": run, "other": other}, {}, "changes", None)
    assert main(["weak-spots", str(run)]) == 0
    assert main(["weak-spots", str(run), "--data", "changes"]) == 2
    assert "--data changes: has no gold" in capsys.readouterr().err


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    write_lines(folder / "gold.jsonl", rows)
    return folder / "gold.jsonl"


def test_gold_is_there_for_every_example_of_a_file_or_for_none(tmp_path: Path) -> None:
    rows = [example.to_json() for example in goldless()[0]]
    assert len(read_gold(written(tmp_path, rows), CARD)) == len(CASES)
    with pytest.raises(Refused, match=r"6 of its 7 examples have the gold null; a file has gold for every example or"):
        read_gold(written(tmp_path, [{**rows[0], "gold": "good"}, *rows[1:]]), CARD)
    for about in ({}, {"pair": "a", "expect": "mft"}, {"expect": "inv"}, {"pair": "a"}):
        with pytest.raises(Refused, match="line 1: gold None is not among the card's labels"):
            read_gold(written(tmp_path, [{**rows[0], "about": about}, *rows[1:]]), CARD)
