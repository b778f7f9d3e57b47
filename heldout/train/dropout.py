"""Dropout whose masks are cheap on a CPU: four draws of 15 bits from each random word.

Torch's bernoulli_ takes 6 ns an element there, as long as everything else that is not a matrix product together. The
probability p is rounded to a multiple of 2⁻¹⁵ (0.1 is 0.100006), and what is kept is scaled by 1/(1 − p), rounded to
bf16: 1.109 for 1.111, and at most 0.2% off.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

#: The top bit of a word of 16.
TOP = torch.iinfo(torch.int16).min
STEPS = 2**15


def use(model: nn.Module) -> None:
    """Let this stand in for every nn.Dropout in ``model``."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, Dropout(child.p).train(child.training))


class Dropout(nn.Dropout):
    """nn.Dropout; bf16 on a CPU is dropped as this file says, all else as torch does."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with each number 0 with probability ``p`` and the others scaled by 1/(1 − p), while training."""
        threshold = round(self.p * STEPS)
        ours = self.training and 0 < threshold < STEPS and input.device.type == "cpu" and input.dtype == torch.bfloat16
        if not ours:
            return super().forward(input)
        found: Tensor = _Dropout.apply(input, threshold)  # type: ignore[no-untyped-call]
        return found


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: Tensor, threshold: int) -> Tensor:
        factor = torch.tensor(STEPS / (STEPS - threshold), dtype=torch.bfloat16)
        # The top bit, shifted down, is all ones where a number is kept, and lets the factor's bits through.
        words = kept(input.numel(), threshold).bitwise_right_shift_(15).bitwise_and_(factor.view(torch.int16))
        mask = words.view(torch.bfloat16).view(input.shape)
        ctx.save_for_backward(mask)
        return input * mask

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return gradient * ctx.saved_tensors[0], None


def kept(size: int, threshold: int) -> Tensor:
    """int16 of shape (size,): the top bit where a number is kept, 0 elsewhere with probability ``threshold``/2¹⁵."""
    words = torch.empty(-(-size // 4), dtype=torch.int64).random_().view(torch.int16)[:size]
    # With the top bit set, taking the threshold away clears it where the other 15 bits are less than that.
    return words.bitwise_or_(TOP).sub_(threshold).bitwise_and_(TOP)
