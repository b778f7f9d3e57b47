"""A model whose layers are read while it answers: a student with its projections, or a teacher.

transformers gives hidden states by itself; queries, keys and values are caught by hooks on the matrices that make them,
so the attention may stay the fast one (its distributions would need the slow one).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from heldout.errors import Refused
from heldout.train.hidden import Part, Shape, Tap

#: What architectures call the matrices: BERT's kin, DistilBERT, MPNet.
MATRICES: Mapping[Part, Sequence[str]] = {
    "query": ("query", "q_lin", "q"),
    "key": ("key", "k_lin", "k"),
    "value": ("value", "v_lin", "v"),
}


class Features(NamedTuple):
    """A model's outputs, and what was read beside them: (rows, longest, width) by the tap's name."""

    outputs: Any
    read: dict[str, Tensor]


def layers_of(model: PreTrainedModel) -> nn.ModuleList:
    """The encoder's layers; Refused for an architecture that does not keep them in one list."""
    wanted = model.config.num_hidden_layers
    found = [module for module in model.modules() if isinstance(module, nn.ModuleList) and len(module) == wanted]
    if not found:
        raise Refused(f"{model.config.model_type}: its {wanted} layers stand in no one list, so none can be taken")
    return found[0]


def shape_of(model: PreTrainedModel) -> Shape:
    """The shape of a model's encoder."""
    return shape_in(model.config)


def shape_in(config: Any) -> Shape:
    """The shape that a config tells."""
    return Shape(config.num_hidden_layers, config.hidden_size, config.num_attention_heads)


class Tapped(nn.Module):
    """A model with taps. In training mode (or with ``always``) it gives Features, else the model's outputs alone.

    ``places`` are the layer of each tap; ``projected`` gives the widths that some of them are brought to. Projections
    have no bias, are trained and checkpointed with the model, and are not saved with it.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        places: Mapping[Tap, int],
        *,
        projected: Mapping[str, int] | None = None,
        always: bool = False,
    ) -> None:
        super().__init__()
        self.model = model
        self.always = always
        width = model.config.hidden_size
        self.projections = nn.ModuleDict(
            {_key(name): nn.Linear(width, to, bias=False) for name, to in (projected or {}).items()}
        )
        self._hidden = {tap.name: place for tap, place in places.items() if tap.part == "hidden"}
        self._caught: dict[str, Tensor] = {}
        for tap, place in places.items():
            if tap.part != "hidden":
                _matrix(model, tap.part, place).register_forward_hook(self._catch(tap.name))

    def _catch(self, name: str) -> Callable[[nn.Module, Any, Tensor], None]:
        def hook(module: nn.Module, inputs: Any, output: Tensor) -> None:
            self._caught[name] = output

        return hook

    def forward(self, **inputs: Tensor) -> Any:
        """The model's outputs, with what the taps read."""
        if not (self.training or self.always):
            return self.model(**inputs)
        outputs = self.model(**inputs, output_hidden_states=bool(self._hidden))
        read = {name: self._projected(name, outputs.hidden_states[place]) for name, place in self._hidden.items()}
        read |= self._caught
        self._caught = {}
        return Features(outputs, read)

    def _projected(self, name: str, states: Tensor) -> Tensor:
        if _key(name) not in self.projections:
            return states
        found: Tensor = self.projections[_key(name)](states)
        return found


def student(model: PreTrainedModel, wanted: Sequence[Tap], teacher: Shape, seed: int) -> Tapped:
    """The student with its taps and, where the teacher's states have another width, projections drawn from the seed."""
    torch.manual_seed(seed)
    narrow = model.config.hidden_size != teacher.width
    projected = {tap.name: teacher.width for tap in wanted if tap.part == "hidden" and narrow}
    return Tapped(model, {tap: tap.student for tap in wanted}, projected=projected)


def teacher(model: PreTrainedModel, wanted: Sequence[Tap]) -> Tapped:
    """The teacher with its taps, in evaluation mode, without gradients (FAULTS D2)."""
    made = Tapped(model, {tap: tap.teacher for tap in wanted}, always=True)
    return made.eval().requires_grad_(False)


def _key(name: str) -> str:
    """A tap's name as a module's: without the dot."""
    return name.replace(".", "_")


def _matrix(model: PreTrainedModel, part: Part, layer: int) -> nn.Module:
    """The matrix that makes a layer's queries, keys or values; layers count from 1."""
    inside = layers_of(model)[layer - 1].named_modules()
    found: list[nn.Module] = [module for name, module in inside if name.rpartition(".")[2] in MATRICES[part]]
    if not found:
        raise Refused(f"{model.config.model_type}: its {part} matrices are not known by name; use --hidden cosine")
    return found[0]
