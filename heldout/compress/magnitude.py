"""Magnitude pruning: the smallest weights of the layers' matrices become 0 (Han et al. 2015, "Learning both weights and
connections for efficient neural networks").

Zeros make neither the file smaller nor the product faster where matrices are stored and multiplied whole, as here;
they show how much of a model is needed, and pack well (zip, sparse runtimes). Embeddings, norms, biases and the head
stay whole.
"""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from heldout.errors import Refused
from heldout.train.finetune import Setup
from heldout.train.tapped import layers_of

By = Literal["global", "layer"]


def matrices(model: PreTrainedModel) -> list[Tensor]:
    """The weights that are pruned: those of the linear maps inside the encoder's layers."""
    return [module.weight for layer in layers_of(model) for module in layer.modules() if isinstance(module, nn.Linear)]


def prune(model: PreTrainedModel, share: float, by: By) -> dict[str, int]:
    """Set the smallest share of the weights to 0, of all together or of each matrix; returns how many of how many."""
    if not 0 < share < 1:
        raise Refused(f"--prune {share}: give a share between 0 and 1, such as 0.5")
    weights = matrices(model)
    with torch.no_grad():
        if by == "layer":
            for weight in weights:
                weight.view(-1)[smallest(weight.view(-1), share)] = 0
        else:
            together = torch.cat([weight.view(-1) for weight in weights])
            together[smallest(together, share)] = 0
            parts = torch.split(together, [weight.numel() for weight in weights])
            for weight, part in zip(weights, parts, strict=True):
                weight.copy_(part.view_as(weight))
    zero = sum(int((weight == 0).sum()) for weight in weights)
    return {"pruned": zero, "prunable": sum(weight.numel() for weight in weights)}


def smallest(values: Tensor, share: float) -> Tensor:
    """The places of the ``share`` of smallest size, exactly so many even where sizes are equal."""
    return values.abs().topk(round(len(values) * share), largest=False).indices


def share_of_round(share: float, place: int, rounds: int) -> float:
    """The share that is pruned after round ``place`` (from 1): fast at first, slow at the end.

    Zhu and Gupta 2017, "To prune, or not to prune": s·(1 − (1 − t)³).

    >>> [round(share_of_round(0.8, place, 4), 3) for place in (1, 2, 3, 4)]
    [0.463, 0.7, 0.788, 0.8]
    """
    return share * (1 - (1 - place / rounds) ** 3)


def kept_at_zero(setup: Setup) -> Setup:
    """A fine-tuning in which weights that are 0 stay 0: their gradients are, so AdamW never moves them."""
    for weight in matrices(setup.model):
        hook: Any = weight.register_hook
        hook(_masked((weight != 0).detach()))
    return setup


def _masked(mask: Tensor) -> Callable[[Any], Any]:
    return lambda gradient: gradient * mask.to(gradient.device)
