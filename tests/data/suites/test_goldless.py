"""Changes without a label become a set of their own, in which nothing has gold."""

import json
from pathlib import Path
from typing import Any

import pytest

from heldout.data.prepare import load
from heldout.data.sources import Loaded, SourceOptions
from heldout.data.suites.checking import check_source
from heldout.data.suites.goldless import by_gold
from heldout.errors import Refused

ORIGINAL = {"text": "A warm soup.", "gold": None, "pair": "soup", "role": "original"}
CHANGED = {"text": "A warm suop.", "gold": None, "pair": "soup", "role": "changed", "tag": "typo", "expect": "inv"}
MOVED = {**CHANGED, "text": "A very warm soup.", "expect": "dir", "direction": "+answer:-0.1"}
MINIMUM = {"text": "A cold soup.", "gold": "negative", "expect": "mft"}


def loaded(tmp_path: Path, *rows: dict[str, Any], goldless: bool = True, limit: int | None = None) -> Loaded:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return load("sentiment", str(path), SourceOptions(), goldless=goldless, limit=limit)


def test_changes_without_a_label_and_their_originals_are_a_set_of_their_own(tmp_path: Path) -> None:
    found = by_gold({"mine": loaded(tmp_path, MINIMUM, ORIGINAL, CHANGED, MOVED)})
    assert [example.gold for example in found["mine"].examples] == ["negative"]
    assert found["mine"].notes["scored_apart_without_a_label"] == 3
    apart = found["mine-changes"].examples
    assert [(e.text["text"], e.gold) for e in apart] == [(row["text"], None) for row in (ORIGINAL, CHANGED, MOVED)]


def test_an_original_with_a_label_stands_in_both_sets(tmp_path: Path) -> None:
    found = by_gold(
        {"mine": loaded(tmp_path, {**ORIGINAL, "gold": "positive"}, CHANGED, {**MOVED, "gold": "positive"})}
    )
    assert [(e.text["text"], e.gold) for e in found["mine"].examples] == [
        (ORIGINAL["text"], "positive"),
        (MOVED["text"], "positive"),
    ]
    assert [(e.text["text"], e.gold) for e in found["mine-changes"].examples] == [
        (ORIGINAL["text"], None),
        (CHANGED["text"], None),
    ]


def test_a_set_that_has_no_gold_at_all_keeps_its_name_and_needs_no_column_of_it(tmp_path: Path) -> None:
    rows = [{key: value for key, value in row.items() if key != "gold"} for row in (ORIGINAL, CHANGED)]
    assert {name: len(split.examples) for name, split in by_gold({"mine": loaded(tmp_path, *rows)}).items()} == {
        "mine": 2
    }


def test_what_needs_its_label_is_left_out_and_counted(tmp_path: Path) -> None:
    rows = [
        {**MINIMUM, "gold": None},
        {"text": "Alone.", "gold": None},
        {**MINIMUM, "text": "Cold."},
        ORIGINAL,
        CHANGED,
    ]
    assert loaded(tmp_path, *rows).dropped == {"no_label": 2}
    # Where nothing is scored without gold (train, --test), the others are counted by their own name.
    assert loaded(tmp_path, *rows, goldless=False).dropped == {"no_label": 2, "changes_without_a_label": 2}


def test_an_original_is_the_one_that_scoring_takes_for_it(tmp_path: Path) -> None:
    first = {"text": "A warm soup.", "gold": "positive", "pair": "soup"}
    apart = by_gold({"mine": loaded(tmp_path, first, CHANGED)})["mine-changes"].examples
    assert [(e.text["text"], e.gold, e.about["role"]) for e in apart] == [
        (first["text"], None, "original"),
        (CHANGED["text"], None, "changed"),
    ]


def test_a_change_whose_original_is_not_there_is_refused_before_a_model_is_asked(tmp_path: Path) -> None:
    lonely = {**CHANGED, "pair": "stew"}
    with pytest.raises(Refused, match=r"the original of its pair 'stew' is not there"):
        by_gold({"mine": loaded(tmp_path, MINIMUM, ORIGINAL, CHANGED, lonely)})


def test_a_limit_takes_whole_pairs(tmp_path: Path) -> None:
    rows = [
        {**row, "pair": str(k), "text": f"{row['text']} {k}"} for k in range(20) for row in (ORIGINAL, CHANGED, MOVED)
    ]
    kept = loaded(tmp_path, *rows, limit=10).examples
    assert len(kept) == 9
    names = [example.about["pair"] for example in kept]
    assert all(names.count(name) == 3 for name in names)


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    mixed = loaded(tmp_path, MINIMUM, ORIGINAL, CHANGED)
    with pytest.raises(Refused, match="what the changes of mine without a label are called; rename it"):
        by_gold({"mine": mixed, "mine-changes": mixed})


def test_the_check_of_a_suite_takes_changes_without_gold(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(map(json.dumps, (ORIGINAL, CHANGED, MOVED))))
    checked = check_source("sentiment", str(path), SourceOptions(), ("negative", "positive"))
    assert checked.problems == [] and checked.golds == {"unlabelled": 3}
