"""kill -9 during pretraining, and what --resume makes of it: the same batches, masks and, bit for bit, weights."""

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

LIVES = Path(__file__).parent.parent / "train" / "lives.py"
KILLS = 6


@pytest.fixture
def lives(tmp_path):
    """A process that has imported torch and runs commands in forks of its own; its log is log.txt."""
    process = subprocess.Popen(
        [sys.executable, str(LIVES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"LIVES_LOG": str(tmp_path / "log.txt"), "OMP_NUM_THREADS": "1"},
    )
    yield process
    process.stdin.close()
    process.stdout.close()
    process.wait(10)


def lived(lives, words, kill_when=None, wait=0.0):
    """Run a command; kill it so many seconds after the condition holds. How it ended: "exit 0", "signal 9"."""
    lives.stdin.write(json.dumps(words) + "\n")
    lives.stdin.flush()
    pid = int(lives.stdout.readline())
    if kill_when:
        end = time.monotonic() + 60
        while not kill_when() and time.monotonic() < end:
            time.sleep(0.002)
        time.sleep(wait)
        os.kill(pid, signal.SIGKILL)
    return lives.stdout.readline().strip()


def losses(run):
    rows = [json.loads(line) for line in (run / "losses.jsonl").read_text().splitlines()]
    return [{key: row[key] for key in ("step", "loss", "tokens")} for row in rows]


def test_a_pretraining_killed_at_random_moments_ends_with_the_weights_of_an_uninterrupted_one(
    lives, stories_file, tokenizer_folder, tmp_path
):
    words = ["pretrain", "--objective", "mlm-nsp", "--corpus", str(stories_file), "--tokenizer", str(tokenizer_folder)]
    words += ["--preset", "tiny", "--max-length", "32", "--batch-size", "8", "--epochs", "4", "--held-out", "0.4"]
    words += ["--precision", "fp32", "--save-every", "2", "--eval-every", "10", "--sentences", "plain", "--out"]
    log, whole, run = tmp_path / "log.txt", tmp_path / "whole", tmp_path / "run"
    assert lived(lives, [*words, str(whole)]) == "exit 0", log.read_text()
    generator = random.Random(3)
    for number in range(KILLS):
        kept = set(run.glob("checkpoints/step-*"))

        def further(kept=kept):
            return bool(set(run.glob("checkpoints/step-*")) - kept)

        # The first life is killed when it has just begun, the others up to 50 ms after a new checkpoint.
        wait = generator.random() * 0.05
        ended = lived(lives, [*words, str(run), "--resume"], further if number else run.exists, wait)
        assert ended == "signal 9", log.read_text()
    assert 0 < len(losses(run)) < len(losses(whole))
    assert lived(lives, [*words, str(run), "--resume"]) == "exit 0", log.read_text()
    assert len(losses(whole)) > 20
    assert losses(run) == losses(whole)
    ours, theirs = (load_file(folder / "model" / "model.safetensors") for folder in (run, whole))
    assert len(ours) > 20
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    for name in ("dev", "test"):
        files = [(folder / "predictions" / f"{name}.jsonl").read_bytes() for folder in (run, whole)]
        assert files[0] == files[1]
