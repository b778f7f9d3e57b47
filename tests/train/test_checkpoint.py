"""Checkpoints among several processes: who removes, who keeps, and what must be in them."""

import shutil

import pytest
import torch
from torch import nn

from heldout.errors import Failed
from heldout.train import checkpoint, sharded


def model():
    """Three layers, the last of which has the first one's weight."""
    made = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2), nn.Linear(3, 3))
    made[2].weight = made[0].weight
    return made


def test_a_damaged_checkpoint_that_another_process_has_just_removed_is_passed_over(tmp_path, monkeypatch):
    for step in (1, 2):
        checkpoint.save(tmp_path, checkpoint.Tensors({}, {}), {"step": step})
    damaged = tmp_path / "checkpoints" / "step-2"
    (damaged / "model.safetensors").write_bytes(b"cut short")
    remove, calls = shutil.rmtree, []

    def second(path, **named):
        calls.append(path)
        remove(path)
        remove(path, **named)

    monkeypatch.setattr(checkpoint.shutil, "rmtree", second)
    assert checkpoint.latest(tmp_path)[0].name == "step-1"
    assert calls == [damaged]
    assert not damaged.exists()


def test_a_process_that_writes_nothing_asks_for_every_tensor_and_keeps_none(monkeypatch):
    trained = model()
    optimizer = torch.optim.AdamW(trained.parameters())
    for parameter in trained.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    asked = []
    monkeypatch.setattr(sharded, "whole", lambda tensor: asked.append(tensor.shape) or tensor)
    kept = checkpoint.gather(trained, optimizer)
    kept_by = list(asked)
    asked.clear()
    none = checkpoint.gather(trained, optimizer, keep=False)
    assert (none.model, none.optimizer) == ({}, {})
    # Five tensors, one weight counted once; of each the optimizer has a step and two moments.
    assert len(kept.model) == 5
    assert len(kept.optimizer) == 15
    assert asked == kept_by
    assert len(asked) == 20


def test_tensors_are_put_into_a_model_only_where_they_are_all_of_its_own():
    given, taken = model(), model()
    tensors = sharded.weights(given)
    sharded.put(taken, tensors)
    assert all(torch.equal(a, b) for a, b in zip(given.parameters(), taken.parameters(), strict=True))
    before = sharded.weights(model())
    with pytest.raises(Failed, match=r"the checkpoint lacks 1\.weight \(1 such names\)"):
        sharded.put(taken, {name: tensor for name, tensor in before.items() if name != "1.weight"})
    with pytest.raises(Failed, match=r"has, and the model does not, 7\.bias"):
        sharded.put(taken, before | {"7.bias": torch.ones(3)})
    assert all(torch.equal(a, b) for a, b in zip(given.parameters(), taken.parameters(), strict=True))
