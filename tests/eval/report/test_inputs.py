"""What is read of run folders, and what is refused."""

import pytest

from heldout.errors import Refused
from heldout.eval.report.inputs import read_inputs
from heldout.runs import read_json, write_json


def test_baselines_are_picked_up_and_the_main_system_stands_first(read):
    assert [system.name for system in read.systems] == ["tiny-bert", "majority", "tf-idf"]
    assert [data.name for data in read.tests] == ["imdb", "yelp"]
    assert read.main.fits["temperature"].fitted_on["split"] == "dev"


def test_missing_scores_are_computed_and_stale_or_broken_ones_made_anew(make, tmp_path):
    folder = make(tmp_path / "run", n=40)
    path = folder / "scores" / "imdb.json"
    for spoilt in ({"gold_hash": "other"}, {"metrics": None}, {}):
        write_json(path, (read_json(path) | spoilt) if spoilt and path.exists() else {})
        found = read_inputs([folder], 50).main.scores["imdb"]
        assert found["n"] == 40 and found["metrics"]["accuracy"]["n"] == 40


def test_runs_that_do_not_belong_together_are_refused(make, tmp_path):
    a, b = make(tmp_path / "a", n=40), make(tmp_path / "b", n=30)
    with pytest.raises(Refused, match=r"gold/imdb.jsonl: holds other examples"):
        read_inputs([a, b], 50)
    card = read_json(b / "card.json") | {"name": "stance"}
    write_json(b / "card.json", card)
    with pytest.raises(Refused, match="report them apart"):
        read_inputs([a, b], 50)


@pytest.mark.parametrize("name", ["card.json", "gold/imdb.jsonl", "gold"])
def test_a_folder_that_is_no_run_is_refused_in_one_line(make, tmp_path, name):
    folder = make(tmp_path / "run", n=20)
    (folder / name).rename(tmp_path / "away")
    for child in (folder / "gold").glob("yelp*"):
        child.unlink()
    for path in (folder / "baselines").rglob("*.json*"):
        path.unlink()
    with pytest.raises(Refused) as error:
        read_inputs([folder], 50)
    assert str(folder) in str(error.value) and "\n" not in str(error.value)


def test_a_folder_that_is_absent_is_refused(tmp_path):
    with pytest.raises(Refused, match="no such run folder"):
        read_inputs([tmp_path / "none"], 50)
