import json
import sys
from dataclasses import replace

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from heldout.errors import Refused
from heldout.train.finetune import finetune
from heldout.train.options import FitOptions


def test_tensorboard_holds_every_loss_of_the_log_and_every_number_of_dev(job):
    finetune(replace(job, options=replace(job.options, track=("tensorboard",), epochs=2)))
    (folder,) = {path.parent for path in job.folder.glob("tracking/heldout/events*")}
    events = EventAccumulator(str(folder)).Reload()
    log = [json.loads(line) for line in (job.folder / "losses.jsonl").read_text().splitlines()]
    tracked = [(event.step, event.value) for event in events.Scalars("loss")]
    assert len(tracked) == 8
    assert tracked == [(row["step"] + 1, pytest.approx(row["loss"], rel=1e-6)) for row in log]
    (state,) = [json.loads(path.read_text()) for path in job.folder.glob("checkpoints/step-8/state.json")]
    dev = [(event.step, event.value) for event in events.Scalars("dev_accuracy")]
    assert dev == [(row["step"], pytest.approx(row["accuracy"])) for row in state["evaluations"]]
    assert [step for step, _ in dev] == [4, 8]


def test_a_run_without_trackers_writes_no_tracking(job):
    finetune(replace(job, options=replace(job.options, max_steps=1)))
    assert not (job.folder / "tracking").exists()


def test_a_tracker_that_is_unknown_or_not_installed_is_refused_before_any_work(monkeypatch):
    with pytest.raises(Refused, match=r"--track tensorbord: give one of tensorboard, wandb, mlflow"):
        FitOptions(model="M", track=("tensorbord",))
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(Refused, match="--track wandb: it is not installed; pip install wandb"):
        FitOptions(model="M", track=("wandb",))
