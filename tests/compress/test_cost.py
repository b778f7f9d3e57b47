"""Costs: sizes and times of every form, what was kept against a computation by hand, and the tab that shows it."""

import json
import math
import random

import numpy as np
import pytest

from heldout.cli import main
from heldout.compress.measure import Side, best_of, measured, quartiles
from heldout.errors import Refused
from heldout.eval.report.pareto import Point, front, pareto
from heldout.eval.report.tabs.cost import read_cost
from heldout.eval.retention import agreement, divergence, retention
from heldout.records import Prediction
from heldout.runs import read_json, write_json, write_lines
from heldout.train.windows import Window

CARD = {
    "name": "sentiment",
    "version": "1",
    "kind": "label",
    "labels": ["negative", "positive"],
    "metrics": ["accuracy", "nll", "ece"],
    "slices": ["domain"],
    "collapse": {},
    "citation": "",
}


def write_run(folder, right, scores):
    """A run of 60 examples in two domains, right where ``right`` says so."""
    write_json(folder / "card.json", CARD)
    write_json(folder / "options.json", {"test": ["t=t"]})
    gold, said = [], []
    for number in range(60):
        label = CARD["labels"][number % 2]
        other = CARD["labels"][1 - number % 2]
        about = {"domain": "a" if number < 40 else "b"}
        gold.append({"id": f"e{number}", "text": {"text": "x"}, "gold": label, "about": about})
        p = scores if (label if right(number) else other) == "negative" else scores[::-1]
        said.append({"id": f"e{number}", "answer": label if right(number) else other, "scores": p})
    write_lines(folder / "gold" / "t.jsonl", gold)
    write_lines(folder / "predictions" / "t.jsonl", said)
    return folder


@pytest.fixture
def pair(tmp_path):
    teacher = write_run(tmp_path / "teacher", lambda n: n % 10 != 0, [0.9, 0.1])
    return write_run(tmp_path / "student", lambda n: n % 10 != 0 and n < 50, [0.8, 0.2]), teacher


def test_retention_is_the_ratio_of_the_values_with_a_paired_interval(pair):
    found = retention(*pair, replicates=400)["t"]
    whole, parts = found["slices"][""], found["slices"]
    # 54 of 60 are right before, 45 after; all 9 that were lost are of domain b.
    assert whole["value"] == pytest.approx(45 / 54)
    assert whole["low"] < 45 / 54 < whole["high"] < 1
    assert parts["domain=a"]["value"] == 1.0
    assert (parts["domain=a"]["low"], parts["domain=a"]["high"]) == (1.0, 1.0)
    assert parts["domain=b"]["value"] == pytest.approx(9 / 18)
    assert found["churn"] == {"right_to_wrong": 9, "wrong_to_right": 0}
    assert found["agreement"] == pytest.approx(51 / 60)
    # Of 51 the two agree on the label, of 9 they do not.
    same = 0.9 * math.log(0.9 / 0.8) + 0.1 * math.log(0.1 / 0.2)
    crossed = 0.9 * math.log(0.9 / 0.2) + 0.1 * math.log(0.1 / 0.8)
    assert found["kl"] == pytest.approx((51 * same + 9 * crossed) / 60)


def test_kl_needs_probabilities_and_agreement_counts_words():
    tags = [Prediction("a", ["O", "B-x"], [[0.5, 0.5], [0.2, 0.8]])]
    other = [Prediction("a", ["O", "O"], [[0.5, 0.5], [0.8, 0.2]])]
    assert agreement(tags, other) == 0.5
    assert divergence(tags, other) == pytest.approx((0.2 * math.log(0.25) + 0.8 * math.log(4)) / 2)
    assert divergence(tags, tags) == 0
    assert divergence([Prediction("a", "x", [1.0, 0.0])], [Prediction("a", "x", [0.5, 0.5])]) == pytest.approx(
        math.log(2)
    )
    assert divergence([Prediction("a", "x", {"null_score": 0})], [Prediction("a", "x", {"null_score": 0})]) is None
    assert divergence([Prediction("a", "x")], [Prediction("a", "x", [1.0])]) is None


def test_sides_take_turns_and_answer_everything(monkeypatch):
    clock, log = [0.0], []
    monkeypatch.setattr("heldout.compress.measure.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("heldout.compress.measure.SETTLE", 0)

    def ask(name, cost):
        def answer(windows):
            log.append((name, len(windows)))
            clock[0] += cost * (1 + len(windows))

        return answer

    rows = [[Window(n, {"input_ids": [1] * (n + 1)})] for n in range(10)]
    sides = [Side("slow", ask("slow", 2.0), rows), Side("fast", ask("fast", 1.0), rows)]
    found = measured(sides, repeats=2, say=lambda words: None)
    assert found["slow"]["latency"] == {"n": 10, "seconds": [4.0, 4.0, 4.0]}
    assert found["fast"]["latency"]["seconds"][1] == 2.0
    assert set(found["slow"]["throughput"]["by_batch"]) == {"1", "4", "8"}
    assert found["fast"]["throughput"]["batch"] == 8
    # 8 and 2 rows: (1 + 8) + (1 + 2) seconds for 10 examples.
    assert found["fast"]["throughput"]["examples_a_second"] == pytest.approx([10 / 12] * 3)
    assert [name for name, _ in log[:16]] == ["slow"] * 8 + ["fast"] * 8
    assert [name for name, _ in log[16:24]] == ["slow", "fast", "fast", "slow"] * 2
    assert best_of({"1": [1, 2, 3], "4": [1, 1, 9]})["batch"] == 1


def test_quartiles_are_numpys():
    values = [random.Random(1).random() for _ in range(17)]
    assert quartiles(values) == pytest.approx(list(np.quantile(values, [0.25, 0.5, 0.75])))


@pytest.fixture(scope="module")
def measured_run(exported, sentiment_run, tmp_path_factory):
    import shutil

    folder = tmp_path_factory.mktemp("cost") / "product"
    reference = folder.parent / "teacher"
    shutil.copytree(exported, folder)
    shutil.copytree(sentiment_run, reference)
    shutil.copytree(exported / "predictions", reference / "predictions")
    words = ["cost", str(folder), str(reference), "--limit", "6", "--repeats", "1", "--replicates", "100"]
    assert main(words) == 0
    return folder, reference


def test_every_form_is_measured(measured_run):
    folder, _ = measured_run
    found = read_json(folder / "cost.json")
    product, teacher = found["systems"]
    assert (product["runtime"], teacher["runtime"]) == ("onnxruntime fp32", "torch fp32")
    assert product["parameters"] == teacher["parameters"] > 10_000
    assert product["bytes"] == sum(path.stat().st_size for path in (folder / "onnx").iterdir())
    for row in (product, teacher):
        low, middle, high = row["latency"]["seconds"]
        assert 0 < low <= middle <= high
        assert row["throughput"]["examples_a_second"][1] > 0
        assert row["peak_memory"] > 20_000_000
    # torch itself is larger than all that an exported model needs.
    assert product["peak_memory"] < teacher["peak_memory"]
    assert found["kept"][str(folder)]["t"]["agreement"] == 1.0
    assert found["kept"][str(folder)]["t"]["kl"] == pytest.approx(0, abs=1e-9)


def test_the_report_has_a_tab_of_costs(measured_run, tmp_path):
    folder, _ = measured_run
    page, lines = tmp_path / "r.html", tmp_path / "r.md"
    assert main(["report", str(folder), "--out", str(page)]) == 0
    text = page.read_text()
    assert 'id="cost"' in text
    assert "onnxruntime fp32" in text
    assert "no measurement of ours" in text
    assert "keeps 100.0% of teacher’s quality" in text
    assert main(["report", str(folder), "--format", "md", "--out", str(lines)]) == 0
    assert "<summary>Cost</summary>" in lines.read_text()


def test_retention_is_computed_anew_without_measuring(measured_run, capsys):
    folder, reference = measured_run
    before = read_json(folder / "cost.json")["systems"]
    capsys.readouterr()
    words = ["cost", str(folder), str(reference), "--no-speed", "--replicates", "50", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["systems"] == before


def test_a_report_says_where_time_was_not_measured(measured_run, tmp_path):
    folder, _ = measured_run
    kept, lines = read_json(folder / "cost.json"), tmp_path / "report.md"
    write_json(folder / "cost.json", kept | {"systems": []})
    assert main(["report", str(folder), "--format", "md", "--out", str(lines)]) == 0
    write_json(folder / "cost.json", kept)
    assert "Time and memory were not measured" in lines.read_text()
    assert "by turns in one process" not in lines.read_text()


def test_costs_of_one_run_or_of_no_run_are_refused(sentiment_run, tmp_path, capsys):
    assert main(["cost", str(sentiment_run)]) == 2
    assert "the product and the reference" in capsys.readouterr().err
    assert main(["cost", str(sentiment_run), str(tmp_path)]) == 2
    assert "holds no model/ or onnx/" in capsys.readouterr().err
    (tmp_path / "model").mkdir()
    write_json(tmp_path / "options.json", {"kind": "mlm"})
    assert main(["cost", str(sentiment_run), str(tmp_path)]) == 2
    assert "names no task" in capsys.readouterr().err
    write_json(tmp_path / "cost.json", {"systems": 3})
    with pytest.raises(Refused, match="make it again"):
        read_cost(tmp_path / "cost.json")


def test_the_front_holds_those_that_no_other_beats():
    points = [Point("a", 1, 0.5), Point("b", 2, 0.9), Point("c", 3, 0.8), Point("d", 1, 0.4), Point("e", 4, 0.95)]
    assert [point.name for point in front(points)] == ["a", "b", "e"]
    svg = pareto([*points, Point("<b>", 2, 0.7)], "ms", "accuracy", "words")
    assert svg.count('class="mark model"') == 6
    assert "&lt;b&gt;" in svg
