"""Losses: sums over windows by weight; the loop divides by the weight of the whole step."""

import torch
import torch.nn.functional as F
from torch import Tensor

from heldout.train.windows import IGNORED


def cross_entropy(logits: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Weighted sum of −log softmax(logits)[target]; logits (rows, labels), targets (rows,), weights (rows,).

    Summed, not averaged: a step cut into unequal micro-batches then has the gradient of the uncut step
    (FAULTS T3; the mean of means weighs the examples of a small micro-batch too much).
    """
    return F.cross_entropy(logits.float(), targets, reduction="none") @ weights.to(logits.device)


def token_cross_entropy(logits: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """The sum of −log softmax(logits)[target] over all positions that have a target.

    logits (rows, longest, labels), targets (rows, longest) with IGNORED where there is none, weights (rows,) the number
    of a row's targets; a row that is weighted otherwise counts in proportion, and one without targets not at all.
    """
    losses = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), reduction="none", ignore_index=IGNORED)
    counts = (targets != IGNORED).sum(dim=1).clamp(min=1)
    return (losses.view(targets.shape).sum(dim=1) / counts) @ weights.to(logits.device)


def span_cross_entropy(start: Tensor, end: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Weighted sum of the mean cross entropy of start and end; logits (rows, longest), targets (rows, 3).

    A row's targets are its start, its end and its length: the softmax is taken over its own tokens, so that the loss
    does not depend on how far the row is padded (FAULTS T3).
    """
    padding = torch.arange(start.shape[1], device=start.device) >= targets[:, 2:]
    sides = (logits.float().masked_fill(padding, -torch.inf) for logits in (start, end))
    first, last = (cross_entropy(logits, targets[:, side], weights) for side, logits in enumerate(sides))
    return (first + last) / 2
