"""Pruning that transformers' configs can express, so that it really shrinks file and time: narrower FFNs, fewer layers.

    FFN(x) = W2 · act(W1 · x + b1) + b2        neuron i: row i of W1, b1[i], column i of W2

A neuron's worth is |W1[i], b1[i]| · |W2[:, i]|, the product of what comes in and what goes out (Li et al. 2017,
"Pruning filters for efficient convnets", take one side's norm). Every layer keeps as many, its own best.
"""

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from heldout.errors import Refused
from heldout.train.students import shrunk
from heldout.train.tapped import layers_of

#: What configs call the width of the FFN: BERT's kin, and DistilBERT's.
WIDTHS = ("intermediate_size", "hidden_dim")


def parse_structured(value: str) -> float:
    """The share of --structured ffn=SHARE; Refused for anything else.

    >>> parse_structured("ffn=0.5")
    0.5
    """
    what, _, share = value.partition("=")
    try:
        found = float(share)
    except ValueError:
        found = -1.0
    if what != "ffn" or not 0 < found < 1:
        raise Refused(f"--structured {value}: write ffn=SHARE, the share of neurons to keep, such as ffn=0.5")
    return found


def narrow_ffn(model: PreTrainedModel, share: float) -> int:
    """Keep a share of every layer's FFN neurons in place; returns how many each keeps. The config says so."""
    name = next((name for name in WIDTHS if hasattr(model.config, name)), None)
    if name is None:
        raise Refused(f"--structured: the config of a {model.config.model_type} names no FFN width")
    width, hidden = int(getattr(model.config, name)), int(model.config.hidden_size)
    keep = max(1, round(width * share))
    pairs = [_ffn(layer, width, hidden, model.config.model_type) for layer in layers_of(model)]
    for up, down in pairs:
        kept = best(up, down, keep)
        _cut(up, kept, rows=True)
        _cut(down, kept, rows=False)
    setattr(model.config, name, keep)
    return keep


def _ffn(layer: nn.Module, width: int, hidden: int, kind: str) -> tuple[nn.Linear, nn.Linear]:
    """The matrix into the FFN and the one out of it, told by their shapes."""
    linear = [module for module in layer.modules() if isinstance(module, nn.Linear)]
    up = [module for module in linear if module.weight.shape == (width, hidden)]
    down = [module for module in linear if module.weight.shape == (hidden, width)]
    if len(up) != 1 or len(down) != 1 or width == hidden:
        raise Refused(f"--structured: a {kind} has no FFN of two matrices ({width} neurons) that can be told apart")
    return up[0], down[0]


def best(up: nn.Linear, down: nn.Linear, keep: int) -> Tensor:
    """The places of the ``keep`` neurons of largest worth, rising."""
    bias = up.bias if up.bias is not None else torch.zeros(len(up.weight))
    into = torch.cat([up.weight, bias[:, None]], dim=1).norm(dim=1)
    worth = into * down.weight.norm(dim=0)
    places: Tensor = worth.topk(keep).indices.sort().values
    return places


def _cut(linear: nn.Linear, kept: Tensor, *, rows: bool) -> None:
    weight = linear.weight.detach()
    linear.weight = nn.Parameter(weight[kept].clone() if rows else weight[:, kept].clone())
    if rows:
        linear.out_features = len(kept)
        if linear.bias is not None:
            linear.bias = nn.Parameter(linear.bias.detach()[kept].clone())
    else:
        linear.in_features = len(kept)


def drop_layers(model: PreTrainedModel, wanted: str) -> tuple[PreTrainedModel, list[int]]:
    """A copy without the layers at these places (0 the first), and the places that stay."""
    layers = int(model.config.num_hidden_layers)
    try:
        dropped = sorted({int(part) for part in wanted.split(",")})
    except ValueError:
        raise Refused(f"--drop-layers {wanted}: give places with commas between, such as 1,3,5") from None
    if dropped[0] < 0 or dropped[-1] >= layers or len(dropped) >= layers:
        raise Refused(f"--drop-layers {wanted}: the model has layers 0 to {layers - 1}; leave one at least")
    stay = [place for place in range(layers) if place not in dropped]
    return shrunk(model, stay), stay
