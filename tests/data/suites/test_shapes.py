import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from heldout.data.prepare import load
from heldout.data.sources import SourceOptions
from heldout.errors import Refused

NUMBERS = ("0=entailment", "1=neutral", "2=contradiction")


def test_a_row_with_its_negation_is_two_cases_of_one_pair(tmp_path: Path) -> None:
    path = tmp_path / "negational.tsv"
    head = "index\tpremise\thypothesis\tlabel\thypothesis_neg\tneg_label\ttag\n"
    path.write_text(head + "0\tA cat naps.\tA cat sleeps.\t0\tNo cat sleeps.\t2\tnegation\n", encoding="utf-8")
    loaded = load("nli", str(path), SourceOptions(label=NUMBERS))
    original, changed = loaded.examples
    assert (original.text["hypothesis"], original.gold) == ("A cat sleeps.", "entailment")
    assert (changed.text, changed.gold) == (
        {"premise": "A cat naps.", "hypothesis": "No cat sleeps."},
        "contradiction",
    )
    about = {"pair": "1", "group": "1", "phenomenon": "negation"}
    assert original.about == {**about, "role": "original"}
    assert changed.about == {**about, "role": "changed", "expect": "mft"}
    assert loaded.notes == {"rows_read_as_two": 1}


def test_a_paraphrase_keeps_the_label_and_must_keep_the_answer_unless_it_is_asked_for_alone(tmp_path: Path) -> None:
    path = tmp_path / "semantic.tsv"
    path.write_text("index\tsentence\tlabel\tsentence_paraphrase\n0\ta fine film\t1\tthe film is fine\n")
    original, changed = load("sentiment", str(path), SourceOptions()).examples
    assert (changed.text["text"], changed.gold, changed.about["expect"]) == ("the film is fine", original.gold, "inv")
    alone = load("sentiment", str(path), SourceOptions(column=("text=sentence_paraphrase",)))
    assert [example.text["text"] for example in alone.examples] == ["the film is fine"]


def test_rows_in_threes_are_a_pair_only_where_all_of_them_are(tmp_path: Path) -> None:
    rows = [("P not.", "H."), ("P.", "H not."), ("P not.", "H not.")]
    lines = [f"{n}\t{premise}\t{hypothesis}\tneutral" for n, (premise, hypothesis) in enumerate(rows)]
    path = tmp_path / "threes.txt"
    path.write_text("\n".join(["index\tText\tHypothesis\tgold_label", *lines]))
    found = [dict(example.about) for example in load("nli", str(path), SourceOptions()).examples]
    assert [about["phenomenon"] for about in found] == ["premise negated", "hypothesis negated", "both negated"]
    assert {about["pair"] for about in found} == {"0"}
    path.write_text("\n".join(["index\tText\tHypothesis\tgold_label", *lines[::-1]]))
    assert all("pair" not in example.about for example in load("nli", str(path), SourceOptions()).examples)


def checklist(tmp_path: Path, *rows: tuple[str, str, object, object]) -> str:
    path = tmp_path / "tests.jsonl.gz"
    lines = [
        {"test": test, "type": kind, "capability": "Words", "case": case, "data": data, "label": label}
        for case, (test, kind, data, label) in enumerate(rows)
    ]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    return str(path)


def test_checklists_minima_have_the_labels_that_its_numbers_mean(tmp_path: Path) -> None:
    source = checklist(tmp_path, ("single words", "MFT", "fine", 2), ("single words", "MFT", "poor", 0))
    loaded = load("sentiment", source, SourceOptions())
    assert [example.gold for example in loaded.examples] == ["positive", "negative"]
    about = {"phenomenon": "single words", "expect": "mft", "domain": "Words"}
    assert [example.about for example in loaded.examples] == [about, about]


def test_a_minimum_that_is_anything_but_negative_is_positive_where_no_label_is_neutral(tmp_path: Path) -> None:
    rows = [("simple negations: not negative", "MFT", "It isn't poor.", None), ("x", "MFT", "poor", 0)]
    source = checklist(tmp_path, *rows)
    two = load("sentiment", source, SourceOptions(), labels=("negative", "positive"))
    assert [example.gold for example in two.examples] == ["positive", "negative"]
    three = load("sentiment", source, SourceOptions(), labels=("negative", "neutral", "positive"))
    assert three.dropped == {"no_label": 1}


def test_a_direction_that_no_test_of_this_name_has_is_left_out_and_counted(tmp_path: Path) -> None:
    source = checklist(tmp_path, ("my own", "DIR", ["a", "b"], None), ("x", "MFT", "poor", 0))
    assert load("sentiment", source, SourceOptions()).dropped == {"tests_of_unknown_direction": 1}


@pytest.mark.parametrize("data", [7, [], ["a", None]])
def test_a_checklist_case_without_texts_is_refused_with_its_row(tmp_path: Path, data: object) -> None:
    with pytest.raises(Refused, match="line 1: a CheckList case has a type"):
        load("sentiment", checklist(tmp_path, ("x", "MFT", data, 0)), SourceOptions())


@pytest.mark.data
def test_the_real_contrast_sets_have_their_pairs(real_data: Path) -> None:
    becel = load("nli", str(real_data / "becel/snli/negational.tsv"), SourceOptions(label=NUMBERS))
    assert len(becel.examples) == 2 * 2204
    assert Counter(example.about["role"] for example in becel.examples) == {"original": 2204, "changed": 2204}
    rte = load(
        *("nli", str(real_data / "becel/rte/negational.tsv")),
        SourceOptions(label=("0=entailment", "1=non-entailment")),
    )
    assert len(rte.examples) == 306
    threes = load("nli", str(real_data / "negation_nli/clean/SNLI.txt"), SourceOptions(encoding=("cp1252",)))
    assert len({example.about["pair"] for example in threes.examples}) == 500
    cad = load("sentiment", str(real_data / "cad_imdb/combined_paired/dev_paired.tsv"), SourceOptions())
    assert Counter(Counter(example.about["pair"] for example in cad.examples).values()) == {2: 245}


def test_changes_are_compared_with_their_first_text_where_they_have_a_label_and_counted_where_not(
    tmp_path: Path,
) -> None:
    rows = [
        ("typos", "INV", ["A fine show.", "A fien show."], 2),
        ("intensifiers", "DIR", ["A fine show.", "A very fine show."], 2),
        ("typos", "INV", ["Hm.", "Hmm.", "Hmmm."], None),
    ]
    loaded = load("sentiment", checklist(tmp_path, *rows), SourceOptions(label=("neutral=-",)), labels=("positive",))
    about = [{key: e.about.get(key) for key in ("pair", "role", "expect", "direction")} for e in loaded.examples]
    assert about == [
        {"pair": "typos/0", "role": "original", "expect": None, "direction": None},
        {"pair": "typos/0", "role": "changed", "expect": "inv", "direction": None},
        {"pair": "intensifiers/1", "role": "original", "expect": None, "direction": None},
        {"pair": "intensifiers/1", "role": "changed", "expect": "dir", "direction": "+answer:-0.1"},
    ]
    assert loaded.dropped == {"changes_without_a_label": 3}
