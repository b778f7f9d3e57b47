"""The null threshold: fitted on dev, best by brute force, applied to test, with the best on test beside it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.cli import main
from heldout.errors import Refused
from heldout.eval.fits import FITTERS
from heldout.eval.fits.null_threshold import best_on_this, fit_null_threshold
from heldout.eval.metrics import find
from heldout.eval.run_scores import score_run
from heldout.eval.score import score
from heldout.eval.tabulate import tabulate
from heldout.eval.text import render
from heldout.fits import Fit, apply, read_fit, write_fit
from heldout.ledger import read_ledger
from heldout.records import Card, Example, Prediction, content_hash
from heldout.runs import write_json, write_lines

CARD = Card("squad", "2.0", "span", (), ("f1", "em", "ece"))
Data = tuple[list[Example], list[Prediction]]


def question(number: int, gold: str, best: str, null_score: float, group: int = 0) -> tuple[Example, Prediction]:
    """A question whose gold answer is ``gold`` ("" for none), and a system's best span and null score."""
    answers = [{"text": gold, "start": 0}] if gold else []
    span = {"text": best, "start": 0, "end": len(best), "p": 0.5}
    about = {"group": f"article {group}", "impossible": not gold}
    text = {"question": f"What is the answer to {number}?", "context": f"{gold} or {best}"}
    return Example(f"q{number}", text, answers, about), Prediction(
        f"q{number}", best, {"null_score": null_score, "best": span}
    )


def data(rows: Sequence[tuple[str, str, float]]) -> Data:
    pairs = [question(number, *row, group=number // 2) for number, row in enumerate(rows)]
    return [example for example, _ in pairs], [said for _, said in pairs]


#: Ten questions: gold, best span, null score. What is told apart best lies between 0.5 and 1.5.
TEN = [
    ("blue boat", "blue boat", -4.0),
    ("red kite", "red", -3.0),
    ("", "a green hat", -2.5),
    ("old mill", "old mill", -1.0),
    ("north", "south", 0.0),
    ("seven", "seven", 0.5),
    ("", "two", 1.5),
    ("", "the pond", 2.0),
    ("a tall oak", "oak", 2.5),
    ("", "grey", 3.0),
]


def f1_at(gold: list[Example], predictions: list[Prediction], threshold: float) -> float:
    """F1 where null scores over the threshold answer nothing, by the metric itself."""
    fit = Fit("null_threshold", {"null_threshold": threshold}, {})
    return find("f1").of(tabulate(CARD, gold, apply(fit, predictions)))


def brute_force(gold: list[Example], predictions: list[Prediction]) -> tuple[float, float]:
    """The best F1 of all thresholds, and the lowest null score that gives it (infinitely low for none at all)."""
    scores = sorted({said.scores["null_score"] for said in predictions})
    tried = {threshold: f1_at(gold, predictions, threshold) for threshold in [scores[0] - 1, *scores]}
    best = max(tried.values())
    return best, min(threshold for threshold, f1 in tried.items() if f1 > best - 1e-9)


def test_q1_the_threshold_of_ten_questions_is_that_of_brute_force() -> None:
    gold, predictions = data(TEN)
    fit = fit_null_threshold(CARD, gold, predictions, "dev")
    assert fit is not None
    # Answered up to 0.5: blue boat 1, red 2/3, old mill 1, seven 1; unanswered and right: two, pond, grey.
    assert fit.parameters == {"null_threshold": 0.5}
    assert f1_at(gold, predictions, 0.5) == pytest.approx((1 + 2 / 3 + 1 + 1 + 3) / 10)
    assert brute_force(gold, predictions) == (f1_at(gold, predictions, 0.5), 0.5)
    assert fit.fitted_on == {"split": "dev", "hash": content_hash(gold), "n": 10}


def test_q1_null_scores_that_are_all_equal_leave_answering_all_or_none() -> None:
    for golds, f1 in ((["one", "", "", ""], 0.75), (["one", "two", "ten", ""], 0.75)):
        gold, predictions = data([(text, text or "none", 0.0) for text in golds])
        fit = fit_null_threshold(CARD, gold, predictions, "dev")
        assert fit is not None
        answered = {said.answer != "" for said in apply(fit, predictions)}
        assert len(answered) == 1
        assert f1_at(gold, predictions, fit.parameters["null_threshold"]) == f1


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_c4_tied_null_scores_are_on_one_side_of_the_threshold_in_either_order(order: list[int]) -> None:
    pair = [("one", "one", 0.5), ("", "two", 0.5)]
    gold, predictions = data([pair[k] for k in order])
    fit = fit_null_threshold(CARD, gold, predictions, "dev")
    assert fit is not None
    assert f1_at(gold, predictions, fit.parameters["null_threshold"]) == 0.5
    assert best_on_this(CARD, gold, predictions)["metrics"] == {"f1": 0.5, "em": 0.5}


rows = st.lists(
    st.tuples(
        st.sampled_from(["", "one", "one two", "the"]),
        st.sampled_from(["one", "two", "one two three", "the"]),
        st.sampled_from([-2.0, -0.5, 0.0, 0.5, 0.25]) | st.floats(-3, 3),
    ),
    min_size=1,
    max_size=12,
)


@given(rows)
@settings(deadline=None)
def test_the_threshold_is_that_of_brute_force_whatever_the_ties(made: list[tuple[str, str, float]]) -> None:
    gold, predictions = data(made)
    fit = fit_null_threshold(CARD, gold, predictions, "dev")
    if all(example.gold for example in gold):
        assert fit is None
        return
    assert fit is not None
    best, threshold = brute_force(gold, predictions)
    found = fit.parameters["null_threshold"]
    assert f1_at(gold, predictions, found) == pytest.approx(best)
    lowest = min(said.scores["null_score"] for said in predictions)
    assert found == threshold if threshold >= lowest else found < lowest


@given(rows, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_threshold_does_not_depend_on_the_order_of_rows(made: list[tuple[str, str, float]], random: Any) -> None:
    gold, predictions = data(made)
    shuffled = list(predictions)
    random.shuffle(shuffled)
    again = fit_null_threshold(CARD, gold[::-1], shuffled, "dev")
    fit = fit_null_threshold(CARD, gold, predictions, "dev")
    assert (again and again.parameters) == (fit and fit.parameters)


def test_the_answer_is_replayed_from_the_file_whatever_it_was() -> None:
    _, (said,) = data([("one", "one", 0.5)])
    fit = Fit("null_threshold", {"null_threshold": 0.5}, {})
    for answer in ("one", "", "other"):
        changed = Prediction(said.id, answer, said.scores)
        assert [row.answer for row in apply(fit, [changed])] == ["one"]
    low = Fit("null_threshold", {"null_threshold": 0.4}, {})
    assert [row.answer for row in apply(low, [said])] == [""]


def test_predictions_without_null_scores_are_refused() -> None:
    gold, predictions = data(TEN[:3])
    bare = [predictions[0], Prediction("q1", "red", {"best": predictions[1].scores["best"]}), Prediction("q2", "")]
    with pytest.raises(Refused, match="dev: 2 of 3 predictions have no null score, the first is id 'q1'"):
        fit_null_threshold(CARD, gold, bare, "dev")
    with pytest.raises(Refused, match="id 'q1' has no null score"):
        apply(Fit("null_threshold", {"null_threshold": 0.0}, {}), bare)


def test_a_fit_comes_back_from_its_file_and_one_that_is_no_number_is_refused(tmp_path: Path) -> None:
    gold, predictions = data(TEN)
    fit = fit_null_threshold(CARD, gold, predictions, "dev")
    assert fit is not None
    path = tmp_path / "null_threshold.json"
    write_fit(path, fit)
    assert read_fit(path) == fit
    for parameters in ({}, {"null_threshold": float("inf")}, {"threshold": 1.0}):
        write_json(path, {"kind": "null_threshold", "parameters": parameters, "fitted_on": {}})
        with pytest.raises(Refused, match="a null threshold is a finite number"):
            read_fit(path)


def test_q12_the_threshold_of_dev_is_applied_and_the_best_on_test_stands_beside_it_labelled() -> None:
    gold, predictions = data(TEN)
    fit = Fit("null_threshold", {"null_threshold": -2.0}, {"split": "dev", "hash": "of dev", "n": 40})
    row = score(CARD, gold, predictions, data="test", fits=[fit], replicates=50)
    variant = row["variants"]["null_threshold"]
    assert variant["metrics"]["f1"]["value"] == pytest.approx(f1_at(gold, predictions, -2.0))
    assert (variant["fitted_on"]["split"], variant["in_sample"]) == ("dev", False)
    best = variant["best_on_this"]
    assert best["parameters"] == {"null_threshold": 0.5}
    assert best["metrics"]["f1"] == pytest.approx(brute_force(gold, predictions)[0])
    assert best["metrics"]["f1"] > variant["metrics"]["f1"]["value"]
    assert row["metrics"]["f1"]["value"] == pytest.approx((1 + 2 / 3 + 1 + 1 + 2 / 3) / 10)
    said = render(row)
    assert '"After null threshold": -2.000, fitted on dev (40 examples).' in said
    assert "The best on this very data, 0.500, would give f1 0.667, em 0.600: chosen on what it is scored on" in said


def run_folder(folder: Path, sets: dict[str, Data]) -> Path:
    write_json(folder / "card.json", CARD.to_json())
    for name, (gold, predictions) in sets.items():
        write_lines(folder / "gold" / f"{name}.jsonl", (example.to_json() for example in gold))
        write_lines(folder / "predictions" / f"{name}.jsonl", (said.to_json() for said in predictions))
    return folder


def shifted(by: float) -> Data:
    """The same with other null scores and one question more, so that it is another set than dev."""
    return data([*((gold, best, score + by) for gold, best, score in TEN), ("east", "east", -9.0)])


def test_a_run_fits_its_threshold_on_dev_keeps_it_and_says_so_in_the_ledger(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, {"dev": data(TEN), "test": shifted(1.25)})
    scored = score_run(folder, replicates=50)
    fit = read_fit(folder / "fits" / "null_threshold.json")
    assert fit == fit_null_threshold(CARD, *data(TEN), "dev")
    assert read_ledger(folder).fitted["null_threshold"] == dict(fit.fitted_on)
    variant = scored["test"]["variants"]["null_threshold"]
    assert variant["parameters"] == {"null_threshold": 0.5}
    assert variant["best_on_this"]["parameters"] == {"null_threshold": 1.75}
    assert scored["dev"]["variants"]["null_threshold"]["in_sample"] is True
    assert scored["dev"]["fitted_on_this"] == ["isotonic", "null_threshold"]
    assert scored["test"]["fitted_on_this"] == []


def test_a_dev_whose_questions_all_have_answers_leaves_no_threshold_and_takes_an_old_one_away(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, {"dev": data(TEN), "test": shifted(1.0)})
    score_run(folder, replicates=50)
    assert (folder / "fits" / "null_threshold.json").exists()
    run_folder(folder, {"dev": data([row for row in TEN if row[0]])})
    row = score_run(folder, replicates=50)["test"]
    assert ("null_threshold" in row["variants"], row["notes"]) == (False, [])
    assert not (folder / "fits" / "null_threshold.json").exists()


def test_a_set_that_lacks_one_null_score_has_no_variant_and_says_so(tmp_path: Path) -> None:
    gold, predictions = shifted(1.0)
    predictions[3] = Prediction("q3", "old mill", {"best": predictions[3].scores["best"]})
    folder = run_folder(tmp_path, {"dev": data(TEN), "test": (gold, predictions)})
    row = score_run(folder, replicates=50)["test"]
    assert "null_threshold" not in row["variants"]
    assert row["notes"] == ["Not shown after null threshold: 1 of 11 have no null score."]
    run_folder(folder, {"dev": (gold, predictions)})
    notes = score_run(folder, replicates=50)["test"]["notes"]
    assert notes == ["No null threshold was fitted on dev: 1 of 11 have no null score."]


def test_heldout_score_fits_on_the_files_of_dev(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run_folder(tmp_path, {"dev": data(TEN), "test": shifted(1.25)})
    words = ["score", "--card", f"{folder}/card.json", "--replicates", "50", "--json"]
    for flag, name in (("", "test"), ("dev-", "dev")):
        words += [f"--{flag}gold", f"{folder}/gold/{name}.jsonl"]
        words += [f"--{flag}predictions", f"{folder}/predictions/{name}.jsonl"]
    assert main(words) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["variants"]["null_threshold"]["parameters"] == {"null_threshold": 0.5}
    assert FITTERS["span"].keys() == row["variants"].keys()


def test_the_metric_by_answerable_and_impossible_trade_off_along_the_threshold() -> None:
    gold, predictions = data(TEN)
    trades = []
    for threshold in (-5.0, 0.5, 5.0):
        after = apply(Fit("null_threshold", {"null_threshold": threshold}, {}), predictions)
        table = tabulate(CARD, gold, after)
        trades.append((find("has_ans_em").of(table), find("no_ans_acc").of(table)))
    assert trades == [(0.0, 1.0), (0.5, 0.75), (0.5, 0.0)]
    assert np.isclose(trades[1][0] * 6 + trades[1][1] * 4, 6)
