"""A trained model with everything it needs to answer: task, tokenizer, labels by name, limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from torch import nn

from heldout.records import Example, Prediction
from heldout.runs import atomic
from heldout.train.checkpoint import disk_errors
from heldout.train.label_names import matched, mismatch
from heldout.train.models import label_names, load_model, load_tokenizer
from heldout.train.predict import TOKEN_BUDGET, predict
from heldout.train.progress import progress
from heldout.train.sharded import pretrained, replica, weights
from heldout.train.task import Encoded, Encoding, Task, answers, encoding_of
from heldout.train.untrusted import Source


@dataclass(frozen=True)
class System:
    """``model`` as accelerate prepared it; ``encoding`` has its labels in its order, ``labels`` are the card's.

    They are matched by name: answers and scores follow the card.
    """

    task: Task
    model: nn.Module
    encoding: Encoding
    labels: Sequence[str]
    accelerator: Accelerator
    token_budget: int = TOKEN_BUDGET

    def predict(self, examples: Sequence[Example], what: str = "predicting") -> list[Prediction]:
        """Encode and answer the examples; the predictions stand in their order."""
        return self.answer(examples, self.task.encode(examples, self.encoding), what)

    def answer(self, examples: Sequence[Example], encoded: Encoded, what: str) -> list[Prediction]:
        """Answer examples that are encoded already (dev is asked many times, encoded once).

        ``what`` names the progress that is shown, "" for none.
        """
        windows = encoded.flat()
        shown = bool(what) and self.accelerator.is_main_process
        with progress(what, len(windows), "windows", shown=shown) as advance:
            logits = predict(
                self.model,
                windows,
                self.accelerator,
                pad_id=pad_id(self.encoding),
                logits=self.task.logits,
                pad_type=self.encoding.tokenizer.pad_token_type_id,
                token_budget=self.token_budget,
                progress=advance,
            )
        return answers(self.task, self.encoding, self.labels, examples, encoded, logits)

    def agreed(self, number: int) -> int:
        """The main process's number, in all processes."""
        return int(broadcast_object_list([number])[0])

    def save(self, folder: Path) -> None:
        """Write model/ of a run: weights (safetensors), config with label names, tokenizer; transformers loads it.

        Every process must call it: their weights may be shares of the whole.
        """
        model = pretrained(self.accelerator.unwrap_model(self.model))
        state = weights(model, keep=self.accelerator.is_main_process) if self.accelerator.is_fsdp2 else None
        if not self.accelerator.is_main_process:
            return
        tokenizer = self.encoding.tokenizer
        # So that a pipeline with truncation=True reads what we read; head+tail and windows have no such setting.
        tokenizer.truncation_side = "left" if self.encoding.long == "tail" else "right"
        with atomic(folder / "model") as temporary, disk_errors():
            model.save_pretrained(temporary, state_dict=state)
            tokenizer.save_pretrained(temporary)


def pad_id(encoding: Encoding) -> int:
    """The id that fills up shorter rows; load_tokenizer has refused tokenizers without one."""
    found = encoding.tokenizer.pad_token_id
    assert isinstance(found, int)
    return found


def load_system(
    task: Task,
    source: Source,
    labels: Sequence[str],
    options: Mapping[str, Any],
    accelerator: Accelerator,
    renamed: Mapping[str, str] | None = None,
) -> System:
    """The system of a run's model/, its labels matched by name to ``labels``, whatever their order in the config.

    ``renamed`` gives names of the model's other ones. Refused where they are not the same names as ``labels``.
    """
    tokenizer = load_tokenizer(source, options["max_length"])
    model = load_model(task.model, source)
    own = matched(label_names(model), labels, renamed)
    if sorted(own) != sorted(labels):
        raise mismatch(source.name, label_names(model), labels)
    encoding = encoding_of(tokenizer, own, options)
    return System(task, replica(accelerator, model), encoding, labels, accelerator)
