"""Split conformal sets: the quantile by hand, the promise by simulation, coverage on slices, what is refused."""

import math
from pathlib import Path

import numpy as np
import pytest

from heldout.errors import Refused
from heldout.eval.fits.conformal import check_alpha, fit_conformal, with_sets
from heldout.eval.labels import tabulate_labels
from heldout.eval.run_scores import score_run
from heldout.eval.score import score
from heldout.eval.text import render
from heldout.fits import apply, read_fit, write_fit
from heldout.ledger import read_ledger
from heldout.records import Card, Example, Prediction, content_hash
from heldout.runs import write_json, write_lines

CARD = Card("toy", "1", "label", ("a", "b", "c"), ("accuracy", "ece"), slices=("domain",))
Data = tuple[list[Example], list[Prediction]]


def made(rng: np.random.Generator, n: int, sharper: float = 1.0, domain: str | None = None) -> Data:
    """Gold drawn from what the scores would be if they were sharpened so much."""
    scores = rng.dirichlet([0.6] * 3, n)
    truth = scores**sharper / (scores**sharper).sum(axis=1, keepdims=True)
    about = {} if domain is None else {"domain": domain}
    gold = [
        Example(f"{domain}{i}", {"text": f"T {domain} {i}"}, CARD.labels[rng.choice(3, p=p)], about)
        for i, p in enumerate(truth)
    ]
    return gold, [
        Prediction(one.id, CARD.labels[int(p.argmax())], p.tolist()) for one, p in zip(gold, scores, strict=True)
    ]


def of_gold(ps: list[float]) -> Data:
    gold = [Example(str(i), {"text": str(i)}, "a") for i in range(len(ps))]
    return gold, [Prediction(str(i), "a", [p, 1 - p, 0.0]) for i, p in enumerate(ps)]


def test_the_quantile_is_the_one_with_the_finite_sample_correction() -> None:
    # Nine scores 0.1 to 0.9: at 80% the 8th of nine, ceil(10 · 0.8), at 90% the 9th; by n · 0.9 it would be the same.
    dev = of_gold([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    for alpha, expected in ((0.2, 0.8), (0.1, 0.9), (0.5, 0.5), (0.45, 0.6)):
        fit = fit_conformal(CARD, *dev, "dev", alpha)
        assert fit.parameters == {"alpha": alpha, "quantile": pytest.approx(expected)}
        assert fit.fitted_on == {"split": "dev", "hash": content_hash(dev[0]), "n": 9}


def test_too_few_to_promise_anything_give_every_label() -> None:
    dev = of_gold([0.9] * 8)
    fit = fit_conformal(CARD, *dev, "dev", 0.1)
    assert fit.parameters["quantile"] == 1.0
    sets = with_sets(tabulate_labels(CARD, *dev), fit).sets
    assert sets is not None and sets.all()


@pytest.mark.parametrize("n", [*range(1, 60), 99, 199, 999])
def test_the_rank_is_that_of_exact_fractions(n: int) -> None:
    dev = of_gold([1 - (i + 1) / (n + 1) for i in range(n)])
    rank = -(-9 * (n + 1) // 10)
    expected = 1.0 if rank > n else rank / (n + 1)
    assert fit_conformal(CARD, *dev, "dev", 0.1).parameters["quantile"] == pytest.approx(expected)


def test_over_dev_and_test_sets_hold_gold_as_often_as_asked_also_for_a_miscalibrated_system() -> None:
    rng = np.random.default_rng(0)
    reached = []
    for _ in range(60):
        dev, test = made(rng, 60, sharper=0.4), made(rng, 200, sharper=0.4)
        table = with_sets(tabulate_labels(CARD, *test), fit_conformal(CARD, *dev, "dev", 0.2))
        assert table.sets is not None
        reached.append(table.sets[np.arange(200), table.gold].mean())
    # Between 1 − α and 1 − α + 1/(n + 1), with the error of 60 repetitions of about 0.05 each.
    assert 0.80 - 0.02 < np.mean(reached) < 0.80 + 1 / 61 + 0.02


def test_coverage_and_size_stand_by_slice_with_intervals_and_fall_on_another_domain() -> None:
    rng = np.random.default_rng(1)
    dev, home, away = made(rng, 300), made(rng, 300, domain="home"), made(rng, 300, sharper=0.1, domain="away")
    gold, said = home[0] + away[0], home[1] + away[1]
    fit = fit_conformal(CARD, *dev, "dev")
    row = score(CARD, gold, said, data="films", fits=[fit], replicates=100)
    block = row["conformal"]
    assert (block["parameters"], block["in_sample"]) == (dict(fit.parameters), False)
    whole, parts = block["metrics"], {key: part["metrics"] for key, part in block["slices"].items()}
    table = with_sets(tabulate_labels(CARD, gold, said), fit)
    assert table.sets is not None
    covered = table.sets[np.arange(600), table.gold]
    assert whole["conformal_coverage"]["value"] == pytest.approx(covered.mean())
    assert whole["conformal_coverage"]["method"].startswith("Wilson")
    assert whole["conformal_size"]["value"] == pytest.approx(table.sets.sum(axis=1).mean())
    assert sum(whole["conformal_size"]["sizes"].values()) == 600
    assert whole["conformal_size"]["low"] < whole["conformal_size"]["value"] < whole["conformal_size"]["high"]
    assert parts["domain=home"]["conformal_coverage"]["value"] == pytest.approx(covered[:300].mean())
    assert parts["domain=home"]["conformal_coverage"]["high"] > 0.9
    assert parts["domain=away"]["conformal_coverage"]["high"] < 0.9
    assert "conformal" not in row["variants"]
    assert "conformal_coverage" not in row["metrics"]
    said_so = render(row)
    assert "Conformal sets (90% to hold gold), fitted on dev (300 examples):" in said_so
    assert said_so.count("domain=away") == 2


def test_of_collapsed_labels_sets_cover_no_less() -> None:
    card = Card("toy", "1", "label", CARD.labels, ("accuracy",), collapse={"b": "rest", "c": "rest"})
    gold, said = made(np.random.default_rng(2), 200)
    fit = fit_conformal(card, gold, said, "dev", 0.3)
    two_way = [Example(one.id, one.text, one.gold if one.gold == "a" else "rest") for one in gold]
    reached = []
    for rows in (gold, two_way):
        table = with_sets(tabulate_labels(card, rows, said), fit)
        assert table.sets is not None
        reached.append(table.sets[np.arange(200), table.gold].mean())
    assert reached[1] >= reached[0] >= 0.7


def test_a_run_keeps_its_alpha_and_the_ledger_says_what_its_sets_were_fitted_on(tmp_path: Path) -> None:
    write_json(tmp_path / "card.json", CARD.to_json())
    rng = np.random.default_rng(3)
    for name in ("dev", "films"):
        gold, said = made(rng, 50, domain=name)
        write_lines(tmp_path / "gold" / f"{name}.jsonl", (one.to_json() for one in gold))
        write_lines(tmp_path / "predictions" / f"{name}.jsonl", (one.to_json() for one in said))
    first = score_run(tmp_path, replicates=20, alpha=0.25)
    again = score_run(tmp_path, replicates=20)
    assert first == again
    assert again["films"]["conformal"]["parameters"]["alpha"] == 0.25
    assert [again[name]["conformal"]["in_sample"] for name in ("dev", "films")] == [True, False]
    fit = read_fit(tmp_path / "fits" / "conformal.json")
    assert read_ledger(tmp_path).fitted["conformal"] == dict(fit.fitted_on)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, math.nan])
def test_no_share_is_refused(alpha: float) -> None:
    with pytest.raises(Refused, match="the share of sets that may miss gold lies between 0 and 1"):
        check_alpha(alpha)


def test_sets_are_no_answers_and_a_foreign_file_of_them_is_refused(tmp_path: Path) -> None:
    fit = fit_conformal(CARD, *of_gold([0.9] * 20), "dev")
    with pytest.raises(Refused, match="fit kind 'conformal' makes sets of labels, no answers"):
        apply(fit, [])
    write_fit(tmp_path / "conformal.json", fit)
    assert read_fit(tmp_path / "conformal.json") == fit
    for parameters in ({}, {"alpha": 0.1, "quantile": 2}, {"alpha": "0.1", "quantile": 1}):
        write_json(tmp_path / "conformal.json", {"kind": "conformal", "parameters": parameters, "fitted_on": {}})
        with pytest.raises(Refused, match="conformal sets need alpha and quantile from 0 to 1"):
            read_fit(tmp_path / "conformal.json")
