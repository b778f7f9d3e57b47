"""Students made of their teacher: some of its layers, its embeddings, and its head where that fits.

DistilBERT takes one layer out of two (Sanh et al. 2019): of 12 its script takes 0, 2, 4, 7, 9, 11. That is the first,
the last and what lies evenly between; the same rule takes any number of any number.

    >>> taken(12, 6), taken(6, 3), taken(6, 1)
    ((0, 2, 4, 7, 9, 11), (0, 2, 5), (0,))

``distilbert`` makes DistilBERT's shape of a BERT: no segments, no pooler. Segment 0's embedding, which every token of
one text has, is added to the positions', so nothing that a single text goes through is lost.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from transformers import BertModel, DistilBertConfig, DistilBertModel, PreTrainedModel, PreTrainedTokenizerFast

from heldout.errors import Refused
from heldout.runs import atomic
from heldout.train.checkpoint import disk_errors
from heldout.train.distil_options import Form
from heldout.train.tapped import layers_of

#: DistilBERT's names for what stands in a layer of BERT.
IN_A_LAYER = {
    "attention.self.query": "attention.q_lin",
    "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin",
    "attention.output.dense": "attention.out_lin",
    "attention.output.LayerNorm": "sa_layer_norm",
    "intermediate.dense": "ffn.lin1",
    "output.dense": "ffn.lin2",
    "output.LayerNorm": "output_layer_norm",
}
IN_EMBEDDINGS = ("word_embeddings.weight", "position_embeddings.weight", "LayerNorm.weight", "LayerNorm.bias")


def taken(layers: int, number: int) -> tuple[int, ...]:
    """Which ``number`` of ``layers`` are taken, from 0: the first, the last, evenly between."""
    return tuple(round(place * (layers - 1) / max(number - 1, 1)) for place in range(number))


def chosen(wanted: str, layers: int) -> tuple[int, ...]:
    """The layers that --layers asks for: a number of them, or places from 0; Refused where the teacher has them not.

    >>> chosen("3", 6), chosen("0,1,5", 6)
    ((0, 2, 5), (0, 1, 5))
    """
    try:
        numbers = [int(part) for part in wanted.split(",")]
    except ValueError:
        raise Refused(f"--layers {wanted}: give a number of layers, or their places, such as 0,2,5") from None
    if "," not in wanted:
        if not 1 <= numbers[0] <= layers:
            raise Refused(f"--layers {wanted}: the teacher has {layers} layers; give 1 to {layers}")
        return taken(layers, numbers[0])
    if sorted(set(numbers)) != numbers or not 0 <= numbers[0] <= numbers[-1] < layers:
        raise Refused(f"--layers {wanted}: give places in order, each once, from 0 to {layers - 1}")
    return tuple(numbers)


def shrunk(model: PreTrainedModel, places: Sequence[int]) -> PreTrainedModel:
    """A copy of the model with these of its layers; everything else (embeddings, pooler, head) as it is."""
    small = copy.deepcopy(model)
    layers = layers_of(small)
    kept = [layers[place] for place in places]
    del layers[:]
    layers.extend(kept)
    if getattr(small.config, "layer_types", None):
        # What a layer attends to stands beside it in the config.
        small.config.layer_types = [small.config.layer_types[place] for place in places]
    small.config.num_hidden_layers = len(places)
    return small


def distilbert(model: PreTrainedModel, places: Sequence[int]) -> PreTrainedModel:
    """A DistilBERT of these layers of a BERT, without a head; Refused for another architecture."""
    body = model.base_model
    if not isinstance(body, BertModel):
        raise Refused(f"--shape distilbert: is made of a bert, not of a {model.config.model_type}; leave it out")
    made = DistilBertModel(_distilbert_config(body.config, len(places)))
    made.load_state_dict(_distilbert_weights(body, places), strict=True)
    return made


def _distilbert_config(config: Any, layers: int) -> DistilBertConfig:
    return DistilBertConfig(
        vocab_size=config.vocab_size,
        max_position_embeddings=config.max_position_embeddings,
        n_layers=layers,
        n_heads=config.num_attention_heads,
        dim=config.hidden_size,
        hidden_dim=config.intermediate_size,
        dropout=config.hidden_dropout_prob,
        attention_dropout=config.attention_probs_dropout_prob,
        activation=config.hidden_act,
        initializer_range=config.initializer_range,
        pad_token_id=config.pad_token_id,
    )


def _distilbert_weights(body: nn.Module, places: Sequence[int]) -> dict[str, Tensor]:
    weights = body.state_dict()
    found = {f"embeddings.{name}": weights[f"embeddings.{name}"].clone() for name in IN_EMBEDDINGS}
    found["embeddings.position_embeddings.weight"] += weights["embeddings.token_type_embeddings.weight"][0]
    for number, place in enumerate(places):
        for ours, theirs in IN_A_LAYER.items():
            for kind in ("weight", "bias"):
                name = f"transformer.layer.{number}.{theirs}.{kind}"
                found[name] = weights[f"encoder.layer.{place}.{ours}.{kind}"].clone()
    return found


def parameters(model: nn.Module) -> int:
    """How many numbers are trained, tied ones once."""
    return sum(parameter.numel() for parameter in model.parameters())


@dataclass(frozen=True)
class Made:
    """A student that was made: which layers of how many, whether its head is the teacher's, and the parameters of
    student and teacher."""

    places: Sequence[int]
    layers: int
    head_kept: bool
    parameters: tuple[int, int]

    @property
    def words(self) -> str:
        """What was taken, in a sentence."""
        small, large = self.parameters
        head = "its head" if self.head_kept else "a fresh head"
        return (
            f"layers {', '.join(map(str, self.places))} of {self.layers} (0 the first), the embeddings and {head}: "
            f"{small:,} of {large:,} parameters, {1 - small / large:.1%} fewer"
        )


def make(folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, layers: str, shape: Form) -> Made:
    """Write a student of the model's layers to ``folder``, with the tokenizer; its head is kept where the shape is."""
    places = chosen(layers, model.config.num_hidden_layers)
    small = shrunk(model, places) if shape == "same" else distilbert(model, places)
    if shape == "distilbert":
        # It knows no segments: a tokenizer that made some would be refused by its forward.
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    with atomic(folder) as temporary, disk_errors():
        small.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
    has_head = model.base_model is not model and shape == "same"
    return Made(places, model.config.num_hidden_layers, has_head, (parameters(small), parameters(model)))
