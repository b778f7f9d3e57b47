"""A run of kind span: its report is made, and its scores are made anew only where something changed."""

from pathlib import Path

import numpy as np

from heldout.eval.report import build
from heldout.eval.report.inputs import read_inputs
from heldout.eval.run_scores import score_run
from heldout.records import Card, Example, Prediction
from heldout.runs import write_json, write_lines

CARD = Card("qa", "2.0", "span", (), ("f1", "em", "ece", "aurc"))


def run_folder(folder: Path) -> Path:
    """Dev has null scores throughout, "harbour" lacks one."""
    write_json(folder / "card.json", CARD.to_json())
    rng = np.random.default_rng(0)
    for name in ("dev", "harbour"):
        gold, predictions = [], []
        for number in range(40):
            answers = [{"text": "the old boat", "start": 0}] if number % 3 else []
            text = {"question": f"What is number {number}?", "context": "the old boat lies here"}
            gold.append(Example(f"{name}-{number}", text, answers, {"group": f"{name} {number % 8}"}))
            found, p = "old boat" if number % 2 else "here", float(rng.uniform(0.1, 1))
            best = {"text": found, "start": 4, "end": 12, "p": p}
            scores = {"null_score": float(rng.normal()), "best": best}
            if name == "harbour" and number == 7:
                del scores["null_score"]
            predictions.append(Prediction(gold[-1].id, found, scores))
        write_lines(folder / "gold" / f"{name}.jsonl", (row.to_json() for row in gold))
        write_lines(folder / "predictions" / f"{name}.jsonl", (row.to_json() for row in predictions))
    return folder


def test_a_set_without_all_null_scores_is_not_scored_anew_with_every_report(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run")
    scored = score_run(folder, replicates=50)
    variants = {name: list(row["variants"]) for name, row in scored.items()}
    assert variants == {"harbour": ["isotonic"], "dev": ["null_threshold", "isotonic"]}
    files = sorted((folder / "scores").iterdir())
    written = [path.stat().st_mtime_ns for path in files]
    assert len(written) == 2
    assert read_inputs([folder], 50).main.scores == scored
    assert [path.stat().st_mtime_ns for path in files] == written
    (folder / "scores" / "harbour.json").unlink()
    assert read_inputs([folder], 50).main.scores.keys() == scored.keys()


def test_a_report_of_spans_is_made_with_its_main_metric(tmp_path: Path) -> None:
    page = build([run_folder(tmp_path / "run")], replicates=50)
    assert "F1" in page and "F1 (answerable)" in page
