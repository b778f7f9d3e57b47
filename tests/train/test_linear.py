import pytest
import torch
from accelerate import Accelerator
from torch import nn
from transformers import BertConfig, BertForSequenceClassification

from heldout.train.linear import laid_out
from heldout.train.precision import resolve
from heldout.train.predict import predict
from heldout.train.windows import Window

pytestmark = pytest.mark.skipif(resolve("auto")[0] != "bf16", reason="this CPU multiplies no bf16")


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.inner = nn.Sequential(nn.Linear(24, 40), nn.GELU(), nn.Linear(40, 5, bias=False))

    def forward(self, given):
        return self.inner(given)


def under_autocast(model, given):
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        return model(given)


@pytest.mark.parametrize("shape", [(1, 24), (7, 24), (3, 5, 24)])
def test_the_numbers_are_those_of_autocast(shape):
    model, given = Two(), torch.randn(shape)
    wanted = under_autocast(model, given)
    with laid_out(model):
        found = under_autocast(model, given)
    assert found.dtype == wanted.dtype == torch.bfloat16
    # Sums may be taken in another order: one place of bf16's eight bits.
    assert torch.allclose(found.float(), wanted.float(), rtol=2**-7, atol=2**-9)


def test_without_autocast_the_numbers_are_those_of_fp32():
    model, given = Two(), torch.randn(7, 24)
    with laid_out(model), torch.inference_mode():
        assert "forward" in vars(model.inner[0])
        found = model(given)
    assert torch.equal(found, model(given))


def test_it_is_over_at_the_end_even_where_an_answer_fails():
    model = Two()
    with pytest.raises(RuntimeError), laid_out(model):
        assert "forward" in vars(model.inner[0])
        under_autocast(model, torch.randn(2, 9))
    assert not any("forward" in vars(module) for module in model.modules())
    assert model(torch.randn(2, 24)).requires_grad


def test_weights_that_were_trained_meanwhile_are_seen():
    model, given = Two(), torch.randn(4, 24)
    answers = []
    for _ in range(2):
        with laid_out(model):
            answers.append(under_autocast(model, given))
        with torch.no_grad():
            model.inner[0].weight.mul_(2)
    assert not torch.allclose(*answers, rtol=0.1)


def test_a_linear_that_somebody_else_has_changed_stays_as_it_is():
    model = Two()
    model.inner[0].forward = lambda given: torch.zeros(len(given), 40)
    with laid_out(model):
        assert not under_autocast(model, torch.randn(2, 24)).any()
    assert "forward" in vars(model.inner[0])


@pytest.mark.parametrize("precision", ["bf16", "no"])
def test_answers_in_bf16_are_given_with_matrices_laid_out_and_no_others(monkeypatch, precision):
    # A process can choose its precision but once.
    monkeypatch.setattr(Accelerator, "mixed_precision", property(lambda self: precision))
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    model = BertForSequenceClassification(BertConfig(vocab_size=9, **sizes))
    seen = []
    model.classifier.register_forward_pre_hook(lambda module, given: seen.append("forward" in vars(module)))
    predict(model, [Window(0, {"input_ids": [2, 5, 3]})], Accelerator(cpu=True), pad_id=0)
    assert seen == [precision == "bf16"]
    assert "forward" not in vars(model.classifier)
