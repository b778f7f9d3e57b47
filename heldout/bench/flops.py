"""How many floating point operations a model's matrix multiplications take, from the model and the lengths of its rows.

Of a row of n real tokens (padding is not counted, whoever computes it):

    forward = n · 2·(weights of the linear layers of the body, and of a head that reads every token)
            + 1 · 2·(weights of a pooler and of a head that reads one token)
            + layers · 4·n²·(width of the attention)
            + 2·(weights of a language model's last matrix) for each position that is asked for

A multiplication and an addition are two operations; QKᵀ and the weighting of V take 2n²·width each. Training takes
three times the forward pass: the gradients of inputs and of weights are one more each. So count Narayanan et al. 2021
(Megatron-LM, appendix) and Chowdhery et al. 2022 (PaLM, appendix B), without recomputation. Norms, softmax and
activations are left out: they are no matrix multiplications. Attention is taken as full (a model with local layers
does less), and as BERT's (DeBERTa's, which also multiplies positions, does more).

These are the model's operations, the same ones for every side of a benchmark, so that a share of the peak is speed in
another unit. A side that gives the same numbers by fewer of them (heldout/train/first_token.py) also says how many it
does (``done``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from transformers import PreTrainedModel

#: A training step over its forward pass.
TRAINING = 3


@dataclass(frozen=True)
class Costs:
    """Operations of a forward pass: for each token, for each pair of tokens of a row, for each row, and for each
    position whose token a language model is asked for."""

    token: int
    pair: int
    row: int
    choice: int = 0

    def forward(self, lengths: Sequence[int], chosen: int = 0) -> int:
        """Operations of one forward pass over rows of these lengths in real tokens, ``chosen`` of which are asked."""
        whole = self.token * sum(lengths) + self.pair * sum(n * n for n in lengths) + self.row * len(lengths)
        return whole + self.choice * chosen


def costs(model: "PreTrainedModel") -> Costs:
    """The costs of a model of transformers, of BERT's kind, with its head."""
    from torch import nn

    prefix = f"{model.base_model_prefix}."
    config: Any = model.config
    vocabulary = cast(Any, model).get_output_embeddings()
    each, once, chosen = 0, 0, 0
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            weights = 2 * module.weight.numel()
            if module is vocabulary:
                chosen += weights
            elif name.startswith(prefix) and ".pooler." not in f"{name}.":
                each += weights
            elif _reads_one_token(model, name):
                once += weights
            else:
                each += weights
    return Costs(each, 4 * config.num_hidden_layers * config.hidden_size, once, chosen)


def done(model: "PreTrainedModel") -> Costs:
    """What of ``costs`` is done within first_token.alone: keys and values of the last layer for every token, the rest
    of it for each row's first."""
    from heldout.train.first_token import left_out, place_of

    whole, place = costs(model), place_of(model)
    once = sum(2 * module.weight.numel() for module in left_out(model))
    pair = 4 * cast(Any, model.config).hidden_size if place and place.asked else 0
    return Costs(whole.token - once + pair, whole.pair - pair, whole.row + once, whole.choice)


def part_done(facts: Mapping[str, Any], lengths: Sequence[int]) -> float:
    """The share of the model's operations that a side does over rows of these lengths, by what it says of itself."""
    if "done" not in facts:
        return 1.0
    return Costs(**facts["done"]).forward(lengths) / Costs(**facts["costs"]).forward(lengths)


def _reads_one_token(model: "PreTrainedModel", name: str) -> bool:
    """Whether a layer outside the body reads one token a row: a pooler, or the head of a classifier of texts."""
    return ".pooler." in f"{name}." or type(model).__name__.endswith("ForSequenceClassification")
