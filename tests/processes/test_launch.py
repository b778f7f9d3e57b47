"""The launch lines of recipes/accelerate/, as accelerate reads and starts them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heldout.runs import read_json

RECIPES = Path(__file__).parent.parent.parent / "recipes" / "accelerate"


def test_accelerate_launch_starts_two_processes_on_a_machine_without_a_gpu(words, one, losses, tmp_path):
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(RECIPES / "cpu2.yaml")]
    environment = {key: value for key, value in os.environ.items() if key != "ACCELERATE_USE_CPU"}
    done = subprocess.run(
        [*launch, "-m", "heldout", *words, "--out", str(tmp_path / "run")],
        capture_output=True,
        text=True,
        env=environment | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stderr.count("2 process(es) on cpu") == 1
    assert read_json(tmp_path / "run" / "environment.json")["processes"] == 2
    assert losses(tmp_path / "run") == pytest.approx(losses(one), abs=1e-4)
