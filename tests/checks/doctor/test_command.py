"""heldout doctor as a person runs it: exit status, the table, checks.json, refusals."""

import json
import shutil

from heldout.checks.doctor import all_checks
from heldout.cli import main
from heldout.runs import read_json

FAST = ("--only", "labels", "--only", "padding")


def test_a_good_run_ends_with_status_0_and_its_findings_are_kept(run, capsys):
    before = {path for path in run.rglob("*") if path.is_file()}
    assert main(["doctor", str(run), "--limit", "12", *FAST]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].endswith("run, 12 examples of fresh, fp32 on cpu")
    assert [line.split()[0] for line in shown[2:4]] == ["pass", "pass"]
    assert shown[-1] == "2 pass, 0 fail, 0 not applicable"
    assert {path for path in run.rglob("*") if path.is_file()} - before == {run / "checks.json"}
    kept = read_json(run / "checks.json")["checks"]
    assert [row["name"] for row in kept] == ["labels", "padding"]
    assert all(row["n"] == 12 and row["data"] == "fresh" and row["why"] for row in kept)


def test_a_check_that_fails_ends_with_status_1_and_says_what_to_do(run, capsys, rewritten):
    rewritten(run / "model" / "config.json", label2id={"negative": 1, "positive": 0})
    assert main(["doctor", str(run), "--limit", "4", "--only", "labels"]) == 1
    shown = capsys.readouterr().out
    assert "FAIL  labels" in shown
    assert "do: write id2label and label2id of config.json anew" in shown


def test_checks_that_are_not_asked_for_keep_their_earlier_findings(run, capsys):
    assert main(["doctor", str(run), "--limit", "4", "--only", "padding"]) == 0
    assert main(["doctor", str(run), "--limit", "5", "--only", "labels", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out.split("not applicable\n")[-1])
    assert [row["name"] for row in printed["checks"]] == ["labels"]
    kept = read_json(run / "checks.json")["checks"]
    assert [(row["name"], row["n"]) for row in kept] == [("labels", 5), ("padding", 4)]


def test_data_of_anyones_are_answered_and_nothing_is_asked_of_files_that_are_not_there(run, reviews_csv, capsys):
    words = ["doctor", str(run), "--data", f"mine={reviews_csv}", "--limit", "6", "--only", "kept", "--only", "dropout"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "6 examples of mine" in shown
    assert "n/a   kept predictions  mine is no set of this run" in shown


def test_what_cannot_be_examined_is_refused_in_a_line(run, tmp_path, capsys):
    def refused(*words):
        assert main(["doctor", *words]) == 2
        err = capsys.readouterr().err
        assert err.count("heldout: ") == 1
        return err

    assert "the run has fresh, dev" in refused(str(run), "--data", "frish")
    assert "no such check; did you mean padding?" in refused(str(run), "--only", "paddin")
    assert "holds no model/" in refused(str(tmp_path))
    options = read_json(run / "options.json")
    (run / "options.json").write_text(json.dumps({key: options[key] for key in options if key != "task"}))
    assert "names no task" in refused(str(run))
    shutil.copytree(run / "model", tmp_path / "seeds" / "seed-1" / "model")
    assert "check one of seed-1" in refused(str(tmp_path / "seeds"))


def test_a_model_whose_labels_are_others_is_refused_with_what_to_do(run, capsys, rewritten):
    rewritten(run / "model" / "config.json", id2label={"0": "good", "1": "bad"}, label2id={"good": 0, "bad": 1})
    assert main(["doctor", str(run), *FAST]) == 2
    assert "its labels are not the card's (good, bad" in capsys.readouterr().err


def test_every_check_says_why_it_matters_and_stands_in_a_group():
    checks = all_checks()
    assert len(checks) >= 16
    for name, check in checks.items():
        assert check.why, name
        assert check.title, name
