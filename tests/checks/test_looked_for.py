"""What heldout data check looks for beyond counts, each planted."""

import json

import pytest

from heldout.checks.data import Wanted, check, show
from heldout.cli import main
from heldout.data.sources import SourceOptions

LONG = "the two of them row out to the island every spring and nobody has ever asked them why they do it"


def write(path, rows):
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    return str(path)


def found(checked, kind):
    return [finding for finding in checked.findings if finding.kind == kind]


def varied(n, label, extra=""):
    return [(f"text {chr(97 + row % 26)}{row} stands alone {row * 7}x{extra}", label) for row in range(n)]


def test_a_leak_is_shown_with_the_text_that_it_repeats(tmp_path):
    # FAULTS X1: planted, with changes of case and space, and a near one.
    train = write(tmp_path / "train.csv", [*varied(5, "pos"), ("Dull as  dust indeed", "neg"), (LONG, "neg")])
    test = write(
        tmp_path / "test.csv", [("fresh and new", "pos"), ("DULL AS DUST INDEED", "neg"), (f"{LONG} now", "neg")]
    )
    checked = check("sentiment", [train, test], SourceOptions())
    (leak,) = found(checked, "leak")
    assert (leak.name, leak.n, leak.of) == ("test", 2, 3)
    assert [(row["id"], row["what"]) for row in leak.rows] == [
        ("test:2 = train:6", "exact"),
        ("test:3 = train:7", "near"),
    ]
    assert "--exclude" in leak.advice
    assert checked.repeated["exact_duplicates"] == 1
    assert checked.repeated["letter_for_letter"] == 0


def test_texts_that_stand_with_two_labels_are_conflicts(tmp_path):
    path = write(tmp_path / "a.csv", [("Fine  film", "pos"), ("fine film", "neg"), ("dull", "neg"), ("dull", "neg")])
    (conflict,) = found(check("sentiment", [path], SourceOptions()), "conflict")
    assert conflict.n == 1
    assert conflict.rows[0]["id"] == "a:1 = a:2"
    assert conflict.rows[0]["what"] == "positive / negative"


def test_sentences_that_are_tagged_in_two_ways_are_conflicts(tmp_path):
    (tmp_path / "a.conll").write_text("Ada\tB-person\nleft\tO\n\nAda\tO\nleft\tO\n\nBo\tB-person\n\n")
    (conflict,) = found(check("ner", [str(tmp_path / "a.conll")], SourceOptions()), "conflict")
    assert "more than one tagging" in conflict.said
    assert conflict.rows[0]["what"] == "B-person O / O O"


def test_rare_labels_and_sources_that_share_labels_out_otherwise_are_named(tmp_path):
    train = write(tmp_path / "train.csv", [*varied(60, "pos"), *varied(5, "neg", " again")])
    test = write(tmp_path / "test.csv", [*varied(20, "pos", " test"), *varied(20, "neg", " other")])
    checked = check("sentiment", [train, test], SourceOptions(), wanted=Wanted(label_errors=()))
    (rare,) = found(checked, "rare label")
    assert rare.said == "rare labels: negative 5 of 65"
    (shift,) = found(checked, "label shift")
    assert "42% would have to change" in shift.said
    assert not found(checked, "label error")


def test_labels_that_length_gives_away_are_named(tmp_path):
    rows = [*varied(12, "pos"), *varied(12, "neg", " and goes on and on for rather longer")]
    (length,) = found(check("sentiment", [write(tmp_path / "a.csv", rows)], SourceOptions()), "length")
    assert length.said == "length gives labels away: negative 13 words, positive 5 words"


def test_a_broken_text_is_shown_from_where_it_is_broken(tmp_path):
    path = write(tmp_path / "a.csv", [*varied(3, "pos"), (f"{LONG} at the caf\u00c3\u00a9 there", "neg")])
    checked = check("sentiment", [path], SourceOptions())
    (broken,) = found(checked, "mojibake")
    assert broken.rows[0]["id"] == "a:4"
    assert broken.rows[0]["text"].endswith("at the caf\u00c3\u00a9 there")
    assert len(broken.rows[0]["text"]) < 40
    assert broken.serious


def test_strict_ends_with_status_1_where_something_serious_was_found(tmp_path, capsys):
    bad = write(tmp_path / "bad.csv", [("fine film", "pos"), ("fine film", "neg")])
    good = write(tmp_path / "good.csv", varied(4, "pos"))
    assert main(["data", "check", bad]) == 0
    assert main(["data", "check", bad, "--strict"]) == 1
    assert main(["data", "check", good, "--strict"]) == 0
    assert "texts stand with more than one label" in capsys.readouterr().out


@pytest.fixture
def doubtful(tmp_path):
    rows = [*varied(10, "positive"), *varied(10, "negative", " bad")]
    source = write(tmp_path / "train.csv", rows)
    lines = [
        {"id": f"train:{row + 1}", "answer": label, "scores": [0.1, 0.9] if label == "positive" else [0.9, 0.1]}
        for row, (_, label) in enumerate(rows)
    ]
    lines[3] |= {"answer": "negative", "scores": [0.97, 0.03]}
    return source, tmp_path / "cross.jsonl", lines


def test_the_cross_fitted_predictions_of_a_system_find_label_errors(doubtful, capsys):
    source, path, lines = doubtful
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["data", "check", source, "--predictions", f"train={path}", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    (error,) = [finding for finding in findings if finding["kind"] == "label error"]
    assert error["figures"]["by"] == "the probabilities given"
    assert [(row["id"], row["what"]) for row in error["rows"]] == [("train:4", "positive (0.03) → negative (0.97)")]


def test_predictions_that_do_not_fit_are_refused_in_a_line(doubtful, capsys):
    source, path, lines = doubtful
    for rows, said in ((lines[1:], "'train:1'"), ([*lines[1:], {"id": "train:1", "answer": "positive"}], "no scores")):
        path.write_text("".join(json.dumps(line) + "\n" for line in rows))
        assert main(["data", "check", source, "--predictions", f"train={path}"]) == 2
        assert said in capsys.readouterr().err
    assert main(["data", "check", source, "--predictions", str(path)]) == 2
    assert "write NAME=FILE, where NAME is one of train" in capsys.readouterr().err


def test_label_errors_of_a_source_that_is_none_are_refused(tmp_path, capsys):
    assert main(["data", "check", write(tmp_path / "a.csv", varied(3, "pos")), "--label-errors", "b"]) == 2
    assert "they are named a" in capsys.readouterr().err


def test_what_is_not_looked_for_is_said(tmp_path):
    (tmp_path / "a.conll").write_text("Ada\tB-person\nleft\tO\n\nBo\tB-person\n\n")
    shown = show(check("ner", [str(tmp_path / "a.conll")], SourceOptions()))
    assert shown.endswith("a.conll: label errors are looked for where an answer is one label")
