"""docs/results.md says what the kept scores say, and nothing else."""

import importlib
import json
from pathlib import Path

import pytest

from heldout.eval.behaviour import main_metric

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture
def script(monkeypatch):
    """A script of docs/, which finds the others beside it as it does when it is run."""
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module


def test_the_page_is_what_the_kept_scores_give(script):
    page = (DOCS / "results.md").read_text()
    assert page == script("make_results").page()
    assert page.count("|") > 100


def test_every_kept_run_has_scores_of_every_test_set_and_a_date(script):
    runs = [path for path in (DOCS / "results").iterdir() if path.is_dir()]
    assert len(runs) >= 5
    for run in runs:
        module = script("result_tables")
        for _, folder in module.systems(run):
            kept = {path.stem: path for path in folder.glob("scores/*.json")}
            # Of test cases that a run answered later only those are kept.
            assert run.name.endswith("-behaviour") or set(module.tests(run)) <= set(kept)
            for path in kept.values():
                scores = json.loads(path.read_text())
                assert scores["n"] > 0
                main = scores["metrics"][main_metric(scores)]
                # A system that never finds anything varies in no replicate: it has no interval.
                # Wilson's lower end of no hit at all is off 0 by 2e-18.
                near = 1e-12
                assert main["low"] is None or main["low"] - near <= main["value"] <= main["high"] + near
