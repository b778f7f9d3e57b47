"""The launch lines of recipes/accelerate/, as accelerate reads and starts them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from accelerate.utils import FullyShardedDataParallelPlugin, patch_environment

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


@pytest.mark.parametrize(("name", "machines", "processes"), [("fsdp2-8gpu.yaml", 1, 8), ("fsdp2-4x8.yaml", 4, 32)])
def test_the_sharding_recipes_are_what_accelerate_reads(launched, name, machines, processes):
    call, environment = launched(name)
    assert (call.num_machines, call.num_processes) == (machines, processes)
    assert call.use_fsdp
    with patch_environment(**environment):
        plugin = FullyShardedDataParallelPlugin()
    assert plugin.fsdp_version == 2
    assert not plugin.cpu_ram_efficient_loading
    assert plugin.reshard_after_forward


def test_a_machine_of_four_is_told_its_number_and_the_first_ones_address(launched):
    call, _ = launched("fsdp2-4x8.yaml", "--machine_rank", "2", "--main_process_ip", "10.0.0.5")
    assert (call.node_rank, call.nproc_per_node, call.nnodes) == (2, "8", "4")
    assert call.rdzv_endpoint == "10.0.0.5:29500"


@pytest.mark.parametrize(("name", "processes"), [("cpu2.yaml", 2), ("ddp-8gpu.yaml", 8)])
def test_the_data_parallel_recipes_start_processes_without_sharding(launched, name, processes):
    call, environment = launched(name)
    assert call.multi_gpu
    assert call.num_processes == processes
    assert "ACCELERATE_USE_FSDP" not in environment
