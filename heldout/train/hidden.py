"""Hidden losses: what a student's layers learn of its teacher's, beside the answers (--hidden).

    cosine    1 − cos(hₛ, hₜ) of the last layer, a mean over tokens                       DistilBERT, Sanh et al. 2019
    minilm    KL(Aₜ ‖ Aₛ) + KL(VRₜ ‖ VRₛ) of the last layer, a mean over heads and tokens; A = softmax(QKᵀ/√d) and
              VR = softmax(VVᵀ/√d)                                                        MiniLM, Wang et al. 2020
    tinybert  Σ over layers MSE(hₛ·W, hₜ) + MSE(QKᵀ/√d of both), and MSE of the embeddings; W is learned, layer m of M
              learns from the teacher's m·L/M                                             TinyBERT, Jiao et al. 2020

Each is computed a row at a time over its real tokens, then summed by the rows' weights, as every loss here: padding
and micro-batches change nothing. What is compared has a name: "hidden.2", "query.2", … by the student's layer; 0 is the
embeddings.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from heldout.errors import Refused
from heldout.train.distil_options import Hidden

Part = Literal["hidden", "query", "key", "value"]


@dataclass(frozen=True)
class Tap:
    """One thing that is compared: which part, of which layer of the student and the teacher (from 1; 0 embeddings)."""

    part: Part
    student: int
    teacher: int

    @property
    def name(self) -> str:
        """Its name in batches and stores."""
        return f"{self.part}.{self.student}"


@dataclass(frozen=True)
class Shape:
    """What of an encoder's shape hidden losses depend on."""

    layers: int
    width: int
    heads: int


def taps(hidden: Hidden, student: Shape, teacher: Shape) -> tuple[Tap, ...]:
    """What is compared; Refused where the two shapes do not allow it.

    >>> [(tap.name, tap.teacher) for tap in taps("tinybert", Shape(2, 32, 2), Shape(4, 64, 2)) if tap.part == "hidden"]
    [('hidden.0', 0), ('hidden.1', 2), ('hidden.2', 4)]
    """
    if hidden == "cosine":
        if student.width != teacher.width:
            raise Refused(
                f"--hidden cosine: the student's states have {student.width} numbers and the teacher's "
                f"{teacher.width}; use --hidden tinybert, which learns a projection"
            )
        return (Tap("hidden", student.layers, teacher.layers),)
    if student.heads != teacher.heads:
        raise Refused(
            f"--hidden {hidden}: the student has {student.heads} attention heads and the teacher {teacher.heads}, and "
            "each learns from its own; use --hidden cosine or a student of as many heads"
        )
    if hidden == "minilm":
        parts: Sequence[Part] = ("query", "key", "value")
        return tuple(Tap(part, student.layers, teacher.layers) for part in parts)
    if teacher.layers % student.layers:
        raise Refused(
            f"--hidden tinybert: the teacher's {teacher.layers} layers are not a multiple of the student's "
            f"{student.layers}, so there is no uniform map; use another number of layers, or --hidden minilm"
        )
    step = teacher.layers // student.layers
    inner = [Tap(part, m, m * step) for m in range(1, student.layers + 1) for part in _OF_A_LAYER]
    return (Tap("hidden", 0, 0), *inner)


_OF_A_LAYER: Sequence[Part] = ("hidden", "query", "key")


def loss(
    hidden: Hidden,
    student: Mapping[str, Tensor],
    teacher: Mapping[str, Tensor],
    real: Tensor,
    weights: Tensor,
    heads: int,
) -> Tensor:
    """The weighted sum over rows; tensors (rows, longest, width) by name, real (rows, longest) bool, weights (rows,).

    ``heads`` are the student's and the teacher's.
    """
    if hidden == "cosine":
        each = torch.stack([_cosine(student[name], teacher[name], real) for name in student]).sum(0)
    elif hidden == "minilm":
        each = _minilm(_by_part(student), _by_part(teacher), real, heads)
    else:
        each = _tinybert(student, teacher, real, heads)
    return each @ weights.to(real.device)


def _by_part(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.partition(".")[0]: tensor for name, tensor in tensors.items()}


def _mean(each: Tensor, real: Tensor) -> Tensor:
    """Of (rows, longest) the mean over a row's real tokens: (rows,)."""
    return each.masked_fill(~real, 0.0).sum(1) / real.sum(1)


def _cosine(student: Tensor, teacher: Tensor, real: Tensor) -> Tensor:
    return _mean(1 - F.cosine_similarity(student.float(), teacher.float(), dim=-1), real)


def _minilm(student: Mapping[str, Tensor], teacher: Mapping[str, Tensor], real: Tensor, heads: int) -> Tensor:
    losses = []
    for one, other in (("query", "key"), ("value", "value")):
        wanted, found = (
            products(side[one], side[other], heads).masked_fill(~real[:, None, None, :], -torch.inf)
            for side in (teacher, student)
        )
        log = found.log_softmax(-1).masked_fill(~real[:, None, None, :], 0.0)
        each = F.kl_div(log, wanted.softmax(-1), reduction="none").sum(-1).mean(1)
        losses.append(_mean(each, real))
    return torch.stack(losses).sum(0)


def _tinybert(student: Mapping[str, Tensor], teacher: Mapping[str, Tensor], real: Tensor, heads: int) -> Tensor:
    hidden = [name for name in student if name.startswith("hidden.")]
    states = [_mean((student[name].float() - teacher[name].float()).square().mean(-1), real) for name in hidden]
    attention = []
    pairs = real[:, None, :] & real[:, :, None]
    for name in (name for name in student if name.startswith("query.")):
        key = name.replace("query", "key")
        apart = products(student[name], student[key], heads) - products(teacher[name], teacher[key], heads)
        squares = apart.square().mean(1).masked_fill(~pairs, 0.0)
        attention.append(squares.sum((1, 2)) / pairs.sum((1, 2)))
    return torch.stack([*states, *attention]).sum(0)


def products(one: Tensor, other: Tensor, heads: int) -> Tensor:
    """one·otherᵀ/√d of each head, (rows, heads, longest, longest), of two tensors (rows, longest, heads · d)."""
    first, second = (side.float().reshape(*side.shape[:2], heads, -1).transpose(1, 2) for side in (one, other))
    return first @ second.transpose(-1, -2) / math.sqrt(first.shape[-1])
