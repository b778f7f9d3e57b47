"""The last layer of a classifier for the first token alone, since its head reads no other.

After its attention a layer treats every token by itself. So in the last one nothing but keys and values is made of the
other tokens: of BERT's matrices three of twelve parts are left (queries are made and not used). Answers and gradients
are the same. (In training dropout draws fewer numbers, so masks are others than without.)
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from torch import Tensor, nn
from transformers import PreTrainedModel

from heldout.train.attention import FIRST_ALONE
from heldout.train.tapped import layers_of


class Place(NamedTuple):
    """In a layer: its attention, and the module that is given all tokens last.

    ``asked`` says that the attention may be asked for one token: it is of transformers' common kind, not its own.
    """

    attention: str
    last: str
    asked: bool = True


BERT = Place("attention.self", "attention.output")
#: Architectures whose heads read the first token. (ALBERT's layers share one module, and ModernBERT carries all tokens
#: past it.)
PLACES: Mapping[str, Place] = {
    "bert": BERT,
    "camembert": BERT,
    "deberta-v2": BERT._replace(asked=False),
    "distilbert": Place("attention", "sa_layer_norm"),
    "electra": BERT,
    "mpnet": Place("attention.attn", "attention.LayerNorm", asked=False),
    "roberta": BERT,
    "xlm-roberta": BERT,
}


@contextmanager
def alone(model: nn.Module) -> Iterator[None]:
    """Within it ``model``, if it is one of transformers' own classifiers of texts, gives its logits by less work.

    Its last hidden state is of no use then; a model that is read in other ways is a part of another module, or of
    another class, and nothing happens.
    """
    place = place_of(model)
    if place is None:
        yield
        return
    attention, last = (_last_layer(model).get_submodule(name) for name in place[:2])
    before = getattr(attention, FIRST_ALONE, False)
    setattr(attention, FIRST_ALONE, place.asked)
    hook = last.register_forward_pre_hook(_first)
    try:
        yield
    finally:
        hook.remove()
        setattr(attention, FIRST_ALONE, before)


def place_of(model: nn.Module) -> Place | None:
    """Where ``alone`` takes hold of a model, None where it does nothing."""
    # A class from elsewhere, remote code for one, may read all tokens.
    own = type(model).__module__.startswith("transformers.models.")
    if not (own and isinstance(model, PreTrainedModel) and type(model).__name__.endswith("ForSequenceClassification")):
        return None
    # Chunks are cut of a given number of tokens.
    chunked = getattr(model.config, "chunk_size_feed_forward", 0)
    return None if chunked else PLACES.get(model.config.model_type)


def left_out(model: nn.Module) -> list[nn.Linear]:
    """The matrices that are given the first token alone."""
    place = place_of(model)
    if place is None:
        return []
    inside = _last_layer(model).named_modules()
    whole = f"{place.attention}."
    return [module for name, module in inside if isinstance(module, nn.Linear) and not name.startswith(whole)]


def _last_layer(model: Any) -> nn.Module:
    return layers_of(model)[-1]


def _first(module: nn.Module, given: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """The first token of each of (rows, longest, width)."""
    return tuple(states[:, :1] for states in given)
