"""What every product of compression is: a run folder with the records of the run that it was made of.

    RUN2/compression.json  {"from", "what", "parameters", "nonzero", "agreement"?, …}

Card, gold, train's fingerprints and ledger are carried over; predictions, fits and scores are the product's own.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn

from heldout.data.fitted import TRAIN_NUMBERS, TRAIN_TEXTS
from heldout.data.splits import limited
from heldout.errors import Refused
from heldout.ledger import Ledger, write_ledger
from heldout.records import Card, Example, Prediction, read_card, read_gold
from heldout.runs import environment, task_options, write_json, write_lines
from heldout.train.precision import make_accelerator
from heldout.train.predict import predict
from heldout.train.system import System, load_system, pad_id
from heldout.train.task import Encoded, Logits, Task, answers
from heldout.train.untrusted import Source

#: What a product writes beside a run's own files.
NOTES = "compression.json"


class Answers(Protocol):
    """Anything that answers examples."""

    def predict(self, examples: Sequence[Example], what: str = ...) -> list[Prediction]:
        """The predictions, in the order of the examples."""


@dataclass(frozen=True)
class Origin:
    """The run that products are made of: its folder, card and options, and the task as its card asks it."""

    folder: Path
    card: Card
    options: Mapping[str, Any]
    task: Task

    @property
    def source(self) -> Source:
        """Its model."""
        return Source(str(self.folder / "model"), bool(self.options.get("trust_remote_code")))

    def system(self) -> System:
        """Its model in fp32, ready to answer."""
        return load_system(self.task, self.source, self.task.head(self.card), self.options, make_accelerator("fp32"))

    def gold(self, name: str) -> list[Example]:
        """One of its gold sets."""
        return read_gold(self.folder / "gold" / f"{name}.jsonl", self.card)

    def checked(self, rows: int) -> tuple[str, Sequence[Example]]:
        """The set that products are checked on (dev, else the first there is), and so many of its examples."""
        names = sorted(path.stem for path in (self.folder / "gold").glob("*.jsonl"))
        if not names:
            raise Refused(f"{self.folder}: holds no gold/NAME.jsonl; products are checked on real rows")
        name = "dev" if "dev" in names else names[0]
        return name, limited(self.gold(name), rows, seed=0)


def open_origin(folder: Path, load_task: Any) -> Origin:
    """The run in a folder; Refused where it has no model of its own to compress.

    ``load_task`` is heldout.tasks' (which this package may not import: both stand on one step).
    """
    if not (folder / "model").is_dir():
        seeds = sorted(path.parent.name for path in folder.glob("seed-*/model"))
        instead = f"give one of its runs, such as {folder / seeds[0]}" if seeds else "give a run of heldout finetune"
        if (folder / "onnx").is_dir():
            instead = "it was exported already; give the run that it was made of"
        raise Refused(f"{folder}: holds no model/; {instead}")
    options = task_options(folder)
    card = read_card(folder / "card.json")
    return Origin(folder, card, options, load_task(options["task"], card))


def answered(system: System, examples: Sequence[Example], encoded: Encoded) -> tuple[list[Prediction], Logits]:
    """A torch system's predictions with the logits of all windows."""
    logits = predict(
        system.model,
        encoded.flat(),
        system.accelerator,
        pad_id=pad_id(system.encoding),
        logits=system.task.logits,
        pad_type=system.encoding.tokenizer.pad_token_type_id,
    )
    return answers(system.task, system.encoding, system.labels, examples, encoded, logits), logits


def begin(origin: Origin, out: Path, said: Mapping[str, Any], notes: Mapping[str, Any], ledger: Ledger) -> None:
    """Write what a product starts from: options, environment, card, ledger, gold, train's fingerprints, its notes.

    ``said`` are the command's own options; the product is called by its folder's name, not by that of the encoder.
    """
    made = dict(origin.options) | {"model": str(out / "model"), "out": str(out), "compress": dict(said)}
    write_json(out / "options.json", made)
    write_json(out / "environment.json", environment())
    write_json(out / NOTES, dict(notes))
    write_ledger(out, ledger)
    (out / "gold").mkdir(exist_ok=True)
    carried = [origin.folder / name for name in ("card.json", TRAIN_TEXTS, TRAIN_NUMBERS, "slices.json")]
    for path in [*carried, *origin.folder.glob("gold/*.jsonl")]:
        if path.exists():
            shutil.copyfile(path, out / path.relative_to(origin.folder))


def predict_all(out: Path, origin: Origin, system: Answers) -> None:
    """Write the product's predictions of every gold set."""
    for path in sorted((out / "gold").glob("*.jsonl")):
        found = system.predict(origin.gold(path.stem), f"predicting {path.stem}")
        write_lines(out / "predictions" / path.name, (prediction.to_json() for prediction in found))


def counted(model: nn.Module) -> dict[str, int]:
    """How many parameters a model has, tied ones once, and how many of them are not 0."""
    weights = list(model.parameters())
    nonzero = sum(int(torch.count_nonzero(weight)) for weight in weights)
    return {"parameters": sum(weight.numel() for weight in weights), "nonzero": nonzero}
