"""Counted operations against torch's own counter, which watches every multiplication."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)

from heldout.bench.flops import TRAINING, costs

HEADS = (AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoModelForQuestionAnswering)


def counted(model, lengths, *, backward=False):
    total = 0
    for length in lengths:
        ids = torch.full((1, length), 5)
        with FlopCounterMode(display=False) as counter:
            outputs = model(input_ids=ids, attention_mask=torch.ones_like(ids))
            if backward:
                sum(value.sum() for value in outputs.values()).backward()
        total += counter.get_total_flops()
    return total


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.__name__)
def test_a_forward_pass_takes_as_many_operations_as_torch_counts(tiny_model, head):
    # Eager attention multiplies through mm and bmm, which the counter knows; its formula for sdpa is the same.
    model = head.from_pretrained(tiny_model, attn_implementation="eager").eval()
    lengths = [3, 17, 64]
    assert costs(model).forward(lengths) == counted(model, lengths)


def test_a_language_model_is_asked_at_some_positions_only(tiny_model):
    model = AutoModelForMaskedLM.from_pretrained(tiny_model, attn_implementation="eager").eval()
    found = costs(model)
    assert found.forward([17, 30], chosen=47) == counted(model, [17, 30])
    weights = model.get_output_embeddings().weight.numel()
    assert found.forward([17], chosen=5) == found.forward([17], chosen=0) + 5 * 2 * weights > 10 * weights


def test_training_takes_three_times_as_many(tiny_model):
    model = AutoModelForTokenClassification.from_pretrained(tiny_model, attn_implementation="eager").eval()
    found = counted(model, [40], backward=True)
    assert TRAINING * costs(model).forward([40]) == found


def test_padding_is_not_counted():
    from heldout.bench.flops import Costs

    assert Costs(token=10, pair=2, row=1).forward([3, 5]) == 10 * 8 + 2 * (9 + 25) + 2
