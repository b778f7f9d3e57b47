import json

import numpy as np
import pytest

from heldout.errors import Refused
from heldout.eval.metrics import find
from heldout.eval.score import score
from heldout.eval.tabulate import tabulate
from heldout.records import Card, Example, Prediction, read_gold, read_predictions

CARD = Card("held-out text", "1", "lm", (), ("lm_nll", "perplexity", "lm_accuracy", "nsp_accuracy"), ("domain",))


def examples(n, seed=0):
    generator = np.random.default_rng(seed)
    gold, predictions = [], []
    for row in range(n):
        tokens = int(generator.integers(0, 9))
        truth = bool(generator.integers(2))
        about = {"domain": "ab"[row % 2], "group": f"g{row // 2}"}
        gold.append(Example(f"r{row}", {}, {"n": tokens, "next": truth}, about))
        answer = {"nll": float(generator.random() * tokens * 5), "n": tokens}
        answer |= {"correct": int(generator.integers(0, tokens + 1)), "next": float(generator.random())}
        predictions.append(Prediction(f"r{row}", answer))
    return gold, predictions


def value(name, gold, predictions):
    return find(name).of(tabulate(CARD, gold, predictions))


def test_the_metrics_are_sums_over_tokens_and_not_means_of_rows():
    gold, predictions = examples(60)
    n = sum(p.answer["n"] for p in predictions)
    loss = sum(p.answer["nll"] for p in predictions) / n
    assert value("lm_nll", gold, predictions) == pytest.approx(loss)
    assert value("perplexity", gold, predictions) == pytest.approx(np.exp(loss))
    assert value("lm_accuracy", gold, predictions) == pytest.approx(sum(p.answer["correct"] for p in predictions) / n)
    right = [(p.answer["next"] >= 0.5) == g.gold["next"] for g, p in zip(gold, predictions, strict=True)]
    assert value("nsp_accuracy", gold, predictions) == pytest.approx(np.mean(right))


def test_scores_have_intervals_with_documents_whole_and_a_slice_for_each_domain():
    gold, predictions = examples(200)
    found = score(CARD, gold, predictions, data="test", replicates=400)
    assert set(found["slices"]) == {"domain=a", "domain=b"}
    for name, entry in found["metrics"].items():
        assert entry["low"] < entry["value"] < entry["high"], name
    assert "100 groups kept whole" in found["metrics"]["lm_nll"]["method"]
    lone = [Example(g.id, {}, g.gold, {}) for g in gold]
    assert score(CARD, lone, predictions, data="t", replicates=40)["metrics"]["nsp_accuracy"]["method"] == "Wilson 95%"


def test_a_system_that_tells_its_loss_alone_has_no_accuracy_made_up():
    gold, predictions = examples(30)
    alone = [Prediction(p.id, {key: p.answer[key] for key in ("nll", "n")}) for p in predictions]
    metrics = score(CARD, gold, alone, data="test", replicates=40)["metrics"]
    assert metrics["lm_nll"]["value"] == pytest.approx(value("lm_nll", gold, predictions))
    assert metrics["lm_accuracy"]["value"] is None
    assert "needs scores" in metrics["nsp_accuracy"]["note"]


def test_a_system_scored_at_other_positions_is_refused():
    gold, predictions = examples(5)
    other = [*predictions[:4], Prediction("r4", predictions[4].answer | {"n": 40})]
    with pytest.raises(Refused, match="id 'r4': predicts 40 tokens where gold has"):
        tabulate(CARD, gold, other)


def written(folder, rows):
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": "x"} | row) + "\n" for row in rows))
    return path


def test_lines_come_back_as_answers(tmp_path):
    row = {"nll": 4.5, "n": 3, "correct": 1, "next": 0.25}
    (found,) = read_predictions(written(tmp_path, [row]), CARD)
    assert found == Prediction("x", row)
    (gold,) = read_gold(written(tmp_path, [{"gold": {"n": 3, "next": True}}]), CARD)
    assert gold.gold == {"n": 3, "next": True}


@pytest.mark.parametrize(
    "row",
    [
        {"n": 3},
        {"nll": -1, "n": 3},
        {"nll": float("nan"), "n": 3},
        {"nll": 1, "n": -1},
        {"nll": 1, "n": 1.5},
        {"nll": 1, "n": 1, "correct": 2},
        {"nll": 1, "n": 1, "correct": True},
        {"nll": 1, "n": 1, "next": 1.5},
        {"nll": "1", "n": 1},
    ],
)
def test_lines_that_mean_nothing_are_refused_with_their_row(tmp_path, row):
    with pytest.raises(Refused, match=r"rows\.jsonl, line 1"):
        read_predictions(written(tmp_path, [row]), CARD)


@pytest.mark.parametrize("gold", [3, {}, {"n": -1}, {"n": 2, "next": 1}, {"n": "2"}])
def test_gold_that_means_nothing_is_refused_with_its_row(tmp_path, gold):
    with pytest.raises(Refused, match=r"rows\.jsonl, line 1: gold must be"):
        read_gold(written(tmp_path, [{"gold": gold}]), CARD)
