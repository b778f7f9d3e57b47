"""Answers by what errors cost: against all thresholds by brute force, by hand, ties, provenance, wrong calls."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.eval.fits.costs import fit_cost_threshold, fit_expected_cost, parse_costs
from heldout.eval.fits.temperature import fit_temperature
from heldout.eval.run_scores import score_run
from heldout.eval.score import score
from heldout.fits import Fit, apply, read_fit, soften, write_fit
from heldout.records import Card, Example, Prediction
from heldout.runs import write_json, write_lines

CARD = Card("toy", "1", "label", ("negative", "positive"), ("accuracy", "ece"))
THREE = Card("toy", "1", "label", ("a", "b", "c"), ("accuracy", "ece"))
Data = tuple[list[Example], list[Prediction]]


def data(ps: list[float], gold: list[bool]) -> Data:
    """Probabilities of positive, and whether gold is."""
    return (
        [Example(str(i), {"text": f"T {i}"}, CARD.labels[int(hit)]) for i, hit in enumerate(gold)],
        [Prediction(str(i), CARD.labels[int(p > 0.5)], [1 - p, p]) for i, p in enumerate(ps)],
    )


def paid(gold: list[Example], said: list[Prediction], costs) -> float:  # type: ignore[no-untyped-def]
    index = CARD.labels.index
    return float(np.mean([costs[index(g.gold)][index(s.answer)] for g, s in zip(gold, said, strict=True)]))


def test_what_is_not_named_costs_1_and_right_answers_nothing() -> None:
    assert parse_costs(["positive>negative=5"], CARD) == [[0, 1], [5, 0]]
    assert parse_costs(["a>c=2.5", "b>a=0"], THREE) == [[0, 1, 2.5], [0, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("positive", "--cost 'positive': write 'GOLD>ANSWER=COST', such as 'positive>negative=5', in quotes"),
        ("positive>negative", "write 'GOLD>ANSWER=COST'"),
        ("positve>negative=5", "'positve' is no label; the labels are negative, positive; did you mean positive?"),
        ("positive>positive=5", "a right answer costs nothing"),
        ("positive>negative=much", "'much' is no number from 0 on"),
        ("positive>negative=-1", "'-1' is no number from 0 on"),
        ("positive>negative=inf", "'inf' is no number from 0 on"),
        ("positive>negative=nan", "'nan' is no number from 0 on"),
    ],
)
def test_a_wrong_cost_is_refused_in_one_line(word: str, says: str) -> None:
    with pytest.raises(Refused) as error:
        parse_costs([word], CARD)
    assert says in str(error.value) and "\n" not in str(error.value)


def test_costs_are_for_labels() -> None:
    with pytest.raises(Refused, match="--cost is for cards of kind label; qa is of kind span"):
        parse_costs(["a>b=2"], Card("qa", "2.0", "span", (), ("f1",)))


def test_of_two_labels_the_rule_is_the_threshold_of_the_costs_on_calibrated_probabilities() -> None:
    rng = np.random.default_rng(0)
    ps = rng.random(300)
    # The system is too timid: its odds should be squared.
    dev = data(ps.tolist(), (rng.random(300) < ps**2 / (ps**2 + (1 - ps) ** 2)).tolist())
    fit = fit_expected_cost(CARD, *dev, "dev", [[0, 1], [5, 0]])
    temperature = fit_temperature(CARD, *dev, "dev").parameters["temperature"]
    assert fit.parameters["threshold"] == pytest.approx(1 / 6)
    assert fit.parameters["temperature"] == temperature < 0.8
    after = apply(fit, dev[1])
    calibrated = [soften(s.scores, temperature)[1] for s in dev[1]]
    assert [a.answer for a in after] == [CARD.labels[int(p > 1 / 6)] for p in calibrated]
    assert [a.scores for a in after] == [s.scores for s in dev[1]]
    assert paid(dev[0], after, [[0, 1], [5, 0]]) < paid(*dev, [[0, 1], [5, 0]])


def test_equal_costs_change_no_answer() -> None:
    rng = np.random.default_rng(1)
    dev = data(rng.random(50).tolist(), (rng.random(50) < 0.5).tolist())
    fit = fit_expected_cost(CARD, *dev, "dev", [[0, 1], [1, 0]])
    assert fit.parameters["threshold"] == 0.5
    assert [a.answer for a in apply(fit, dev[1])] == [s.answer for s in dev[1]]


def test_of_three_labels_it_is_the_answer_of_lowest_expected_cost() -> None:
    # Calling a c costs 10: with p = (0.2, 0.5, 0.3) that is 2.0 + 0.5, b costs 0.2 + 0.3, a costs 0.5 + 0.3.
    fit = Fit(
        "expected_cost", {"labels": list("abc"), "costs": [[0, 1, 10], [1, 0, 1], [1, 1, 0]], "temperature": 1.0}, {}
    )
    said = [
        Prediction("x", "b", [0.2, 0.5, 0.3]),
        Prediction("y", "c", [0.2, 0.1, 0.7]),
        Prediction("z", "c", [0.0, 0.1, 0.9]),
    ]
    # y: a 0.8, b 0.9, c 2.1; z: a 1.0, b 0.9, c 0.1.
    assert [a.answer for a in apply(fit, said)] == ["b", "a", "c"]


@given(
    st.lists(
        st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.7]) | st.floats(0, 1), st.booleans()), min_size=1, max_size=30
    ),
    st.sampled_from([0.0, 0.5, 1.0, 5.0]),
    st.sampled_from([0.5, 1.0, 3.0]),
)
@settings(max_examples=100, deadline=None)
def test_no_threshold_costs_less_on_dev(rows: list[tuple[float, bool]], over: float, under: float) -> None:
    costs = [[0.0, over], [under, 0.0]]
    gold, said = data([p for p, _ in rows], [hit for _, hit in rows])
    fit = fit_cost_threshold(CARD, gold, said, "dev", costs)
    assert fit is not None
    reached = paid(gold, apply(fit, said), costs)
    for cut in [-1.0, *(p for p, _ in rows), 2.0]:
        assert (
            reached <= paid(gold, [Prediction(s.id, CARD.labels[int(s.scores[1] >= cut)]) for s in said], costs) + 1e-9
        )


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_c4_equal_probabilities_stand_on_one_side_whatever_their_order(order: list[int]) -> None:
    gold, said = data([0.5, 0.5], [True, False])
    rows = [gold[k] for k in order], [said[k] for k in order]
    fit = fit_cost_threshold(CARD, *rows, "dev", [[0, 1], [5, 0]])
    assert fit is not None
    assert [a.answer for a in apply(fit, said)] == ["positive", "positive"]
    assert fit_cost_threshold(CARD, *rows, "dev", [[0, 5], [1, 0]]).parameters["threshold"] > 0.5  # type: ignore[union-attr]


def test_c3_the_threshold_of_dev_is_applied_and_the_best_on_test_is_labelled() -> None:
    rng = np.random.default_rng(3)
    ps = rng.random((2, 80))
    dev, test = (data(p.tolist(), (rng.random(80) < p).tolist()) for p in ps)
    test = (
        [Example(f"t{g.id}", {"text": f"other {g.id}"}, g.gold) for g in test[0]],
        [Prediction(f"t{s.id}", s.answer, s.scores) for s in test[1]],
    )
    costs = [[0, 1], [4, 0]]
    fits = [fit(CARD, *dev, "dev", costs) for fit in (fit_expected_cost, fit_cost_threshold)]
    row = score(CARD, *test, data="test", fits=[fit for fit in fits if fit], replicates=200)
    before = row["metrics"]["cost"]
    assert before["value"] == pytest.approx(paid(*test, costs))
    assert before["low"] < before["value"] < before["high"]
    for fit in fits:
        assert fit is not None
        variant = row["variants"][fit.kind]
        assert (variant["fitted_on"]["split"], variant["in_sample"]) == ("dev", False)
        after = variant["metrics"]["cost"]
        assert after["value"] == pytest.approx(paid(test[0], apply(fit, test[1]), costs))
        assert after["change"]["value"] == pytest.approx(after["value"] - before["value"])
        assert all("cost" in part["metrics"] for part in variant["slices"].values())
    best = row["variants"]["cost_threshold"]["best_on_this"]
    assert best["metrics"]["cost"] <= row["variants"]["cost_threshold"]["metrics"]["cost"]["value"]
    assert best["parameters"]["threshold"] == fit_cost_threshold(CARD, *test, "x", costs).parameters["threshold"]  # type: ignore[union-attr]


def test_a_run_keeps_its_costs(tmp_path: Path) -> None:
    write_json(tmp_path / "card.json", CARD.to_json())
    rng = np.random.default_rng(4)
    for name in ("dev", "films"):
        p = rng.random(60)
        gold, said = data(p.tolist(), (rng.random(60) < p).tolist())
        gold = [Example(g.id, {"text": f"{name} {g.id}"}, g.gold) for g in gold]
        write_lines(tmp_path / "gold" / f"{name}.jsonl", (one.to_json() for one in gold))
        write_lines(tmp_path / "predictions" / f"{name}.jsonl", (one.to_json() for one in said))
    plain = score_run(tmp_path, replicates=20)["films"]
    assert "cost" not in plain["metrics"] and "expected_cost" not in plain["variants"]
    first = score_run(tmp_path, replicates=20, costs=["positive>negative=5"])
    assert first == score_run(tmp_path, replicates=20)
    assert {"expected_cost", "cost_threshold"} <= first["films"]["variants"].keys()
    assert first["dev"]["variants"]["cost_threshold"]["in_sample"] is True


def test_where_gold_has_collapsed_labels_the_answers_change_and_no_cost_is_made_up() -> None:
    card = Card("toy", "1", "label", THREE.labels, ("accuracy", "ece"), collapse={"b": "rest", "c": "rest"})
    gold = [Example("0", {}, "a"), Example("1", {}, "rest")]
    said = [Prediction("0", "a", [0.6, 0.4, 0.0]), Prediction("1", "a", [0.6, 0.2, 0.2])]
    costs = [[0, 1, 1], [9, 0, 1], [9, 1, 0]]
    fit = Fit("expected_cost", {"labels": list("abc"), "costs": costs, "temperature": 1.0}, {"split": "dev", "n": 9})
    row = score(card, gold, said, data="two", fits=[fit], replicates=20)
    assert "cost" not in row["metrics"]
    assert row["variants"]["expected_cost"]["metrics"]["accuracy"]["value"] == 0.5
    assert row["metrics"]["accuracy"]["value"] == 0.5
    assert fit_cost_threshold(card, gold, said, "dev", costs) is None


def test_files_of_costs_come_back_and_foreign_ones_are_refused(tmp_path: Path) -> None:
    dev = data([0.2, 0.6, 0.7], [False, True, False])
    for fit in (
        fit_expected_cost(CARD, *dev, "dev", [[0, 1], [5, 0]]),
        fit_cost_threshold(CARD, *dev, "dev", [[0, 1], [5, 0]]),
    ):
        assert fit is not None
        write_fit(tmp_path / "fit.json", fit)
        assert read_fit(tmp_path / "fit.json") == fit
        good = dict(fit.parameters)
        wrong = "temperature" if fit.kind == "expected_cost" else "threshold"
        for bad in (
            {},
            {**good, "labels": ["negative"]},
            {**good, "labels": "ab"},
            {**good, "costs": [[0, 1]]},
            {**good, "costs": [[0, 1], [5]]},
            {**good, "costs": [[0, -1], [5, 0]]},
            {**good, "costs": [[0, "1"], [5, 0]]},
            {**good, wrong: None},
        ):
            write_json(tmp_path / "fit.json", {"kind": fit.kind, "parameters": bad, "fitted_on": {}})
            with pytest.raises(Refused, match=r"fit.json: .*; remove the file or fit again"):
                read_fit(tmp_path / "fit.json")
