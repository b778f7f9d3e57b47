"""Training in bf16 with every dropout on: what the fast paths of the CPU must not change."""

from functools import partial

import pytest
import torch
from accelerate import Accelerator
from torch import nn
from transformers import BertConfig, BertForSequenceClassification

from heldout.train import attention, checkpoint
from heldout.train.dropout import Dropout
from heldout.train.loop import Recipe, train
from heldout.train.losses import cross_entropy
from heldout.train.optim import make_optimizer
from heldout.train.plan import make_plan
from heldout.train.windows import Window, collate

ROWS = [
    Window(row, {"input_ids": [(3 * row + place) % 37 + 3 for place in range(4 + row * 7 % 40)]}, row % 2)
    for row in range(24)
]
PLAN = make_plan([len(row) for row in ROWS], batch_size=4, epochs=1, seed=1)
RECIPE = Recipe(
    windows=lambda step: [ROWS[row] for row in step.rows],
    collate=partial(collate, pad_id=0),
    loss=lambda outputs, targets, weights: cross_entropy(outputs.logits, targets, weights),
    rate=lambda step: 1e-3,
    seed=1,
    token_budget=64,
)


class Half(nn.Module):
    """A model under autocast, as accelerate runs it with --precision bf16 (which a process can choose but once)."""

    def __init__(self, dropout=0.1):
        super().__init__()
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=40,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
        )
        self.model = BertForSequenceClassification(config)

    def forward(self, **inputs):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.model(**inputs)


def made():
    model = Half()
    return model, make_optimizer(model, learning_rate=1e-3, weight_decay=0.01)


def trained(model, optimizer, steps):
    return list(train(model, optimizer, steps, RECIPE, Accelerator(cpu=True)))


def test_a_run_that_goes_on_from_a_checkpoint_ends_bit_for_bit_as_one_that_was_never_stopped(tmp_path):
    whole = made()
    trained(*whole, PLAN)
    half = made()
    trained(*half, PLAN[:3])
    path = checkpoint.save(tmp_path, checkpoint.gather(*half), {"step": 3})
    again = made()
    torch.rand(77)
    checkpoint.load(path, *again)
    trained(*again, PLAN[3:])
    compared = list(zip(whole[0].named_parameters(), again[0].parameters(), strict=True))
    assert len(PLAN) == 6
    assert len(compared) > 30
    for (name, wanted), found in compared:
        assert torch.equal(wanted, found), name


def test_the_loop_uses_the_fast_attention_and_the_fast_dropout():
    model, optimizer = made()
    trained(model, optimizer, PLAN[:1])
    assert model.model.config._attn_implementation == attention.NAME
    assert sum(type(module) is Dropout for module in model.modules()) == 8
    assert not any(type(module) is nn.Dropout for module in model.modules())


def test_the_losses_without_dropout_are_those_of_fp32():
    half, whole = Half(dropout=0.0), Half(dropout=0.0).model
    whole.set_attn_implementation("eager")
    found, wanted = (
        [done.loss for done in trained(model, make_optimizer(model, learning_rate=1e-3, weight_decay=0.01), PLAN)]
        for model in (half, whole)
    )
    assert len(found) == 6
    assert found == pytest.approx(wanted, abs=0.01)


def test_the_fused_optimizer_takes_the_steps_of_the_plain_one():
    torch.manual_seed(0)
    one, other = nn.Linear(7, 5), nn.Linear(7, 5)
    other.load_state_dict(one.state_dict())
    fused = make_optimizer(one, learning_rate=1e-2, weight_decay=0.1)
    groups = [{"params": [other.weight], "weight_decay": 0.1}, {"params": [other.bias], "weight_decay": 0.0}]
    plain = torch.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.999), eps=1e-8, foreach=False, fused=False)
    for _ in range(20):
        inputs = torch.randn(3, 7)
        for model, optimizer in ((one, fused), (other, plain)):
            optimizer.zero_grad()
            model(inputs).square().sum().backward()
            optimizer.step()
    assert torch.allclose(one.weight, other.weight, atol=1e-6)
    assert torch.allclose(one.bias, other.bias, atol=1e-6)
