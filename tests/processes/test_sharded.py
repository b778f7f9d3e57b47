"""Weights spread over two processes (FSDP2, here on gloo): the curve of one, and files that one process reads."""

import json
import os
import random
import signal
import time
from types import SimpleNamespace

import pytest
from safetensors import safe_open

from heldout.errors import Refused
from heldout.runs import read_json
from heldout.train.sharded import check_sharding


@pytest.fixture(scope="module")
def run(ranks, words, sharding, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sharded")
    ranks.run([*words, "--out", folder / "run"], folder / "logs", **sharding)
    return folder / "run"


def scores(run, name="odd"):
    return [json.loads(line)["scores"] for line in (run / "predictions" / f"{name}.jsonl").read_text().splitlines()]


def shapes(path):
    with safe_open(path, "np") as file:
        return {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118


def test_sharded_weights_take_the_steps_of_one_process(run, one, losses):
    # The micro-batches of 48 tokens are not as many in one process as in the other: the passes are.
    assert read_json(run / "environment.json")["sharded"]
    assert not read_json(one / "environment.json")["sharded"]
    assert losses(run) == pytest.approx(losses(one), abs=1e-4)
    assert scores(run) == [pytest.approx(each, abs=1e-3) for each in scores(one)]
    assert len(scores(run)) == 95


def test_what_is_written_is_whole(run, one):
    for name in ("model/model.safetensors", "checkpoints/step-48/model.safetensors"):
        assert shapes(run / name) == shapes(one / name)
    name = "checkpoints/step-48/optimizer.safetensors"
    assert shapes(run / name) == shapes(one / name)
    assert read_json(run / "model" / "config.json")["architectures"] == ["BertForSequenceClassification"]


def reached(run, steps):
    end = time.monotonic() + 120
    while not (run / "losses.jsonl").exists() or len((run / "losses.jsonl").read_text().splitlines()) < steps:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_killed_shard_is_made_good_by_the_checkpoint_in_one_process_and_in_two(
    ranks, words, sharding, one, losses, tmp_path
):
    run = tmp_path / "run"
    call = [*words, "--out", run, "--resume"]
    pids = ranks.start(call, tmp_path / "first", **sharding)
    reached(run, 10)
    os.kill(pids[1], signal.SIGKILL)
    assert ranks.ends()[1] == "signal 9"
    (pid,) = ranks.start(call, tmp_path / "second", processes=1)
    reached(run, 24)
    os.kill(pid, signal.SIGKILL)
    assert ranks.ends() == ["signal 9"]
    assert "resuming after step" in ranks.said(0)
    ranks.run(call, tmp_path / "third", **sharding)
    assert "resuming after step" in ranks.said(0)
    assert losses(run) == pytest.approx(losses(one), abs=1e-4)


def test_sharding_that_would_read_the_model_in_one_process_is_refused(ranks, words, sharding, tmp_path):
    ranks.start([*words, "--out", tmp_path / "run"], tmp_path, **sharding | {"FSDP_CPU_RAM_EFFICIENT_LOADING": "true"})
    # The first to refuse ends the other, as under torchrun.
    assert "exit 2" in ranks.ends()
    assert "set it to false" in ranks.said(0) + ranks.said(1)


def test_fsdp_1_is_refused():
    # accelerate makes its plugin on GPUs alone.
    accelerator = SimpleNamespace(is_fsdp2=False, state=SimpleNamespace(fsdp_plugin=None))
    with pytest.raises(Refused, match="set fsdp_version: 2"):
        check_sharding(accelerator)


def test_pretraining_shards_a_model_whose_last_matrix_is_its_embeddings(ranks, sharding, still, losses, tmp_path):
    corpus = tmp_path / "corpus.txt"
    generator, known = random.Random(3), ["the", "film", "moving", "song", "dull", "plot", "never", "lovely", "but"]
    corpus.write_text("\n\n".join(" ".join(generator.choices(known, k=20)) for _ in range(40)) + "\n")
    call = ["pretrain", "--objective", "mlm", "--tokenizer", still, "--preset", "tiny", "--corpus", corpus]
    call += ["--max-length", "32", "--dropout", "0", "--precision", "fp32", "--max-steps", "4", "--batch-size", "7"]
    call += ["--held-out", "0.3", "--documents", "blank-line", "--token-budget", "64"]
    ranks.run([*call, "--out", tmp_path / "one"], tmp_path / "logs", processes=1)
    ranks.run([*call, "--out", tmp_path / "two"], tmp_path / "logs2", **sharding)
    assert len(losses(tmp_path / "two")) == 4
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=1e-4)
    names = ["model/model.safetensors", "checkpoints/step-4/model.safetensors"]
    for name in names:
        assert shapes(tmp_path / "two" / name) == shapes(tmp_path / "one" / name)
