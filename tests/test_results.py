"""docs/results.md says what the kept scores say, and nothing else."""

import importlib.util
import json
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def make_results():
    spec = importlib.util.spec_from_file_location("make_results", DOCS / "make_results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_kept_scores_give():
    page = (DOCS / "results.md").read_text()
    assert page == make_results().page()
    assert page.count("|") > 100


def test_every_kept_run_has_scores_of_every_test_set_and_a_date():
    runs = [path for path in (DOCS / "results").iterdir() if path.is_dir()]
    assert len(runs) >= 5
    for run in runs:
        module = make_results()
        for _, folder in module._systems(run):
            kept = {path.stem: path for path in folder.glob("scores/*.json")}
            # Of test cases that a run answered later only those are kept.
            assert run.name.endswith("-behaviour") or set(module._tests(run)) <= set(kept)
            for path in kept.values():
                scores = json.loads(path.read_text())
                assert scores["n"] > 0
                main = next(iter(scores["metrics"].values()))
                # A system that never finds anything varies in no replicate: it has no interval.
                assert main["low"] is None or main["low"] <= main["value"] <= main["high"]
