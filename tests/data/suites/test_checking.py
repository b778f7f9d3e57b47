import json
from pathlib import Path
from typing import Any

import pytest

from heldout.data.prepare import load
from heldout.data.sources import SourceOptions
from heldout.data.suites.checking import check_source
from heldout.data.suites.template import CASES, template
from heldout.errors import Refused

LABELS = ("negative", "positive")


def written(tmp_path: Path, *rows: dict[str, Any]) -> str:
    path = tmp_path / "mine.jsonl"
    path.write_text("# mine\n" + "\n".join(map(json.dumps, rows)))
    return str(path)


@pytest.mark.parametrize("task", list(CASES))
def test_the_template_of_every_task_is_read_whole_and_nothing_is_wrong_with_it(task: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(template(task, path.name))
    checked = check_source(task, str(path), SourceOptions())
    assert checked.problems == [] and checked.rows == len(CASES[task]) >= 2 and checked.pairs >= 1
    loaded = load(task, str(path), SourceOptions())
    assert len(loaded.examples) == checked.rows and not loaded.dropped
    assert {"pair", "role"} <= loaded.examples[0].about.keys()
    assert {"phenomenon", "expect"} <= loaded.examples[1].about.keys()


PLAIN = {"text": "Fine.", "gold": "positive", "pair": "a", "role": "original"}
CHANGED = {"text": "Fine!", "gold": "positive", "pair": "a", "role": "changed"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**CHANGED, "text": ""}, "a text is empty"),
        ({**CHANGED, "gold": None}, "it has no gold; a case needs the answer that is right"),
        ({**CHANGED, "gold": "good"}, "label 'good' is not one of negative, positive"),
        ({**CHANGED, "text": 7}, "text is 7, not a text"),
        ({**CHANGED, "expect": "mtf"}, "expect 'mtf' must be one of mft, inv, dir"),
        ({**CHANGED, "role": "new"}, "role 'new' must be original or changed"),
        ({**CHANGED, "role": "original"}, "pair 'a' has an original already, line 2"),
        ({**CHANGED, "pair": "b"}, "pair 'b' has no other member"),
        ({"text": "Alone.", "gold": "positive", "expect": "inv"}, "expect inv needs a pair with the original text"),
        ({**CHANGED, "expect": "inv", "gold": "negative"}, "the golds of pair 'a' differ; use mft"),
        ({**CHANGED, "expect": "dir"}, "expect dir needs a direction, such as -positive"),
        ({**CHANGED, "expect": "dir", "direction": "up"}, "direction 'up' must be + or - and a label"),
        ({**CHANGED, "expect": "dir", "direction": "+good"}, "direction names 'good', which is none of"),
    ],
)
def test_what_is_wrong_is_said_with_its_row(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    good = {**CHANGED, "text": "So fine.", "expect": "inv"}
    checked = check_source("sentiment", written(tmp_path, PLAIN, good, row), SourceOptions(), LABELS)
    assert [(place, message in what) for place, what in checked.problems] == [("line 4", True)], checked.problems


def test_cases_that_are_right_are_counted(tmp_path: Path) -> None:
    rows = [PLAIN, {**CHANGED, "expect": "inv", "tag": "marks"}, {"text": "Bad.", "gold": "negative", "expect": "mft"}]
    checked = check_source("sentiment", written(tmp_path, *rows), SourceOptions(), LABELS)
    assert (checked.problems, checked.rows, checked.pairs) == ([], 3, 1)
    assert checked.phenomena == {"marks": 1} and checked.expectations == {"inv": 1, "mft": 1}
    assert checked.to_json()["golds"] == {"negative": 1, "positive": 2}


def test_a_column_that_is_missing_is_said_once(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="in every row no column for hypothesis"):
        check_source("nli", written(tmp_path, PLAIN, CHANGED), SourceOptions())


def test_a_tag_is_a_phenomenon_only_where_a_file_has_pairs_or_expectations(tmp_path: Path) -> None:
    (example,) = load(
        "sentiment", written(tmp_path, {"text": "Fine.", "gold": "positive", "tag": "7"}), SourceOptions()
    ).examples
    assert example.about == {}
