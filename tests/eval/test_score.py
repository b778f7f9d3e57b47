import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.eval.fits import fit_temperature
from heldout.eval.metrics import find
from heldout.eval.run_scores import score_run
from heldout.eval.score import hashes, score
from heldout.eval.tabulate import tabulate
from heldout.eval.text import render
from heldout.fits import apply, read_fit
from heldout.ledger import Ledger, read_ledger, write_ledger
from heldout.records import Card, Example, Prediction, content_hash
from heldout.runs import write_json, write_lines

METRICS = ("accuracy", "macro_f1", "mcc", "nll", "brier", "ece", "ece_mass")
CARD = Card("toy", "1", "label", ("negative", "positive"), METRICS)
Data = tuple[list[Example], list[Prediction]]


def made(seed: int, n: int = 60, *, groups: int = 0, scores: bool = True) -> Data:
    """Texts of ours, some negated; overconfident answers, right three times in four."""
    rng = np.random.default_rng(seed)
    gold, predictions = [], []
    for i in range(n):
        label, right = CARD.labels[int(rng.integers(2))], rng.random() < 0.75
        text = f"{'Not a good' if rng.random() < 0.3 else 'A'} film, number {i}."
        answer = label if right else next(other for other in CARD.labels if other != label)
        p = float(rng.uniform(0.8, 1.0))
        about = {"group": f"film-{i % groups}"} if groups else {}
        gold.append(Example(f"s{seed}-{i}", {"text": text}, label, about))
        given = [p, 1 - p] if answer == "negative" else [1 - p, p]
        predictions.append(
            Prediction(gold[-1].id, answer, given if scores else None, None, {"tokens": 9, "lost": i % 2})
        )
    return gold, predictions


def test_scores_have_the_documented_shape_and_every_number_an_interval() -> None:
    gold, predictions = made(0)
    row = score(CARD, gold, predictions, data="films", replicates=200)
    keys = "card version data n gold_hash inputs_hash replicates seed metrics slices notes variants"
    assert set(row) == set(keys.split())
    assert (row["card"], row["data"], row["n"], row["gold_hash"]) == ("toy", "films", 60, content_hash(gold))
    names = ["accuracy", "macro_f1", "mcc", "nll", "brier", "ece", "ece_positive", "ece_mass"]
    blocks = [row, *row["slices"].values()]
    assert len(blocks) == 1 + len({"negation": 2, "length": 1, "truncated": 2}) + 2
    sure = [f"accuracy_at_{share}" for share in (80, 90, 95)]
    for block in blocks:
        whole = ["mce", "aurc"] if block is row else []
        assert list(block["metrics"]) == [*names, *whole, *sure]
        for name, entry in block["metrics"].items():
            assert {"value", "low", "high", "n", "unit", "method"} <= set(entry)
            assert name == "mce" or entry["low"] <= entry["high"]
    json.dumps(row, allow_nan=False)


def test_values_are_those_of_the_metric_on_the_slices_rows() -> None:
    gold, predictions = made(1)
    row = score(CARD, gold, predictions, data="films", replicates=50)
    table = tabulate(CARD, gold, predictions)
    inside = np.array([i for i, example in enumerate(gold) if example.text["text"].startswith("Not")])
    part = row["slices"]["negation=in scope"]
    assert part["n"] == len(inside) > 5
    for name in METRICS:
        assert row["metrics"][name]["value"] == find(name).of(table)
        assert part["metrics"][name]["value"] == find(name).of(table.take(inside))
        assert part["metrics"][name]["n"] == len(inside)


def test_a_share_gets_wilson_without_groups_and_the_bootstrap_of_whole_groups_with_them() -> None:
    alone = score(CARD, *made(2), data="films", replicates=50)["metrics"]
    grouped = score(CARD, *made(2, groups=12), data="films", replicates=50, seed=3)["metrics"]
    assert alone["accuracy"]["method"] == "Wilson 95%"
    assert alone["nll"]["method"] == "percentile bootstrap 95%, 50 replicates, seed 0"
    assert grouped["accuracy"]["method"] == "percentile bootstrap 95%, 50 replicates, seed 3, 12 groups kept whole"


def test_one_group_or_one_example_gives_no_interval_rather_than_one_of_no_width() -> None:
    row = score(CARD, *made(3, groups=1), data="films", replicates=50)["metrics"]
    assert (row["accuracy"]["low"], row["accuracy"]["method"]) == (None, "no interval: all in one group")
    one = score(CARD, *made(3, n=1), data="films", replicates=50)["metrics"]
    assert one["accuracy"]["low"] is not None
    assert (one["nll"]["high"], one["nll"]["method"]) == (None, "no interval: all in one example")


def test_without_scores_nothing_is_made_up() -> None:
    row = score(CARD, *made(4, scores=False), data="films", replicates=50)
    assert row["metrics"]["accuracy"]["value"] > 0.5
    for block in (row, row["slices"]["negation=rest"]):
        for name in ("nll", "brier", "ece", "ece_positive", "ece_mass"):
            assert block["metrics"][name] == {"value": None, "note": "needs scores"}
    gold, predictions = made(4)
    some = score(CARD, gold, [replace(predictions[0], scores=None), *predictions[1:]], data="films", replicates=50)
    assert some["metrics"]["nll"]["note"] == "needs scores: 1 of 60 predictions have none"


def test_truncated_is_marked_as_belonging_to_one_system() -> None:
    slices = score(CARD, *made(5), data="films", replicates=50)["slices"]
    marked = [key for key, part in slices.items() if part.get("of_system")]
    assert marked == ["truncated=no", "truncated=yes"]


def test_a_temperature_is_a_variant_with_the_same_metrics_and_slices_and_says_where_it_is_from() -> None:
    gold, predictions = made(6)
    dev = made(7)
    fit = fit_temperature(CARD, *dev, split="dev")
    row = score(CARD, gold, predictions, data="films", fits=[fit], replicates=100)
    variant = row["variants"]["temperature"]
    assert variant["fitted_on"] == {"split": "dev", "hash": content_hash(dev[0]), "n": 60}
    assert variant["in_sample"] is False
    assert list(variant["metrics"]) == list(row["metrics"])
    assert list(variant["slices"]) == list(row["slices"])
    expected = find("nll").of(tabulate(CARD, gold, apply(fit, predictions)))
    assert variant["metrics"]["nll"]["value"] == pytest.approx(expected)
    assert variant["metrics"]["nll"]["value"] < row["metrics"]["nll"]["value"]
    assert variant["metrics"]["accuracy"] == row["metrics"]["accuracy"]


def test_what_a_temperature_changes_has_the_interval_of_a_paired_resampling() -> None:
    gold, predictions = made(6)
    fit = fit_temperature(CARD, *made(7), split="dev")
    row = score(CARD, gold, predictions, data="films", fits=[fit], replicates=4000)
    variant = row["variants"]["temperature"]
    change = variant["metrics"]["nll"]["change"]
    assert change["value"] == variant["metrics"]["nll"]["value"] - row["metrics"]["nll"]["value"]
    losses = [
        -np.log([p.scores[CARD.labels.index(e.gold)] for e, p in zip(gold, rows, strict=True)])
        for rows in (predictions, apply(fit, predictions))
    ]
    drawn = np.random.default_rng(1).integers(0, 60, (4000, 60))
    low, high = np.quantile((losses[1] - losses[0])[drawn].mean(axis=1), [0.025, 0.975])
    assert (change["low"], change["high"]) == pytest.approx((low, high), abs=0.1 * (high - low))
    assert "change" not in variant["metrics"]["accuracy"]
    assert {"value", "low", "high"} == set(variant["slices"]["negation=in scope"]["metrics"]["ece"]["change"])


def test_c3_a_temperature_fitted_on_the_scored_data_is_called_in_sample() -> None:
    gold, predictions = made(8)
    fit = fit_temperature(CARD, gold, predictions, "films")
    row = score(CARD, gold, predictions, data="films", fits=[fit], replicates=50)
    assert row["variants"]["temperature"]["in_sample"] is True
    assert "this very data: not held out" in render(row)


def test_e3_scores_do_not_depend_on_the_order_of_predictions() -> None:
    gold, predictions = made(9)
    first, second = (score(CARD, gold, rows, data="f", replicates=50) for rows in (predictions, predictions[::-1]))
    assert first == second


def test_the_seed_is_kept_and_repeats_the_intervals() -> None:
    gold, predictions = made(10)
    first, again, other = (score(CARD, gold, predictions, data="f", replicates=50, seed=s) for s in (1, 1, 2))
    assert first == again
    assert first["metrics"]["nll"]["low"] != other["metrics"]["nll"]["low"]


def test_hans_like_gold_is_scored_on_its_two_labels() -> None:
    card = Card(
        "hans-like",
        "1",
        "label",
        ("entailment", "neutral", "contradiction"),
        ("accuracy", "ece"),
        collapse={"neutral": "non-entailment", "contradiction": "non-entailment"},
    )
    gold = [
        Example("a", {"premise": "It rains."}, "non-entailment"),
        Example("b", {"premise": "It rains."}, "entailment"),
    ]
    predictions = [Prediction("a", "neutral", [0.2, 0.5, 0.3]), Prediction("b", "neutral", [0.3, 0.4, 0.3])]
    row = score(card, gold, predictions, data="hans", replicates=50)
    assert row["metrics"]["accuracy"]["value"] == 0.5
    assert list(row["metrics"])[:3] == ["accuracy", "ece", "ece_positive"]
    assert row["metrics"]["ece"]["value"] == pytest.approx((0.2 + 0.7) / 2)


def run_folder(folder: Path, sets: dict[str, Data], tests: Sequence[str]) -> Path:
    write_json(folder / "card.json", CARD.to_json())
    write_json(folder / "options.json", {"task": "sentiment", "test": [f"{name}=files/{name}" for name in tests]})
    write_ledger(folder, Ledger().with_fitted("checkpoint", "dev", content_hash(sets["dev"][0]), 60))
    for name, (gold, predictions) in sets.items():
        write_lines(folder / "gold" / f"{name}.jsonl", (example.to_json() for example in gold))
        write_lines(folder / "predictions" / f"{name}.jsonl", (prediction.to_json() for prediction in predictions))
    return folder


def test_a_run_is_scored_whole_with_its_temperature_from_dev_and_the_drop_from_the_first_test(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", {"dev": made(11), "yelp": made(12), "imdb": made(13)}, ["imdb", "yelp"])
    scored = score_run(folder, replicates=100)
    assert list(scored) == ["imdb", "yelp", "dev"]
    for name, row in scored.items():
        assert json.loads((folder / "scores" / f"{name}.json").read_text()) == row
        assert row["variants"]["temperature"]["fitted_on"]["split"] == "dev"
    assert scored["dev"]["variants"]["temperature"]["in_sample"] is True
    assert scored["dev"]["fitted_on_this"] == ["checkpoint", "conformal", "isotonic", "temperature"]
    assert scored["imdb"]["fitted_on_this"] == []
    assert "drop" not in scored["imdb"]
    assert "drop" not in scored["dev"]
    drop = scored["yelp"]["drop"]
    gap = scored["imdb"]["metrics"]["accuracy"]["value"] - scored["yelp"]["metrics"]["accuracy"]["value"]
    assert drop["from"] == "imdb"
    assert drop["metrics"]["accuracy"]["value"] == pytest.approx(gap)
    fit = read_fit(folder / "fits" / "temperature.json")
    assert read_ledger(folder).fitted["temperature"] == dict(fit.fitted_on)
    assert list(read_ledger(folder).fitted) == ["checkpoint", "temperature", "isotonic", "conformal"]
    assert "Drop in accuracy from imdb" in render(scored["yelp"])


def test_one_data_set_of_a_run_is_scored_alone(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", {"dev": made(14), "imdb": made(15), "yelp": made(16)}, ["imdb", "yelp"])
    scored = score_run(folder, "yelp", replicates=50)
    assert list(scored) == ["yelp"]
    assert [path.name for path in (folder / "scores").iterdir()] == ["yelp.json"]
    assert scored["yelp"]["drop"]["from"] == "imdb"


def test_a_run_whose_dev_has_no_scores_has_no_temperature(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", {"dev": made(17, scores=False), "imdb": made(18)}, ["imdb"])
    assert score_run(folder, replicates=50)["imdb"]["variants"] == {}
    assert not (folder / "fits").exists()


def spoil_a_score(folder: Path, name: str) -> None:
    """Take the scores off the first prediction of a set."""
    path = folder / "predictions" / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    write_lines(path, [{**rows[0], "scores": None}, *rows[1:]])


def test_a_set_that_lacks_one_score_has_no_variant_and_says_so_while_the_others_have_theirs(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", {"dev": made(21), "imdb": made(22), "yelp": made(23)}, ["imdb", "yelp"])
    spoil_a_score(folder, "yelp")
    scored = score_run(folder, replicates=50)
    assert (list(scored["imdb"]["variants"]), scored["imdb"]["notes"]) == (["temperature", "isotonic"], [])
    assert scored["yelp"]["variants"] == {} and "conformal" not in scored["yelp"]
    assert scored["yelp"]["notes"] == ["Not shown after temperature, isotonic or conformal: 1 of 60 have no scores."]
    assert "1 of 60 have no scores" in render(scored["yelp"])


def test_a_dev_that_lacks_one_score_gives_no_temperature_and_says_so(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", {"dev": made(24), "imdb": made(25)}, ["imdb"])
    score_run(folder, replicates=50)
    spoil_a_score(folder, "dev")
    row = score_run(folder, replicates=50)["imdb"]
    assert row["variants"] == {} and not list((folder / "fits").iterdir())
    assert row["notes"] == ["No temperature, isotonic or conformal was fitted on dev: 1 of 60 have no scores."]


def test_a_first_test_without_predictions_leaves_the_others_without_a_drop(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", {"dev": made(26), "imdb": made(27), "yelp": made(28)}, ["imdb", "yelp"])
    (folder / "predictions" / "imdb.jsonl").unlink()
    row = score_run(folder, "yelp", replicates=50)["yelp"]
    assert row["drop"] == {"from": "imdb", "metrics": {}}
    assert "No drop from imdb: it has no predictions or no gold." in render(row)


def test_a_slice_that_seldom_is_drawn_does_not_count_the_times_it_was_not() -> None:
    """Three texts all right among 60: a replicate without them has no F1, so none of it is 0."""
    gold = [Example(str(i), {"text": "It was not good." if i < 3 else "Fine."}, CARD.labels[i % 2]) for i in range(60)]
    predictions = [Prediction(e.id, e.gold if i < 3 or i % 5 else CARD.labels[0]) for i, e in enumerate(gold)]
    part = score(CARD, gold, predictions, data="films", replicates=500)["slices"]["negation=in scope"]
    assert part["n"] == 3
    # A replicate that holds one label alone has an F1 of 1 and one of 0/0.
    assert part["metrics"]["macro_f1"]["low"] == 0.5


def refused(call: Any) -> str:
    with pytest.raises(Refused) as error:
        call()
    assert "\n" not in str(error.value)
    return str(error.value)


def test_folders_that_cannot_be_scored_are_refused_in_one_line(tmp_path: Path) -> None:
    assert "holds no card.json; is it a run folder" in refused(lambda: score_run(tmp_path))
    write_json(tmp_path / "seeds" / "seed-2" / "card.json", {})
    assert "holds the runs seed-2: score each" in refused(lambda: score_run(tmp_path / "seeds"))
    folder = run_folder(tmp_path / "run", {"dev": made(19), "imdb": made(20)}, ["imdb"])
    assert "gold/books.jsonl: no such file" in refused(lambda: score_run(folder, "books"))
    (folder / "predictions" / "imdb.jsonl").unlink()
    said = refused(lambda: score_run(folder, replicates=50))
    assert "predictions/imdb.jsonl: no such file; it must hold one line for each id of" in said
    write_json(tmp_path / "bare" / "card.json", CARD.to_json())
    assert "run finetune or predict first" in refused(lambda: score_run(tmp_path / "bare"))


KEYS = st.text(st.characters(exclude_categories=()), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.tuples(st.dictionaries(KEYS, VALUES, max_size=3), VALUES, st.dictionaries(KEYS, VALUES, max_size=3))),
    st.lists(st.tuples(VALUES, VALUES)),
)
@settings(max_examples=50, deadline=None)
def test_both_hashes_are_of_the_records_as_json_with_sorted_keys(examples: list[Any], answers: list[Any]) -> None:
    gold = [Example(str(row), text, answer, about) for row, (text, answer, about) in enumerate(examples)]
    said = [Prediction(str(row), answer, scores) for row, (answer, scores) in enumerate(answers)]
    rows = [record.to_json() for records in ([CARD], gold, said) for record in records]
    lines = "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)
    expected = hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
    assert hashes(CARD, gold, said) == (content_hash(gold), expected)
