from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention
from transformers import BertConfig, BertForSequenceClassification

from heldout.train import attention

MODULE = SimpleNamespace(is_causal=False)


def drawn(rows, heads, longest, width, seed=0):
    generator = torch.Generator().manual_seed(seed)
    made = (torch.randn(rows, longest, heads, width, generator=generator).bfloat16() for _ in range(4))
    *inputs, gradient = (tensor.transpose(1, 2) for tensor in made)
    return [tensor.requires_grad_() for tensor in inputs], gradient


def lengths_mask(rows, longest, seed=0):
    lengths = torch.randint(1, longest + 1, (rows,), generator=torch.Generator().manual_seed(seed))
    return (torch.arange(longest) < lengths[:, None])[:, None, None, :]


def distance(found, wanted):
    found, wanted = found.detach().float(), wanted.detach()
    return float((found - wanted).norm() / wanted.norm().clamp(min=1e-6))


@settings(deadline=None, max_examples=40)
@given(
    rows=st.integers(1, 6),
    heads=st.integers(1, 3),
    longest=st.sampled_from([1, 2, 7, 31, 32, 33, 64, 90]),
    mask=st.sampled_from(["none", "keys", "pairs"]),
    seed=st.integers(0, 99),
)
def test_outputs_and_gradients_are_those_of_torch_in_fp32(rows, heads, longest, mask, seed):
    inputs, gradient = drawn(rows, heads, longest, 8, seed)
    looked = None if mask == "none" else lengths_mask(rows, longest, seed)
    if mask == "pairs":
        looked = looked.expand(rows, 1, longest, longest) | torch.eye(longest, dtype=torch.bool)
    found, weights = attention.attend(MODULE, *inputs, looked, scaling=0.4)
    found.backward(gradient.transpose(1, 2))
    exact = [tensor.detach().float().requires_grad_() for tensor in inputs]
    wanted = scaled_dot_product_attention(*exact, attn_mask=looked, scale=0.4)
    wanted.backward(gradient.float())
    assert weights is None
    assert distance(found, wanted.transpose(1, 2)) < 0.01
    scale = max(float(tensor.grad.norm()) for tensor in exact)
    for ours, theirs in zip(inputs, exact, strict=True):
        # Of a query with one key its gradient is zero and ours an error of rounding: the largest is the unit.
        assert float((ours.grad.float() - theirs.grad).norm()) < 0.015 * scale


def test_the_parts_that_are_worked_on_at_a_time_change_nothing(monkeypatch):
    results = []
    for at_a_time in (1, 10**9):
        monkeypatch.setattr(attention, "AT_A_TIME", at_a_time)
        inputs, gradient = drawn(5, 2, 40, 8)
        found, _ = attention.attend(MODULE, *inputs, lengths_mask(5, 40))
        found.backward(gradient.transpose(1, 2))
        results.append([found, *(tensor.grad for tensor in inputs)])
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


@pytest.mark.parametrize("dropout", [0.99998, 0.99999])
def test_a_dropout_that_leaves_nothing_as_it_is_rounded_is_no_division_by_zero(dropout):
    inputs, gradient = drawn(2, 2, 8, 8)
    found, _ = attention.attend(MODULE, *inputs, None, dropout=dropout)
    found.backward(gradient.transpose(1, 2))
    assert found.isfinite().all()
    assert inputs[2].grad.isfinite().all()


def test_dropout_is_that_of_the_probabilities():
    # Values that are the unit matrix show the probabilities themselves.
    rows, heads, longest = 4, 2, 64
    (query, key, _), _ = drawn(rows, heads, longest, longest)
    value = torch.eye(longest).bfloat16().expand(rows, heads, longest, longest)
    torch.manual_seed(3)
    dropped, _ = attention.attend(MODULE, query, key, value, None, dropout=0.25)
    plain, _ = attention.attend(MODULE, query, key, value, None)
    gone = dropped == 0
    # 32,768 draws: the share's standard error is 0.24%.
    assert float(gone.float().mean()) == pytest.approx(0.25, abs=0.012)
    kept = (dropped / plain.clamp(min=1e-30))[~gone & (plain > 1e-6)]
    assert len(kept) > 10_000
    assert torch.allclose(kept.float(), torch.tensor(1 / 0.75), rtol=0.02)
    torch.manual_seed(3)
    again, _ = attention.attend(MODULE, query, key, value, None, dropout=0.25)
    assert torch.equal(again, dropped)


@pytest.mark.parametrize("longest", [9, 48])
def test_gradients_under_dropout_are_those_of_the_same_mask(longest):
    rows, heads = 3, 2
    (query, key, _), _ = drawn(rows, heads, longest, longest)
    unit = torch.eye(longest).bfloat16().expand(rows, heads, longest, longest)
    looked = lengths_mask(rows, longest)
    torch.manual_seed(5)
    shown, _ = attention.attend(MODULE, query, key, unit, looked, dropout=0.5)
    mask = (shown != 0).transpose(1, 2)
    inputs, gradient = drawn(rows, heads, longest, longest, seed=1)
    inputs = [query.detach().requires_grad_(), key.detach().requires_grad_(), inputs[2]]
    torch.manual_seed(5)
    found, _ = attention.attend(MODULE, *inputs, looked, dropout=0.5)
    found.backward(gradient.transpose(1, 2))
    q, k, v = exact = [tensor.detach().float().requires_grad_() for tensor in inputs]
    scores = (q @ k.transpose(2, 3) * longest**-0.5).masked_fill(~looked, -torch.inf)
    wanted = (scores.softmax(-1) * mask * 2) @ v
    wanted.backward(gradient.float())
    assert distance(found, wanted.transpose(1, 2)) < 0.015
    for ours, theirs in zip(inputs, exact, strict=True):
        assert distance(ours.grad, theirs.grad) < 0.02


def bert(**changes):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, **changes
    )
    return BertForSequenceClassification(config).eval()


def test_a_model_that_uses_it_answers_in_fp32_as_it_did_and_is_saved_without_it(tmp_path):
    model = bert()
    ids = torch.randint(5, 40, (3, 12))
    mask = lengths_mask(3, 12)[:, 0, 0].long()
    with torch.no_grad():
        before = model(ids, attention_mask=mask).logits
        attention.use(torch.nn.ModuleList([model]))
        assert torch.equal(model(ids, attention_mask=mask).logits, before)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.allclose(model(ids, attention_mask=mask).logits.float(), before, atol=0.02)
    assert model.config._attn_implementation == attention.NAME
    model.save_pretrained(tmp_path)
    assert attention.NAME not in (tmp_path / "config.json").read_text()


def test_under_autocast_it_is_really_used(monkeypatch):
    model, ids, asked = bert(), torch.randint(5, 40, (3, 12)), []
    attention.use(model)
    real = attention._Attention.apply
    monkeypatch.setattr(attention._Attention, "apply", lambda *given: asked.append(1) or real(*given))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        model(ids)
    assert len(asked) == 2


def test_a_causal_model_without_a_mask_is_left_to_torch():
    inputs, _ = drawn(2, 2, 8, 8)
    found, _ = attention.attend(SimpleNamespace(is_causal=True), *inputs, None)
    wanted = scaled_dot_product_attention(*inputs, is_causal=True)
    assert torch.equal(found, wanted.transpose(1, 2))
