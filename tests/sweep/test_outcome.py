"""What is said of the trials, against values worked out by hand and NumPy's standard deviations."""

import numpy as np
import pytest

from heldout.runs import write_json, write_lines
from heldout.sweep.outcome import Judge, outcome, table
from heldout.sweep.search import Trial

KEPT = {"metric": "accuracy", "unit": "share", "direction": "max", "wanted": 9, "points": None, "seeds": []}


def scored(run, value, width=0.0392):
    entry = {"value": value, "low": value - width / 2, "high": value + width / 2, "n": 500}
    write_json(run / "scores" / "dev.json", {"metrics": {"accuracy": entry}})
    write_lines(run / "losses.jsonl", [{"step": n, "seconds": 0.25} for n in range(8)])


def done(number, value):
    return Trial(number, {"learning_rate": 10.0**-number}, "done", value)


@pytest.fixture
def four(tmp_path):
    """Standard error 0.01: the first and the third are within it of the best, the fourth is not."""
    trials = [done(n, value) for n, value in enumerate((0.895, 0.90, 0.891, 0.88))]
    for trial in trials:
        scored(tmp_path / trial.name, trial.value)
    return tmp_path, [*trials, Trial(4, {"learning_rate": 1.0}, "failed", why="step 3: the loss is nan")]


def test_the_trials_within_a_standard_error_of_the_best_are_named(four):
    found = outcome(*four, Judge("accuracy", "share", True))
    best = found["best"]
    assert best["trial"] == "trial-001"
    assert best["standard_error"] == pytest.approx(0.01)
    assert best["cannot_be_told_from_it"] == ["trial-000", "trial-002"]
    assert best["deviation_between_seeds"] is None
    assert best["of"] == 4
    assert [row["seconds"] for row in found["trials"]] == [2.0, 2.0, 2.0, 2.0, 0.0]


def test_of_equal_trials_the_first_is_the_best_and_of_a_loss_the_lowest(tmp_path):
    trials = [done(0, 0.5), done(1, 0.3), done(2, 0.3)]
    for trial in trials:
        scored(tmp_path / trial.name, trial.value)
    assert outcome(tmp_path, trials, Judge("accuracy", "share", False))["best"]["trial"] == "trial-001"
    assert outcome(tmp_path, trials, Judge("accuracy", "share", True))["best"]["trial"] == "trial-000"


def test_with_seeds_the_deviation_within_trials_is_pooled_and_decides_where_it_is_larger(tmp_path):
    values = {0: [0.90, 0.94, 0.92], 1: [0.89, 0.95, 0.89], 2: [0.85, 0.87, 0.83]}
    trials = [done(n, float(np.mean(row))) for n, row in values.items()]
    for number, row in values.items():
        for seed, value in enumerate(row, start=1):
            scored(tmp_path / f"trial-{number:03d}" / f"seed-{seed}", value, width=0.00392)
    best = outcome(tmp_path, trials, Judge("accuracy", "share", True, (1, 2, 3)))["best"]
    pooled = np.sqrt(np.mean([np.var(row, ddof=1) for row in values.values()]))
    assert best["deviation_between_seeds"] == pytest.approx(pooled)
    assert best["standard_error"] == pytest.approx(0.001)
    # 0.92 against 0.91 and 0.85, with a standard deviation of a difference of 0.0211.
    assert pooled * np.sqrt(2 / 3) == pytest.approx(0.0211, abs=1e-4)
    assert best["cannot_be_told_from_it"] == ["trial-001"]


def test_the_table_has_the_best_first_and_says_what_may_be_believed(four):
    text = table(KEPT | outcome(*four, Judge("accuracy", "share", True)))
    lines = text.splitlines()
    assert lines[0].split() == ["trial", "learning-rate", "dev", "accuracy", "seconds", "state"]
    assert [line.split()[0] for line in lines[1:6]] == [f"trial-00{n}" for n in (1, 0, 2, 3, 4)]
    assert lines[5].endswith("failed: step 3: the loss is nan")
    assert "5 of 9 trials: 4 done, 1 failed" in text
    assert "the best of 4 on dev is optimistic" in text
    assert "dev's n is 500" in text
    assert "standard error of 0.0100" in text
    assert "not to be told from the best by this: trial-000, trial-002" in text
    assert "another seed may change the order" in text


def test_where_no_trial_is_done_there_is_no_best(tmp_path):
    found = outcome(tmp_path, [Trial(0, {"learning_rate": 1.0}, "running")], Judge("accuracy", "share", True))
    assert found["best"] is None
    assert "no trial is done yet" in table(KEPT | found)


def test_a_line_of_losses_that_a_kill_has_cut_is_not_counted(four):
    folder, trials = four
    with (folder / "trial-000" / "losses.jsonl").open("a") as lines:
        lines.write('{"step": 8, "sec')
    assert outcome(folder, trials, Judge("accuracy", "share", True))["trials"][0]["seconds"] == 2.0
