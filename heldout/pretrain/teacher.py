"""Task-free distillation, as DistilBERT was made (Sanh et al. 2019): a teacher reads every masked row as well.

    L = a · T² · KL(teacher ‖ student) + b · masked tokens + c · (1 − cos) of the last states; a, b, c = 5, 2, 1; T = 2

The KL is at the masked positions (or, of a causal model, at all), the cosine over all real tokens. Masks are drawn anew
for every step, so nothing of the teacher could be kept on disk: it answers on the spot.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from heldout.errors import Refused
from heldout.pretrain import objectives
from heldout.pretrain.model import CLASSES, AtSelected
from heldout.pretrain.objectives import token_logits
from heldout.pretrain.options import PretrainOptions
from heldout.train import hidden
from heldout.train.losses import divergence
from heldout.train.models import load_model, load_tokenizer
from heldout.train.store import tokenizer_hash
from heldout.train.untrusted import Source

#: The name of the one state that is compared.
LAST = "hidden.last"


class Both(NamedTuple):
    """What student and teacher say of a batch: logits and states of each; ``real`` are tokens that are no padding."""

    outputs: Any
    states: Tensor
    logits: Tensor
    taught: Tensor
    real: Tensor


class Taught(nn.Module):
    """A student with its teacher beside it: Both while it trains, else the student's outputs alone.

    The teacher is in evaluation mode and has no gradients (FAULTS D2). It is no submodule: neither trained nor saved.
    """

    def __init__(self, student: PreTrainedModel, teacher: PreTrainedModel, pad_id: int) -> None:
        super().__init__()
        self.student = AtSelected(student)
        self.pad_id = pad_id
        self._teacher = (AtSelected(teacher).eval().requires_grad_(False),)

    def forward(self, selected: Tensor, **inputs: Tensor) -> Any:
        """Both, or outputs, at the flat positions in ``selected``."""
        if not self.training:
            return self.student(selected, **inputs)
        asked: dict[str, Any] = {**inputs, "output_hidden_states": True}
        mine = self.student(selected, **asked)
        with torch.no_grad():
            theirs = self._teacher[0](selected, **asked)
        real = inputs["input_ids"] != self.pad_id
        return Both(mine, mine.hidden_states[-1], token_logits(theirs), theirs.hidden_states[-1], real)


def load_teacher(options: PretrainOptions) -> PreTrainedModel:
    """The teacher with its own head for the objective; Refused where its file has none: a fresh one knows nothing."""
    return load_model(CLASSES[options.objective], Source(str(options.teacher), options.trust_remote_code))


def check(options: PretrainOptions, student: PreTrainedModel, teacher: PreTrainedModel, tokenizer: Any) -> None:
    """Refuse a pair that cannot be compared token by token, or state by state."""
    theirs = load_tokenizer(Source(str(options.teacher), options.trust_remote_code), 0)
    if tokenizer_hash(theirs) != tokenizer_hash(tokenizer):
        raise Refused(
            f"--teacher {options.teacher}: its tokenizer is not the student's, and distributions over tokens are "
            "compared; leave --tokenizer out to use the teacher's"
        )
    widths = student.config.hidden_size, teacher.config.hidden_size
    if options.mixed[2] and widths[0] != widths[1]:
        raise Refused(
            f"--teacher {options.teacher}: its states have {widths[1]} numbers and the student's {widths[0]}; give "
            "--teacher-weights 5,2,0 to leave the cosine out, or a student as wide (--layers)"
        )


def loss_of(options: PretrainOptions) -> Callable[[Any, dict[str, Tensor], Tensor], Tensor]:
    """The loss of a micro-batch, of Both; summed as objectives.loss is."""
    kl, masked, cosine = options.mixed

    def loss(both: Both, targets: dict[str, Tensor], weights: Tensor) -> Tensor:
        outputs, row = Both(*both).outputs, targets["row"]
        counts = (weights > 0).to(row.device)
        each = divergence(token_logits(outputs), both.logits, options.temperature)
        total = kl * (each * (targets["share"] * counts)[row]).sum()
        total = total + masked * objectives.loss(outputs, targets, weights)
        if cosine:
            states = {LAST: both.states}, {LAST: both.taught}
            total = total + cosine * hidden.loss("cosine", *states, both.real, weights, 0)
        return total

    return loss
