"""Two processes that hold the same weights: the steps, the curve and the answers of one; and when one of them dies."""

import json
import os
import signal
import time

import pytest

from heldout.runs import read_json
from heldout.train.optim import linear_schedule


@pytest.fixture(scope="module")
def two(ranks, words, tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    ranks.run([*words, "--out", folder / "run"], folder / "logs")
    return folder / "run"


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_two_processes_take_the_steps_of_one(one, two, losses):
    assert read_json(two / "environment.json")["processes"] == 2
    assert read_json(two / "ledger.json")["plan"] == read_json(one / "ledger.json")["plan"]
    assert len(losses(one)) == 48
    assert losses(two) == pytest.approx(losses(one), abs=1e-4)
    each = [[row["tokens"] for row in rows(run / "losses.jsonl")] for run in (one, two)]
    assert each[0] == each[1]


@pytest.mark.parametrize("processes", ["one", "two"])
def test_the_schedule_counts_optimizer_steps_whatever_the_processes(processes, request):
    # FAULTS T1: a scheduler stepped by every process ends at half of the training.
    run = request.getfixturevalue(processes)
    rate = linear_schedule(peak=1e-2, steps=48, warmup=0.1)
    assert [row["learning_rate"] for row in rows(run / "losses.jsonl")] == [rate(step) for step in range(48)]
    assert rate(47) < 0.03 * rate(5)


def test_two_processes_answer_each_of_an_odd_number_of_rows_once(one, two):
    # FAULTS E1, C6.
    ours, theirs = (rows(run / "predictions" / "odd.jsonl") for run in (one, two))
    assert [row["id"] for row in theirs] == [f"r{number}" for number in range(95)]
    assert [row["answer"] for row in theirs] == [row["answer"] for row in ours]
    assert [row["scores"] for row in theirs] == [pytest.approx(row["scores"], abs=1e-3) for row in ours]


def test_predict_answers_with_two_processes_as_with_one(ranks, words, one, tmp_path):
    source = words[words.index("--test") + 1].removeprefix("odd=")
    call = ["predict", one, "--precision", "fp32", "--allow-fitted-test", "--data"]
    ranks.run([*call, f"alone={source}"], tmp_path, processes=1)
    ranks.run([*call, f"both={source}"], tmp_path)
    alone, both = (rows(one / "predictions" / f"{name}.jsonl") for name in ("alone", "both"))
    assert [row["id"] for row in both] == [row["id"] for row in alone]
    assert len(both) == 95
    assert [row["scores"] for row in both] == [pytest.approx(row["scores"], abs=1e-5) for row in alone]
    # Only the first process speaks, and only it writes.
    assert "both" in ranks.said(0)
    assert ranks.said(1) == ""


def reached(run, steps):
    """Wait until a run has logged so many steps."""
    end = time.monotonic() + 60
    while not (run / "losses.jsonl").exists() or len((run / "losses.jsonl").read_text().splitlines()) < steps:
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize(("killed", "before", "after"), [(1, 2, 1), (0, 2, 3)])
def test_a_killed_process_ends_the_others_and_any_number_goes_on(
    ranks, words, one, losses, tmp_path, killed, before, after
):
    run = tmp_path / "run"
    pids = ranks.start([*words, "--out", run], tmp_path / "first", processes=before)
    reached(run, 14)
    os.kill(pids[killed], signal.SIGKILL)
    ends = ranks.ends()
    assert ends[killed] == "signal 9"
    # The launcher's signal may come before the process is through with its last line: then there is no more to read.
    assert ends[1 - killed] in ("exit 1", "signal 15")
    assert len(losses(run)) < 48
    if ends[1 - killed] == "exit 1":
        last = ranks.said(1 - killed).splitlines()[-1]
        # Or in the middle of something else: then it is all that is known.
        assert f"process {1 - killed} of 2: another one has died" in last or last.startswith("heldout: stopped; ")
        assert "continue with: heldout finetune" in last
        assert "--resume" in last
    ranks.run([*words, "--out", run, "--resume"], tmp_path / "second", processes=after)
    assert "resuming after step" in ranks.said(0)
    assert losses(run) == pytest.approx(losses(one), abs=1e-4)
    assert read_json(run / "run.json")["state"] == "done"


def test_what_one_process_began_two_go_on_with(ranks, words, one, losses, tmp_path):
    run = tmp_path / "run"
    (pid,) = ranks.start([*words, "--out", run], tmp_path / "first", processes=1)
    reached(run, 14)
    os.kill(pid, signal.SIGKILL)
    assert ranks.ends() == ["signal 9"]
    ranks.run([*words, "--out", run, "--resume"], tmp_path / "second")
    assert losses(run) == pytest.approx(losses(one), abs=1e-4)


def test_a_refusal_is_told_by_the_first_process_alone(ranks, words, one, tmp_path):
    ranks.start([*words, "--out", one], tmp_path)
    assert all(end != "exit 0" for end in ranks.ends())
    assert ranks.said(0).splitlines()[-1].startswith(f"heldout: {one}: holds a run already")
    assert "continue with" not in ranks.said(1)
