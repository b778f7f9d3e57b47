"""Attention in bf16 on a CPU: scores by matrix products, softmax, and a gradient by hand, a few rows at a time.

Torch's scaled_dot_product_attention is slow there in both ways that training needs. Its gradient runs at a tenth of the
matrix peak, and dropout takes it off its fast path altogether. Milliseconds of CPU time, one core (avx512_bf16), 12
heads of 32, forward + backward:

    (rows, longest)                   (16, 256)     (32, 128)    (128, 32)
    torch, no dropout                  31 +  99      20 + 121      9 + 102
    here, no dropout                   28 +  33      18 +  20      7 +   8
    torch, dropout 0.1                236 + 153     100 +  63     31 +  20
    here, dropout 0.1                  46 +  42      29 +  24     10 +  12

Scores and probabilities are bf16, as in transformers' own eager attention under autocast: the relative error of outputs
and gradients against fp32 is 0.4%, of torch's 0.2%. Anything but bf16 on a CPU goes to torch as before.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from heldout.train.dropout import STEPS, kept

NAME = "heldout"
#: Scores that are worked on at a time: with their neighbours they stay in a core's second cache.
AT_A_TIME = 400_000
#: Softmax takes 4 to 6.5 ns a score in rows of less than 32 (one register of bf16), then 1.5 and soon 0.9.
NARROWEST = 32
#: The attribute of a layer's attention whose answer to the first token is the only one that is read (first_token.py).
FIRST_ALONE = "first_alone"


def use(model: nn.Module) -> None:
    """Let every model of transformers in ``model`` that attends by torch's function do so by this one."""
    for module in model.modules():
        if isinstance(module, PreTrainedModel) and module.config._attn_implementation == "sdpa":
            module.set_attn_implementation(NAME)


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """What transformers asks of an attention: all (rows, heads, longest, width) in, (rows, longest, heads, width) out.

    ``attention_mask`` is bool, (rows, 1, longest or 1, longest), True where a query may look; None for everywhere.
    """
    if getattr(module, FIRST_ALONE, False):
        mask = None if attention_mask is None else attention_mask[:, :, :1]
        first = query[:, :, :1]
        answer, _ = sdpa_attention_forward(module, first, key, value, mask, dropout=dropout, scaling=scaling, **others)
        return answer.expand(-1, query.shape[2], -1, -1), None
    # A dropout that rounds to all of them is torch's, as in dropout.py.
    few = round(dropout * STEPS) < STEPS
    if not (few and _ours(query, key, value, attention_mask, getattr(module, "is_causal", False), others)):
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **others
        )
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    with torch.autocast("cpu", enabled=False):
        found: Tensor = _Attention.apply(query, key, value, attention_mask, dropout, scale)  # type: ignore[no-untyped-call]
    return found.transpose(1, 2).contiguous(), None


def _ours(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, others: dict[str, Any]) -> bool:
    plain = query.device.type == "cpu" and query.dtype == key.dtype == value.dtype == torch.bfloat16
    same = query.shape == key.shape == value.shape
    # Without a mask a causal model asks for the triangle by a flag.
    free = not (mask is None and (others.get("is_causal") or causal)) and (mask is None or mask.dtype == torch.bool)
    return plain and same and free and others.get("position_bias") is None and others.get("softcap") is None


class _Attention(torch.autograd.Function):
    """softmax(scale·QKᵀ + mask)·V with dropout on the probabilities.

    A probability is never negative, so its sign is free to say whether it is kept: negative is kept. Then −P of those
    kept is one clamp, and P itself the absolute value.
    """

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float, scale: float
    ) -> Tensor:
        """(rows, heads, longest, width), as are the three; ``mask`` is that of ``attend``."""
        rows, heads, longest, _ = query.shape
        wide = max(longest, NARROWEST)
        q, k, v = _copied(query, longest).mul_(scale), _copied(key, wide), _copied(value, wide)
        bias = _bias(mask, longest, wide)
        threshold = round(dropout * STEPS)
        probabilities = torch.empty(rows * heads, longest, wide, dtype=q.dtype)
        out = torch.empty_like(q)
        for some, part in _parts(rows, heads, longest * wide):
            scores = torch.bmm(q[part], k[part].transpose(1, 2))
            if bias is not None:
                scores.view(-1, heads, longest, wide).add_(bias if len(bias) == 1 else bias[some])
            p = torch.softmax(scores, -1, out=probabilities[part])
            torch.bmm(_dropped(p, threshold) if threshold else p, v[part], out=out[part])
        # Minus, because those kept are (see above).
        ctx.factor = -1 / (1 - threshold / STEPS) if threshold else 1.0
        ctx.save_for_backward(q, k, v, probabilities, out)
        ctx.shape, ctx.scale = query.shape, scale
        return (out * ctx.factor if threshold else out).view(query.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """The gradients of query, key and value."""
        q, k, v, probabilities, out = ctx.saved_tensors
        rows, heads, longest, width = ctx.shape
        g = _copied(gradient, longest).mul_(ctx.factor)
        dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(k)
        for _, part in _parts(rows, heads, probabilities[0].numel()):
            p, slope = probabilities[part], torch.bmm(g[part], v[part].transpose(1, 2))
            if ctx.factor == 1:
                torch.bmm(p.transpose(1, 2), g[part], out=dv[part])
                slope = torch._softmax_backward_data(slope, p, -1, p.dtype)
            else:
                minus = p.clamp(max=0)
                torch.bmm(minus.transpose(1, 2), g[part], out=dv[part])
                # The sum over a query's probabilities is its gradient · output (Dao et al. 2022, appendix B.4).
                mean = (g[part] * out[part]).sum(-1, keepdim=True)
                slope.mul_(minus).addcmul_(p.abs(), mean, value=-1)
            torch.bmm(slope, k[part], out=dq[part])
            torch.bmm(slope.transpose(1, 2), q[part], out=dk[part])
        found = (each.view(rows, heads, -1, width)[:, :, :longest] for each in (dq.mul_(ctx.scale), dk, dv))
        return *found, None, None, None


def _copied(tensor: Tensor, longest: int) -> Tensor:
    """(rows, heads, …, width) as (rows·heads, longest, width) in one piece, zeros where there was nothing."""
    rows, heads, given, width = tensor.shape
    made = tensor.new_zeros if longest > given else tensor.new_empty
    copy = made(rows, heads, longest, width)
    copy[:, :, :given] = tensor
    return copy.view(rows * heads, longest, width)


def _bias(mask: Tensor | None, longest: int, wide: int) -> Tensor | None:
    """What is added to the scores: −inf where a query must not look; None where it may look everywhere."""
    if mask is None and wide == longest:
        return None
    bias = torch.full((1, 1, 1, wide) if mask is None else (*mask.shape[:3], wide), -torch.inf, dtype=torch.bfloat16)
    bias[..., :longest].masked_fill_(torch.ones(()).bool() if mask is None else mask, 0.0)
    return bias


def _parts(rows: int, heads: int, scores: int) -> list[tuple[slice, slice]]:
    """Some rows at a time, and the places of their heads: a function of the shape alone, as is what dropout draws."""
    step = max(AT_A_TIME // (heads * scores), 1)
    bounds = [(row, min(row + step, rows)) for row in range(0, rows, step)]
    return [(slice(a, b), slice(a * heads, b * heads)) for a, b in bounds]


def _dropped(probabilities: Tensor, threshold: int) -> Tensor:
    """Mark in place, by a minus, the probabilities that are kept; returns −P of those and 0 for the others."""
    probabilities.view(torch.int16).view(-1).bitwise_or_(kept(probabilities.numel(), threshold))
    return probabilities.clamp(max=0)


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)
