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


def divergence(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """T²·KL(softmax(teacher/T) ‖ softmax(student/T)) over the last axis, of shape (…); both (…, classes), in nats.

    Hinton et al. 2015. Teacher's values are logits or log p, which softmax makes the same; −inf (p = 0) is allowed on
    both sides at once. Summed over classes (FAULTS D1: the mean divides by their number), and times T², so that the
    gradient's size does not fall with T: at high T, d/dz = (z − t − their means)/classes whatever T is.
    """
    wanted = (teacher.float() / temperature).softmax(-1)
    found = (student.float() / temperature).log_softmax(-1)
    # Where both are −inf the product would be 0 · −inf, which is no number.
    each = F.kl_div(found.masked_fill(wanted == 0, 0.0), wanted, reduction="none")
    return each.sum(-1) * temperature**2


def token_divergence(student: Tensor, teacher: Tensor, read: Tensor, weights: Tensor, temperature: float) -> Tensor:
    """``divergence`` at the positions that are ``read``: of a row their mean, then the weighted sum over rows.

    Both (rows, longest, classes), read (rows, longest) bool, weights (rows,); a row that reads nothing counts nothing.
    """
    each = divergence(student, teacher, temperature).masked_fill(~read, 0.0)
    return (each.sum(1) / read.sum(1).clamp(min=1)) @ weights.to(each.device)


def span_divergence(student: Tensor, teacher: Tensor, read: Tensor, weights: Tensor, temperature: float) -> Tensor:
    """The mean of start's and end's ``divergence``, each a distribution over the positions that are ``read``.

    Both (rows, longest, 2), read (rows, longest) bool: the passage and [CLS]; question and padding take no part.
    """
    found, wanted = (
        values.float().masked_fill(~read[..., None], -torch.inf).transpose(1, 2) for values in (student, teacher)
    )
    return divergence(found, wanted, temperature).mean(1) @ weights.to(student.device)
