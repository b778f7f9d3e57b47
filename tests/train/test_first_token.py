"""A classifier's last layer, worked out for its first token alone, answers and learns as it did."""

import pytest
import torch
from accelerate import Accelerator
from torch import nn
from transformers import CONFIG_MAPPING, AutoModelForSequenceClassification, AutoModelForTokenClassification

from heldout.train import attention
from heldout.train.first_token import PLACES, alone, left_out
from heldout.train.loop import Recipe, train
from heldout.train.plan import Step
from heldout.train.predict import predict
from heldout.train.windows import Window, collate

SIZES = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 24}
#: What other architectures call those.
OTHERS = {
    "distilbert": {"vocab_size": 40, "dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 24},
    "deberta-v2": SIZES | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8},
}
IDS = torch.tensor([[2, 7, 9, 11, 3], [2, 30, 3, 1, 1]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])


def tiny(kind, head=AutoModelForSequenceClassification, **more):
    torch.manual_seed(5)
    config = CONFIG_MAPPING[kind](**OTHERS.get(kind, SIZES), **more, num_labels=3, pad_token_id=1)
    for name in vars(config):
        if "dropout" in name:
            setattr(config, name, 0.0)
    return head.from_config(config)


def answered(model):
    """The logits, and the gradient of every weight after a loss of them."""
    model.zero_grad()
    logits = model(input_ids=IDS, attention_mask=MASK).logits
    nn.functional.cross_entropy(logits, torch.tensor([2, 0])).backward()
    return logits.detach(), {name: weight.grad for name, weight in model.named_parameters()}


def tokens_given(model):
    """How many tokens a row each matrix was given."""
    found = {}
    hooks = [
        module.register_forward_hook(lambda module, given, made, name=name: found.update({name: given[0].shape[1]}))
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear)
    ]
    model(input_ids=IDS, attention_mask=MASK)
    for hook in hooks:
        hook.remove()
    return found


@pytest.mark.parametrize("fast", [False, True], ids=["attention of torch", "attention of ours"])
@pytest.mark.parametrize("kind", PLACES)
def test_logits_and_all_gradients_are_the_same(kind, fast):
    model = tiny(kind)
    logits, gradients = answered(model)
    if fast:
        attention.use(model)
    with alone(model):
        found, also = answered(model)
    assert torch.allclose(found, logits, atol=1e-6)
    for name, gradient in gradients.items():
        assert (gradient is None) == (also[name] is None)
        assert gradient is None or torch.allclose(also[name], gradient, atol=1e-6), name


def test_in_bf16_they_are_as_near_to_those_of_fp32_as_without():
    model = tiny("bert")
    wanted, _ = answered(model)
    attention.use(model)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        without, _ = answered(model)
        with alone(model):
            found, _ = answered(model)
    assert (found - wanted).abs().max() < 2 * (without - wanted).abs().max() + 2**-9


@pytest.mark.parametrize("kind", [kind for kind, place in PLACES.items() if place.asked])
def test_the_last_attention_is_asked_for_the_first_token_alone(kind, monkeypatch):
    model = tiny(kind)
    attention.use(model)
    asked = []
    torchs = attention.sdpa_attention_forward

    def noted(module, query, *others, **more):
        asked.append(query.shape[2])
        return torchs(module, query, *others, **more)

    monkeypatch.setattr(attention, "sdpa_attention_forward", noted)
    with alone(model), alone(model):
        pass
    model(input_ids=IDS, attention_mask=MASK)
    with alone(model):
        with alone(model):
            pass
        model(input_ids=IDS, attention_mask=MASK)
    assert asked == [5, 5, 5, 5, 5, 1]


@pytest.mark.parametrize("kind", PLACES)
def test_the_last_feed_forward_sees_one_token_a_row_and_only_within(kind):
    model = tiny(kind)
    before = tokens_given(model)
    with alone(model):
        within = tokens_given(model)
    fewer = {name for name, tokens in before.items() if within[name] < tokens}
    assert len(fewer) == (2 if kind in ("distilbert", "mpnet") else 3)
    assert all(".2." in name and within[name] == 1 for name in fewer)
    assert {model.get_submodule(name) for name in fewer} == set(left_out(model))
    assert tokens_given(model) == before


def test_whoever_reads_other_tokens_gets_them_all():
    class Other(type(tiny("bert"))):
        pass

    for model in (tiny("bert", AutoModelForTokenClassification), nn.Sequential(tiny("bert")), tiny("albert")):
        with alone(model):
            assert not any(module._forward_pre_hooks for module in model.modules())
    bert = tiny("bert")
    bert.__class__ = Other
    with alone(bert):
        assert not any(module._forward_pre_hooks for module in bert.modules())
    assert model.config.model_type == "albert"


def test_layers_that_are_cut_into_chunks_stay_as_they_are():
    model = tiny("bert", chunk_size_feed_forward=5)
    with alone(model):
        assert set(tokens_given(model).values()) >= {5}


def counted(model):
    """The tokens that the last layer's feed-forward was given, call by call."""
    seen = []
    layer = model.bert.encoder.layer[-1].intermediate.dense
    layer.register_forward_pre_hook(lambda module, given: seen.append(given[0].shape[1]))
    return seen


WINDOWS = [Window(0, {"input_ids": [2, 7, 9, 3]}, 1), Window(1, {"input_ids": [2, 8, 3]}, 0)]


def test_answers_are_given_so():
    model = tiny("bert")
    wanted = [model(input_ids=torch.tensor([window.inputs["input_ids"]])).logits[0] for window in WINDOWS]
    seen = counted(model)
    found = predict(model, WINDOWS, Accelerator(cpu=True), pad_id=1)
    assert set(seen) == {1}
    for one, other in zip(found, wanted, strict=True):
        assert one == pytest.approx(other.detach().numpy(), abs=0.02)


def test_training_goes_so():
    model = tiny("bert")
    seen = counted(model)
    recipe = Recipe(
        windows=lambda step: WINDOWS,
        collate=lambda windows: collate(windows, 1),
        loss=lambda outputs, targets, weights: outputs.logits.sum(),
        rate=lambda step: 0.0,
        seed=1,
    )
    steps = train(model, torch.optim.SGD(model.parameters(), 0.0), [Step(0, 0, (0, 1))], recipe, Accelerator(cpu=True))
    assert len(list(steps)) == 1
    assert set(seen) == {1}
    assert not model.bert.encoder.layer[-1].attention.output._forward_pre_hooks
