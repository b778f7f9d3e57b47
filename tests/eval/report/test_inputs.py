"""What is read of run folders, and what is refused."""

import json
from pathlib import Path

import pytest

from heldout.errors import Refused
from heldout.eval.report import build, inputs
from heldout.eval.report.calibration import answers_of, reliability_bins
from heldout.eval.report.inputs import read_inputs
from heldout.eval.run_scores import score_run
from heldout.fits import read_fit
from heldout.runs import read_json, write_json, write_lines


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


def change(path, number, **keys):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    write_lines(path, [row | keys if k == number else row for k, row in enumerate(rows)])


@pytest.mark.parametrize("name", ["imdb", "yelp", "dev"])
def test_scores_of_other_predictions_are_made_anew_with_all_that_rests_on_them(make, tmp_path, name):
    folder = make(tmp_path / "run", n=40)
    before = read_inputs([folder], 50).main.scores
    change(folder / "predictions" / f"{name}.jsonl", 3, answer="negative", scores=[0.99, 0.01])
    change(folder / "predictions" / f"{name}.jsonl", 4, answer="positive", scores=[0.01, 0.99])
    found = read_inputs([folder], 50).main
    assert found.scores == score_run(folder, replicates=50)
    changed = {"imdb": {"imdb", "yelp"}, "yelp": {"yelp"}, "dev": {"imdb", "yelp", "dev"}}[name]
    assert {data for data in before if before[data] != found.scores[data]} == changed


def test_scores_of_another_about_or_card_or_of_a_version_before_are_made_anew(make, tmp_path):
    folder = make(tmp_path / "run", n=40)
    read_inputs([folder], 50)
    change(folder / "gold" / "imdb.jsonl", 9, about={"overlap": "near"})
    assert read_inputs([folder], 50).main.scores["imdb"]["slices"]["overlap=in train (near)"]["n"] == 1
    for card in [folder / "card.json", *folder.glob("baselines/*/card.json")]:
        write_json(card, read_json(card) | {"slices": ["length"]})
    assert not any(key.startswith("negation") for key in read_inputs([folder], 50).main.scores["imdb"]["slices"])
    path = folder / "scores" / "imdb.json"
    write_json(path, {k: v for k, v in read_json(path).items() if k != "inputs_hash"} | {"n": 1})
    assert read_inputs([folder], 50).main.scores["imdb"]["n"] == 40


def test_fresh_scores_are_left_as_they_are_with_their_own_bins(make, tmp_path):
    folder = make(tmp_path / "run", n=60)
    score_run(folder, replicates=50, bins=5)
    before = (folder / "scores" / "imdb.json").stat().st_mtime_ns
    read = read_inputs([folder], 50)
    assert (folder / "scores" / "imdb.json").stat().st_mtime_ns == before
    bins = reliability_bins(answers_of(read, read.tests[0]))
    ece = sum(abs(b.right - b.confidence * b.n) for b in bins) / 60
    assert len(bins) == 5 and ece == pytest.approx(read.main.scores["imdb"]["metrics"]["ece"]["value"])


def test_seeds_belong_together_by_their_folder_not_by_its_name(make, tmp_path, monkeypatch):
    for home in ("a", "b"):
        for seed in (1, 2):
            make(tmp_path / home / "imdb" / f"seed-{seed}", n=40)
    read = read_inputs([tmp_path / "a" / "imdb", tmp_path / "b" / "imdb"], 50)
    assert sum(system.seed_of == read.main.seed_of for system in read.systems) == 2
    monkeypatch.chdir(tmp_path / "a" / "imdb")
    assert all(system.seed_of for system in read_inputs([Path()], 50).systems[:2])


def test_a_distillation_brings_its_controls_by_their_kind(make, tmp_path):
    folder = make(tmp_path / "student", n=40)
    make(folder / "controls" / "plain", n=40, right=0.8)
    options = folder / "controls" / "plain" / "options.json"
    write_json(options, {**read_json(options), "control": "plain"})
    read = read_inputs([folder], 50)
    assert [system.name for system in read.systems] == ["tiny-bert", "control plain", "majority", "tf-idf"]
    assert not read.systems[1].baseline


def test_the_report_is_about_the_run_that_is_given_first_be_it_a_baseline(make, tmp_path):
    folder = make(tmp_path / "run", n=40)
    given = [folder / "baselines" / "tfidf", folder]
    assert [system.name for system in read_inputs(given, 50).systems] == ["tf-idf", "tiny-bert", "majority"]


def test_predictions_that_do_not_fit_are_refused_with_their_file(make, tmp_path):
    folder = make(tmp_path / "run", n=40)
    change(folder / "predictions" / "imdb.jsonl", 3, id="stranger")
    with pytest.raises(Refused, match=r"predictions/imdb.jsonl: 1 of 40 examples have no prediction.*; it must hold"):
        read_inputs([folder], 50)


def test_a_run_without_predictions_on_the_first_test_is_reported_on_the_others(make, tmp_path):
    folder = make(tmp_path / "run", n=40)
    (folder / "predictions" / "imdb.jsonl").unlink()
    html = build([folder], replicates=50)
    assert "tiny-bert has no predictions on imdb." in html and "how far to trust an answer" not in html


def test_runs_that_do_not_belong_together_are_refused(make, tmp_path):
    a, b = make(tmp_path / "a", n=40), make(tmp_path / "b", n=30)
    with pytest.raises(Refused, match=r"gold/imdb.jsonl: holds other examples"):
        read_inputs([a, b], 50)
    card = read_json(b / "card.json") | {"name": "stance"}
    write_json(b / "card.json", card)
    with pytest.raises(Refused, match=r"its card's name is 'stance', and that of the run before it is 'sentiment'"):
        read_inputs([a, b], 50)


def test_a_run_whose_card_cuts_fewer_slices_is_reported_beside_others_with_its_own(make, tmp_path):
    a, b = make(tmp_path / "a", n=40), make(tmp_path / "b", n=40)
    write_json(b / "card.json", read_json(b / "card.json") | {"slices": ["length"]})
    read = read_inputs([a, b], 50)
    ours, theirs = (read.systems[place].scores["imdb"] for place in (0, 1))
    assert theirs["slices"] and set(theirs["slices"]) < set(ours["slices"])
    # Made once: the next report finds what lies there.
    before = (b / "scores" / "imdb.json").stat().st_mtime_ns
    assert "tiny-bert (b)" in build([a, b], replicates=50)
    assert (b / "scores" / "imdb.json").stat().st_mtime_ns == before


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


@pytest.mark.parametrize(
    ("ledger", "says"),
    [
        ([], "must hold a JSON object"),
        ({"splits": []}, "splits must be an object"),
        ({"splits": {"dev": 3}}, "splits, 'dev': must be an object"),
        ({"splits": {"dev": {"n": "many"}}}, "splits, 'dev': n must be a whole number"),
        ({"splits": {"dev": {"notes": {"odd": "yes"}}}}, "splits, 'dev': notes must be an object of counts"),
        ({"splits": {"dev": {"cleaning": "html"}}}, "splits, 'dev': cleaning must be a list"),
        ({"fitted": {"threshold": {"split": "dev"}}}, "fitted, 'threshold': needs split, hash, n"),
        ({"fitted": {"threshold": {"split": "dev", "hash": None, "n": 1}}}, "'threshold': hash must be a string"),
        ({"overlap": {"train/dev exact": None}}, "overlap must hold counts"),
    ],
)
def test_a_foreign_ledger_is_refused_with_its_place_in_one_line(make, tmp_path, ledger, says):
    folder = make(tmp_path / "run", n=20)
    write_json(folder / "ledger.json", ledger)
    with pytest.raises(Refused, match=r"ledger.json: .*; mend or remove the file") as error:
        read_inputs([folder], 50)
    assert says in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("fit", "says"),
    [
        ([], 'needs a "kind"'),
        ({"kind": "temperature"}, '"parameters" must be an object'),
        ({"kind": "temperature", "parameters": {"temperature": "1"}, "fitted_on": {}}, "a number over 0, got 1"),
        ({"kind": "temperature", "parameters": {"temperature": 1}}, '"fitted_on" must be an object'),
        ({"kind": "temperature", "parameters": {"temperature": 0}, "fitted_on": {}}, "a number over 0, got 0"),
        ({"kind": "temperature", "parameters": {}, "fitted_on": {}}, "a number over 0, got None"),
    ],
)
def test_a_foreign_fit_is_refused_in_one_line(tmp_path, fit, says):
    write_json(tmp_path / "fit.json", fit)
    with pytest.raises(Refused, match=r"fit.json: .*; remove the file or fit again") as error:
        read_fit(tmp_path / "fit.json")
    assert says in str(error.value) and "\n" not in str(error.value)


def test_a_folder_that_is_absent_is_refused(tmp_path):
    with pytest.raises(Refused, match="no such run folder"):
        read_inputs([tmp_path / "none"], 50)


def test_what_is_computed_is_told_set_by_set_and_nothing_where_all_is_there(make, tmp_path):
    folder, told = make(tmp_path / "run", n=40), []
    build([folder], replicates=50, say=told.append)
    scored = [f"scoring {s} on {d}" for s in ("tiny-bert", "majority", "tf-idf") for d in ("imdb", "yelp", "dev")]
    compared = ["comparing on imdb", "comparing on yelp"]
    compared += [f"looking for weak spots of tiny-bert on {data}" for data in ("imdb", "yelp")]
    assert told == scored + compared
    again: list[str] = []
    build([folder], replicates=50, say=again.append)
    assert again == compared


def test_gold_of_a_baseline_that_is_the_same_to_the_byte_is_read_once(make, tmp_path, monkeypatch):
    folder, read = make(tmp_path / "run", n=40), []
    score_run(folder, replicates=50)
    for baseline in ("tfidf", "majority"):
        score_run(folder / "baselines" / baseline, replicates=50)
    real = inputs.read_gold
    monkeypatch.setattr(inputs, "read_gold", lambda path, card: read.append(path) or real(path, card))
    found = read_inputs([folder], 50)
    assert len(read) == 3 and {path.parent.parent for path in read} == {folder}
    assert [data.name for data in found.tests] == ["imdb", "yelp"]


def test_a_run_of_a_language_model_has_a_report_without_mistakes(tmp_path):
    card = {"name": "wiki", "kind": "lm", "labels": [], "metrics": ["perplexity", "lm_accuracy"]}
    write_json(tmp_path / "run" / "card.json", card)
    for name in ("dev", "wiki"):
        gold = [{"id": f"{name}{k}", "text": {"text": f"page {k} of {name}"}, "gold": {"n": 10}} for k in range(40)]
        said = [{"id": row["id"], "nll": 20.0 + k, "n": 10, "correct": 4} for k, row in enumerate(gold)]
        write_lines(tmp_path / "run" / "gold" / f"{name}.jsonl", gold)
        write_lines(tmp_path / "run" / "predictions" / f"{name}.jsonl", said)
    evaluations = [{"step": 5, "nll": 3.25}, {"step": 10, "nll": 2.5}]
    for step in (5, 10):
        write_json(
            tmp_path / "run" / "checkpoints" / f"step-{step}" / "state.json", {"evaluations": evaluations[: step // 5]}
        )
    page = build([tmp_path / "run"], replicates=50)
    assert 'id="loss"' in page and page.index("step 5<") < page.index("3.250") < page.index("step 10<") < page.index(
        "2.500"
    )
    assert "On the 40 wiki texts the perplexity of run is " in page and "40.0%" in page
    assert "confidence be trusted" not in page and "next segment" not in page
    assert 'id="mistakes"' not in page and 'id="calibration"' not in page and 'id="slices"' in page


def test_a_language_model_that_was_asked_for_next_segments_says_how_often_it_tells_them(tmp_path):
    card = {"name": "wiki", "kind": "lm", "labels": [], "metrics": ["lm_nll", "nsp_accuracy"]}
    write_json(tmp_path / "run" / "card.json", card)
    gold = [{"id": f"w{k}", "text": {"text": f"page {k}"}, "gold": {"n": 10, "next": k % 2 == 0}} for k in range(40)]
    # Right on 30 of 40: one in four of the answers is turned round.
    said = [
        {
            "id": row["id"],
            "nll": 20.0,
            "n": 10,
            "correct": 4,
            "next": 0.9 if row["gold"]["next"] ^ (k % 4 == 3) else 0.1,
        }
        for k, row in enumerate(gold)
    ]
    write_lines(tmp_path / "run" / "gold" / "wiki.jsonl", gold)
    write_lines(tmp_path / "run" / "predictions" / "wiki.jsonl", said)
    page = build([tmp_path / "run"], replicates=50)
    assert "tells the true next segment from another document's in 75.0% of the pairs of wiki" in page.replace(
        "&#39;", "'"
    )
