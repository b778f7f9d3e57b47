"""kill -9 at any moment, and what --resume makes of it: the same steps, bit for bit the same weights."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

KILLS = 20


class Lives:
    """A process that runs commands one after another in children of its own, each of which may be killed."""

    def __init__(self, log: Path):
        self.log = log
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("lives.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"LIVES_LOG": str(log)},
        )

    def start(self, words: list[str]) -> int:
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def ended(self) -> str:
        return self.process.stdout.readline().strip()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(10)


@pytest.fixture(scope="module")
def lives(tmp_path_factory):
    lives = Lives(tmp_path_factory.mktemp("lives") / "log.txt")
    yield lives
    lives.close()


@pytest.fixture(scope="module")
def command(tiny_model, reviews_csv):
    """A fine-tuning of 120 steps that saves every second step, without baselines, on made-up reviews."""
    words = ["finetune", "sentiment", "--model", str(tiny_model), "--train", str(reviews_csv), "--dev-size", "20"]
    words += ["--test", f"again={reviews_csv}", "--allow-fitted-test", "--max-length", "24", "--batch-size", "8"]
    return [*words, "--epochs", "12", "--precision", "fp32", "--save-every", "2", "--baseline", "none"]


@pytest.fixture(scope="module")
def uninterrupted(lives, command, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "run"
    lives.start([*command, "--out", str(out)])
    assert lives.ended() == "exit 0", lives.log.read_text()
    return out


def steps(run: Path) -> list[dict]:
    rows = [json.loads(line) for line in (run / "losses.jsonl").read_text().splitlines()]
    return [{key: row[key] for key in ("step", "epoch", "loss", "tokens")} for row in rows]


def answers(run: Path) -> bytes:
    return (run / "predictions" / "again.jsonl").read_bytes()


def wait_until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
    return True


def checkpoints(run: Path) -> set[str]:
    try:
        return {path.name for path in (run / "checkpoints").iterdir()}
    except FileNotFoundError:
        return set()


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def being_written(run: Path) -> bool:
    return any(name.startswith(".step") for name in checkpoints(run))


def one_life(lives, words, run, generator, *, in_checkpoint):
    """Start (or resume) the run, kill it, and say whether that was while a checkpoint was being written."""
    pid = lives.start(words)
    kept = checkpoints(run)
    if in_checkpoint:
        hit = wait_until(lambda: being_written(run) or gone(pid))
        time.sleep(generator.random() * 0.002)
    else:
        # Let it come one checkpoint further than the last life did, then kill it anywhere in the next 60 ms.
        hit = wait_until(lambda: checkpoints(run) - kept or gone(pid))
        time.sleep(generator.random() * 0.06)
    os.kill(pid, signal.SIGKILL)
    ended = lives.ended()
    assert hit and ended == "signal 9", f"{ended}\n{lives.log.read_text()[-2000:]}"
    # The temporary folder is still there: nobody came to rename it.
    return being_written(run)


def test_killed_at_twenty_moments_a_run_ends_with_the_weights_of_an_uninterrupted_one(
    lives, command, uninterrupted, tmp_path
):
    generator = random.Random(20)
    run = tmp_path / "run"
    words = [*command, "--out", str(run), "--resume"]
    caught = [one_life(lives, words, run, generator, in_checkpoint=number % 2 == 0) for number in range(KILLS)]
    assert sum(caught) >= 5
    assert len(caught) == 20
    lives.start([*command, "--out", str(run), "--resume"])
    assert lives.ended() == "exit 0", lives.log.read_text()[-2000:]
    ours, whole = (load_file(folder / "model" / "model.safetensors") for folder in (run, uninterrupted))
    assert ours.keys() == whole.keys()
    assert all(torch.equal(ours[name], whole[name]) for name in whole)
    assert steps(run) == steps(uninterrupted)
    assert (run / "predictions" / "again.jsonl").read_bytes() == (
        uninterrupted / "predictions/again.jsonl"
    ).read_bytes()
    assert json.loads((run / "run.json").read_text())["state"] == "done"
    assert not [name for name in checkpoints(run) if name.startswith(".")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_polite_signal_checkpoints_and_says_how_to_resume(lives, command, uninterrupted, tmp_path, number):
    run = tmp_path / "run"
    before = len(lives.log.read_text())
    pid = lives.start([*command, "--out", str(run), "--save-every", "1000", "--eval-every", "1000"])
    assert wait_until(lambda: (run / "losses.jsonl").exists() and len(steps(run)) > 3)
    os.kill(pid, number)
    assert lives.ended() == "exit 1"
    said = lives.log.read_text()[before:]
    assert f"{number.name}: stopping after this step" in said
    assert "stopped by a signal after step" in said.splitlines()[-1]
    assert "--resume" in said.splitlines()[-1]
    assert len(checkpoints(run)) == 1
    lives.start([*command, "--out", str(run), "--save-every", "1000", "--eval-every", "1000", "--resume"])
    assert lives.ended() == "exit 0"
    assert steps(run) == steps(uninterrupted)


def test_a_second_writer_is_refused_while_the_first_one_lives(lives, command, tmp_path):
    run = tmp_path / "run"
    pid = lives.start([*command, "--out", str(run)])
    assert wait_until(lambda: (run / "losses.jsonl").exists())
    os.kill(pid, signal.SIGSTOP)
    second = subprocess.run(
        [sys.executable, "-m", "heldout", *command, "--out", str(run), "--resume"], capture_output=True, text=True
    )
    os.kill(pid, signal.SIGKILL)
    lives.ended()
    assert second.returncode == 2
    assert f"process {pid} is writing here" in second.stderr
