import json

import pytest

from heldout.checks.data import check, show
from heldout.data.sources import SourceOptions
from heldout.errors import Refused

LONG = "the two of them row out to the island every spring and nobody has ever asked them why they do it"


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "first.csv").write_text(f"text,label\n{LONG},1\ndull as dust,0\nDull  as dust,0\nodd,-1\n,1\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "first.csv").write_text(f"text,label\nDULL AS DUST,neg\n{LONG} now,pos\nquite another,pos\n")
    return [str(tmp_path / "first.csv"), str(tmp_path / "other" / "first.csv")]


def test_counts_labels_drops_duplicates_and_lengths_are_those_of_the_files(sources):
    checked = check("sentiment", sources, SourceOptions())
    assert list(checked.sources) == ["first", "first-2"]
    first = checked.sources["first"]
    assert first["n"] == 3
    assert first["labels"] == {"negative": 2, "positive": 1}
    assert first["dropped"] == {"no_label": 1, "empty_text": 1}
    assert (first["exact_duplicates"], first["near_duplicates"]) == (1, 0)
    assert first["words"] == {"p5": 3, "p50": 3, "p95": 19, "max": 21}
    assert checked.across == [{"of": "first-2", "in": "first", "n": 3, "exact": 1, "near": 1}]
    json.dumps(checked.to_json())


def test_the_table_has_a_row_a_source_and_a_line_a_pair(sources):
    shown = show(check("sentiment", sources, SourceOptions())).splitlines()
    assert shown[0].split()[:4] == ["name", "kept", "labels", "dropped"]
    assert shown[1].startswith("first       3  negative 2, positive 1  no label 1, empty text 1")
    assert shown[2].startswith("first-2     3  negative 1, positive 2  none")
    assert "1 of 3 texts of first-2 stand in first, 1 more nearly" in shown
    assert len({len(line) for line in shown[:3]}) == 1


def test_an_option_for_one_source_begins_with_its_name(sources):
    checked = check("sentiment", sources, SourceOptions(label=("first-2:pos=-", "first:1=positive")))
    assert checked.sources["first-2"]["dropped"] == {"no_label": 2}
    assert checked.sources["first"]["n"] == 3


def test_a_label_option_that_renames_nothing_is_refused(sources):
    with pytest.raises(
        Refused, match=r"--label post=-: no row of first, first-2 has the label 'post'; did you mean pos\?"
    ):
        check("sentiment", sources, SourceOptions(label=("pos=-", "post=-")))
    # A value of one source is enough, but not for another.
    check("sentiment", sources, SourceOptions(label=("pos=positive",)))
    with pytest.raises(Refused, match=r"no row of first has the label 'pos'; the labels there are -1, 0, 1 \(splits"):
        check("sentiment", sources, SourceOptions(label=("first:pos=positive",)))


def test_one_class_is_no_fault_of_a_source_that_is_only_looked_at(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\nfine,1\n")
    assert check("sentiment", [str(tmp_path / "a.csv")], SourceOptions()).sources["a"]["labels"] == {"positive": 1}


def test_an_unknown_task_is_refused(sources):
    with pytest.raises(Refused, match=r"no task 'sentimant'; did you mean sentiment\?"):
        check("sentimant", sources, SourceOptions())
