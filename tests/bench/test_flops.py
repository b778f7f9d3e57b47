"""Counted operations against torch's own counter, which watches every multiplication."""

from dataclasses import asdict

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)
from transformers.models.bert.modeling_bert import eager_attention_forward

from heldout.bench.flops import TRAINING, costs, done, part_done
from heldout.train import attention
from heldout.train.first_token import alone

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


def test_what_is_done_is_less_where_the_last_layer_is_for_the_first_token_alone(tiny_model, monkeypatch):
    model = AutoModelForSequenceClassification.from_pretrained(tiny_model).eval()
    attention.use(model)
    # Torch's counter knows bmm, and no scaled_dot_product_attention of a CPU.
    monkeypatch.setattr(attention, "sdpa_attention_forward", eager_attention_forward)
    lengths = [3, 17, 64]
    with alone(model):
        found = counted(model, lengths)
    assert done(model).forward(lengths) == found < 0.9 * costs(model).forward(lengths)
    facts = {"costs": asdict(costs(model)), "done": asdict(done(model))}
    assert part_done(facts, lengths) == pytest.approx(found / costs(model).forward(lengths))
    assert part_done({"costs": facts["costs"]}, lengths) == part_done({}, lengths) == 1
    other = AutoModelForTokenClassification.from_pretrained(tiny_model).eval()
    assert done(other) == costs(other)


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
