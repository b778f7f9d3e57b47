"""Weak spots: a planted one is found and confirmed, noise is not, and the tree is scikit-learn's."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from heldout.cli import main
from heldout.eval.own_slices.condition import holds
from heldout.eval.own_slices.expression import parse
from heldout.eval.tabulate import tabulate
from heldout.eval.weak_spots import _difference, searched, weak_spots
from heldout.eval.weak_spots.features import cases
from heldout.eval.weak_spots.tree import grow, leaves
from heldout.eval.weak_spots.words import render
from heldout.records import Card, Example, Prediction

CARD = Card("toy", "1", "label", ("negative", "positive"), ("accuracy",), ("negation", "domain"))


def squared_error(target: Any, groups: Sequence[Any]) -> float:
    return float(sum(((target[rows] - target[rows].mean()) ** 2).sum() for rows in groups))


@given(st.integers(0, 2**32 - 1), st.integers(40, 400), st.integers(1, 6), st.integers(1, 30), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_the_tree_is_scikit_learns(seed: int, n: int, k: int, least: int, depth: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 8, (n, k))
    target = rng.normal(size=n) + (codes[:, 0] > 3)
    parts = [rows for _, rows in leaves(grow(target, codes, depth=depth, least=least))]
    assert sorted(np.concatenate(parts).tolist()) == list(range(n))
    assert all(len(rows) >= least for rows in parts) or len(parts) == 1
    oracle = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=least, random_state=0).fit(codes, target)
    at = oracle.apply(codes)
    theirs = [np.flatnonzero(at == leaf) for leaf in np.unique(at)]
    assert squared_error(target, parts) == pytest.approx(squared_error(target, theirs), rel=1e-9)


def test_a_cut_that_is_not_worth_it_is_left_out_and_ties_go_to_the_first_column() -> None:
    target = np.array([0.0] * 50 + [1.0] * 50)
    codes = np.column_stack([np.zeros(100, int), target.astype(int), target.astype(int)])
    tree = grow(target, codes, depth=3, least=10, worth=10)
    assert (tree.column, tree.code) == (1, 0)
    assert grow(target, codes, depth=3, least=10, worth=101).low is None
    assert grow(np.zeros(100), codes, depth=3, least=10).low is None


def reviews(rng: np.random.Generator, n: int, wrong: Any) -> tuple[list[Example], list[Prediction]]:
    """Made-up texts of 1 to 60 words with labels and domains; ``wrong`` (example → probability) says who errs."""
    filler = [f"w{i}" for i in range(200)] + ["not", "good", "bad", "FINE", "no."]
    gold, said = [], []
    for number in range(n):
        text = " ".join(rng.choice(filler, rng.integers(1, 60)))
        label = ("negative", "positive")[rng.integers(2)]
        example = Example(f"e{number}", {"text": text}, label, {"domain": str(rng.choice(["books", "dvd", "music"]))})
        err = rng.random() < wrong(example)
        gold.append(example)
        said.append(Prediction(example.id, {"negative": "positive", "positive": "negative"}[label] if err else label))
    return gold, said


def found_in(gold: list[Example], said: list[Prediction]) -> dict[str, Any]:
    return weak_spots(CARD, gold, tabulate(CARD, gold, said))


def test_a_planted_weakness_is_found_named_and_confirmed() -> None:
    rng = np.random.default_rng(1)
    planted = parse("words > 40 and gold = positive")
    gold, said = reviews(rng, 2000, lambda e: 0.5 if holds(planted, e, Prediction(e.id, "")) else 0.1)
    found = found_in(gold, said)
    best = found["spots"][0]
    assert best["confirmed"] and best["p_holm"] < 1e-6
    inside = [e for e in gold if holds(parse(best["slice"]), e, Prediction(e.id, ""))]
    true = [e for e in gold if holds(planted, e, Prediction(e.id, ""))]
    assert len(set(map(id, inside)) & set(map(id, true))) / max(len(inside), len(true)) > 0.8
    assert best["wrong"] == pytest.approx(0.5, abs=0.15) and best["elsewhere"] == pytest.approx(0.1, abs=0.05)
    assert best["difference"]["low"] < best["wrong"] - best["elsewhere"] < best["difference"]["high"]
    assert set(best["examples"]) <= {e.id for e in inside} and best["examples"]
    assert sum(found["halves"]) == 2000 and min(found["halves"]) > 900
    for spot in found["spots"]:
        assert spot["wrong"] is None or 0 <= spot["wrong"] <= 1
    told = render({"data": "films", **found})
    assert "confirmed" in told and f"--slice NAME='{best['slice']}'" in told


def test_a_weak_domain_and_negation_are_named_in_words() -> None:
    rng = np.random.default_rng(2)
    gold, said = reviews(rng, 1500, lambda e: 0.6 if e.about["domain"] == "dvd" else 0.05)
    best = found_in(gold, said)["spots"][0]
    assert best["where"].startswith("domain is dvd") and best["confirmed"]
    gold, said = reviews(rng, 1500, lambda e: 0.5 if " not " in e.text["text"] else 0.05)
    assert "negation cues over 0" in found_in(gold, said)["spots"][0]["where"]


def test_pure_noise_confirms_nothing_in_95_of_100_sets() -> None:
    rng = np.random.default_rng(3)
    gold, said = reviews(rng, 600, lambda e: 0.0)
    found = cases(CARD, gold, tabulate(CARD, gold, said))
    assert len(found.features) >= 10
    clean = suspects = 0
    for _ in range(100):
        spots = searched(replace(found, wrong=(rng.random(600) < 0.2).astype(float)), gold)["spots"]
        suspects += len(spots)
        clean += not any(spot["confirmed"] for spot in spots)
    assert clean >= 95
    assert suspects > 5, "a search that suspects nothing shows nothing about the judgement"


def test_the_judgement_alone_is_right_as_often_as_it_says() -> None:
    """Of 1,000 slices that are no worse than the rest, whole groups answered alike, 2 to 8% get a p below 0.05."""
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(150), 4)
    hits = 0
    for _ in range(1000):
        wrong = np.repeat((rng.random(150) < 0.3).astype(float), 4)
        inside = np.repeat(rng.random(150) < 0.4, 4)
        hits += _difference(wrong, inside, groups)["p"] < 0.05
    assert 20 <= hits <= 80


def test_a_few_cases_that_are_all_wrong_are_not_called_certain() -> None:
    wrong = np.array([1.0] * 12 + [0.0, 1.0] * 200)
    inside = np.arange(len(wrong)) < 12
    gap = _difference(wrong, inside, np.arange(len(wrong)))["difference"]
    assert gap["value"] == 0.5
    assert gap["high"] - gap["low"] > 0.2, "12 of 12 can well come of a share of 0.8"


def test_groups_and_equal_texts_stay_in_one_half() -> None:
    rng = np.random.default_rng(5)
    gold, said = reviews(rng, 400, lambda e: 0.3)
    double = [Example(f"again {e.id}", e.text, e.gold, e.about) for e in gold]
    again = [Prediction(f"again {p.id}", p.answer) for p in said]
    one, both = found_in(gold, said), found_in(gold + double, said + again)
    assert both["halves"] == [2 * n for n in one["halves"]]


def test_of_tags_the_entities_of_gold_are_looked_at_and_of_questions_the_answers() -> None:
    card = Card("ner", "1", "tags", ("O", "B-LOC", "I-LOC", "B-PER", "I-PER"), ("entity_f1",), ("entity_type",))
    rng = np.random.default_rng(6)
    gold, said = [], []
    for n in range(300):
        tags = ["B-PER", "O", "B-LOC", "I-LOC"] if n % 2 else ["O", "B-PER", "O", "O"]
        answer = [tag if "LOC" not in tag or rng.random() < 0.2 else "O" for tag in tags]
        gold.append(Example(f"s{n}", {"words": [f"Name{n}", "x", "Old", f"Town{n % 7}"]}, tags))
        said.append(Prediction(f"s{n}", answer))
    table = tabulate(card, gold, said)
    found = weak_spots(card, gold, table)
    assert (found["of"], found["n"]) == ("gold entities", 450)
    where = found["spots"][0]["where"]
    assert "entity type is LOC" in where or "words of the entity over 1" in where
    assert len(cases(card, gold, table)) == 450
    card = Card("qa", "1", "span", (), ("f1",), ("question_word",))
    gold, said = [], []
    for n in range(400):
        long = bool(rng.integers(2))
        answer = "Ada Moor of Old Town" if long else "Ada"
        text = {"question": "Who built it?", "context": f"Ada Moor of Old Town built {n}."}
        gold.append(Example(f"q{n}", text, [{"text": answer, "start": 0}]))
        said.append(Prediction(f"q{n}", "Bo" if long and rng.random() < 0.7 else answer))
    best = weak_spots(card, gold, tabulate(card, gold, said))["spots"][0]
    assert best["confirmed"] and "answer" in best["where"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    gold, said = reviews(np.random.default_rng(1), 600, lambda e: 0.6 if e.about["domain"] == "dvd" else 0.05)
    (tmp_path / "gold").mkdir()
    (tmp_path / "predictions").mkdir()
    (tmp_path / "card.json").write_text(json.dumps(CARD.to_json()))
    (tmp_path / "gold" / "films.jsonl").write_text("".join(json.dumps(e.to_json()) + "\n" for e in gold))
    (tmp_path / "predictions" / "films.jsonl").write_text("".join(json.dumps(p.to_json()) + "\n" for p in said))
    return tmp_path


def test_the_command_prints_keeps_and_the_report_shows_them(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["weak-spots", str(run), "--depth", "1"]) == 0
    assert "confirmed      domain is dvd" in capsys.readouterr().out
    kept = json.loads((run / "weak_spots" / "films.json").read_text())
    assert kept["spots"][0]["slice"] == 'domain = "dvd"'
    assert main(["weak-spots", str(run), "--data", "films", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spots"][0]["confirmed"]
    assert main(["report", str(run), "--no-text"]) == 0
    page = (run / "report.html").read_text()
    assert "Weak spots" in page and "domain is dvd" in page
    capsys.readouterr()
    assert main(["weak-spots", str(run), "--depth", "4"]) == 2
    assert "--depth 4: give 1 to 3" in capsys.readouterr().err
    assert main(["weak-spots", str(run), "--data", "none"]) == 2
