"""The cost of a step, against a counted model and by its own limits."""

import doctest

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM

from heldout.train import cost
from heldout.train.cost import Machine, Model, step

BASE = Model(12, 768, 3072, 30522, chosen=0.15)
MACHINE = Machine(100e12, 0.5, 1e12, 10e9)


def test_the_example_is_what_it_says():
    assert doctest.testmod(cost).attempted == 3
    assert doctest.testmod(cost).failed == 0


def test_parameters_are_those_of_a_model_of_transformers():
    with torch.device("meta"):
        made = BertForMaskedLM(BertConfig())
    assert BASE.parameters == pytest.approx(sum(p.numel() for p in made.parameters()), rel=0.02)


def test_processes_share_the_multiplications_and_shards_the_state():
    alone, eight = (step(BASE, MACHINE, tokens=2**17, length=128, processes=n) for n in (1, 8))
    spread = step(BASE, MACHINE, tokens=2**17, length=128, processes=8, sharded=True)
    assert eight.compute == pytest.approx(alone.compute / 8)
    assert alone.exchange == 0
    assert eight.state == alone.state
    assert spread.state == pytest.approx(alone.state / 8)
    assert spread.seconds >= spread.compute


def test_what_the_backward_pass_hides_is_not_waited_for():
    slow = Machine(100e12, 0.5, 1e12, 1e9)
    fast, waiting = (step(BASE, each, tokens=2**17, length=128, processes=8) for each in (MACHINE, slow))
    assert fast.seconds == pytest.approx(fast.compute + fast.optimizer)
    assert waiting.seconds > waiting.compute + waiting.optimizer
