"""The model that is pretrained: fresh from a preset or continued from another, with logits only where they count."""

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForPreTraining,
    PreTrainedConfig,
    PreTrainedModel,
)

from heldout.errors import Refused
from heldout.train.models import load_with_fresh_head
from heldout.train.untrusted import Source

CLASSES: dict[str, Any] = {
    "mlm": AutoModelForMaskedLM,
    "mlm-nsp": AutoModelForPreTraining,
    "clm": AutoModelForCausalLM,
}


class AtSelected(nn.Module):
    """A language model whose vocabulary logits are computed at the selected positions only.

    Of masked language modelling these are 15%. Measured with the mini preset, 8,000 tokens and rows of 128, in bf16 on
    one core: 4,700 tokens a second instead of 3,650. The hook stands before the last matrix, so it serves every
    architecture.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model
        self._selected: Tensor | None = None
        last: nn.Module = cast(Any, model).get_output_embeddings()
        last.register_forward_pre_hook(self._gather)

    def _gather(self, module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor] | None:
        if self._selected is None:
            return None
        return (inputs[0].flatten(0, 1)[self._selected],)

    def forward(self, selected: Tensor, **inputs: Tensor) -> Any:
        """The model's outputs, its vocabulary logits of shape (k, V) for the k flat positions in ``selected``."""
        self._selected = selected
        try:
            return self.model(**inputs)
        finally:
            self._selected = None


def checkpoint_activations(model: PreTrainedModel) -> None:
    """Compute each layer's activations a second time for the gradients instead of keeping them: the same numbers."""
    # Transformers 5 has renamed it on the way.
    names = ("activation_checkpointing_enable", "gradient_checkpointing_enable")
    enable = next(getattr(model, name) for name in names if hasattr(model, name))
    enable({"use_reentrant": False})


def fresh(objective: str, config: PreTrainedConfig, seed: int) -> PreTrainedModel:
    """A model of this config with random weights that are a function of the seed alone."""
    torch.manual_seed(seed)
    model = CLASSES[objective].from_config(config)
    assert isinstance(model, PreTrainedModel)
    return model


def continued(
    objective: str, source: Source, *, seed: int, attention_dropout: float | None, say: Callable[[str], None]
) -> PreTrainedModel:
    """An existing model with the heads of the objective; those it lacks are drawn from the seed, and that is said.

    A language model's last matrix is tied to the embeddings where the architecture ties it.
    """
    model, lacking = load_with_fresh_head(CLASSES[objective], source, seed=seed, attention_dropout=attention_dropout)
    if objective == "mlm-nsp" and model.config.model_type != "bert":
        raise Refused(f"{source.name}: a {model.config.model_type} has no head for next sentences; use --objective mlm")
    if lacking:
        tied = "; its last matrix is tied to the embeddings" if model.config.tie_word_embeddings else ""
        say(f"{source.name}: has no head for {objective}: {len(lacking)} weights are fresh{tied}")
    return model
