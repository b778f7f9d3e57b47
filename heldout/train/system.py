"""A trained model with everything it needs to answer: task, tokenizer, labels by name, limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accelerate import Accelerator
from torch import nn
from transformers import PreTrainedModel

from heldout.errors import Refused
from heldout.records import Example, Prediction
from heldout.runs import atomic
from heldout.train.models import Source, load_model, load_tokenizer
from heldout.train.predict import TOKEN_BUDGET, predict
from heldout.train.progress import progress
from heldout.train.task import Encoded, Encoding, Task


@dataclass(frozen=True)
class System:
    """``model`` as accelerate prepared it; ``encoding`` holds the tokenizer and the card's labels in the card's order.

    ``columns`` are the places of those labels among the model's logits, where the model has them in another order.
    """

    task: Task
    model: nn.Module
    encoding: Encoding
    accelerator: Accelerator
    columns: tuple[int, ...] = ()
    token_budget: int = TOKEN_BUDGET

    def predict(self, examples: Sequence[Example], what: str = "predicting") -> list[Prediction]:
        """Encode and answer the examples; the predictions stand in their order."""
        return self.answer(examples, self.task.encode(examples, self.encoding), what)

    def answer(self, examples: Sequence[Example], encoded: Encoded, what: str) -> list[Prediction]:
        """Answer examples that are encoded already (dev is asked many times, encoded once)."""
        windows = encoded.flat()
        with progress(what, len(windows), "windows", shown=self.accelerator.is_main_process) as advance:
            logits = predict(
                self.model,
                windows,
                self.accelerator,
                pad_id=pad_id(self.encoding),
                pad_type=self.encoding.tokenizer.pad_token_type_id,
                token_budget=self.token_budget,
                progress=advance,
            )
        if self.columns:
            logits = [rows[..., list(self.columns)] for rows in logits]
        return self.task.decode(examples, encoded, logits, self.encoding.labels)

    def save(self, folder: Path) -> None:
        """Write model/ of a run: weights (safetensors), config with label names, tokenizer; transformers loads it."""
        with atomic(folder / "model") as temporary:
            raw: Any = self.accelerator.unwrap_model(self.model)
            raw.save_pretrained(temporary)
            self.encoding.tokenizer.save_pretrained(temporary)


def pad_id(encoding: Encoding) -> int:
    """The id that fills up shorter rows; load_tokenizer has refused tokenizers without one."""
    found = encoding.tokenizer.pad_token_id
    assert isinstance(found, int)
    return found


def load_system(
    task: Task, source: Source, labels: Sequence[str], options: Mapping[str, Any], accelerator: Accelerator
) -> System:
    """The system of a run's model/, its labels matched by name to the card's, whatever their order in the config."""
    tokenizer = load_tokenizer(source, options["max_length"])
    model = load_model(task.model, source)
    own = label_names(model)
    if sorted(own) != sorted(labels):
        raise Refused(f"{source.name}: its labels are {own}, the card's {list(labels)}; they must be the same names")
    encoding = Encoding(tokenizer, labels, options["max_length"], options["long"])
    columns = tuple(own.index(label) for label in labels)
    return System(task, accelerator.prepare_model(model, evaluation_mode=True), encoding, accelerator, columns)


def label_names(model: PreTrainedModel) -> list[str]:
    """The label names of a model in the order of its logits."""
    names: dict[Any, Any] = model.config.id2label or {}
    return [str(names[row]) for row in sorted(names, key=int)]
