"""What both sides are given: the folder of the data, the options, the seed; and what they are asked to do.

DATA/  card.json  train.jsonl  dev.jsonl      the same examples for every side, as records
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from heldout.bench.training.taken import Taken
from heldout.data.prepare import Prepared
from heldout.records import Card, Example, read_card, read_gold
from heldout.runs import write_json, write_lines
from heldout.tasks import load_task
from heldout.train.options import FitOptions
from heldout.train.system import System
from heldout.train.task import Task

CARD, TRAIN, DEV = "card.json", "train.jsonl", "dev.jsonl"
#: What a quality run leaves beside its predictions.
TAKEN = "taken.json"


@dataclass(frozen=True)
class Work:
    """A side's task, data and options, read from its spec; ``out`` is where a whole training writes, else blocks."""

    side: str
    task: Task
    card: Card
    train: Sequence[Example]
    dev: Sequence[Example]
    options: FitOptions
    seed: int
    out: Path | None

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> "Work":
        """Read a spec: {"side", "task", "data", "options", "seed", "out"}."""
        data = Path(spec["data"])
        card = read_card(data / CARD)
        train, dev = (read_gold(data / name, card) for name in (TRAIN, DEV))
        options = FitOptions(**spec["options"])
        out = Path(spec["out"]) if spec.get("out") else None
        return cls(spec["side"], load_task(spec["task"], card), card, train, dev, options, spec["seed"], out)


def write_data(prepared: Prepared, folder: Path, train: Sequence[Example] | None = None) -> None:
    """Write what every side reads; ``train`` are the examples to train on, all of them where none are given."""
    splits = {TRAIN: prepared.splits["train"].examples, DEV: prepared.splits["dev"].examples}
    write_json(folder / CARD, prepared.card.to_json())
    for file, examples in (splits | ({TRAIN: train} if train is not None else {})).items():
        write_lines(folder / file, (example.to_json() for example in examples))


def fit_options(options: Any, **changed: Any) -> dict[str, Any]:
    """The options of fine-tuning among a command's, as a spec has them."""
    return {field.name: getattr(options, field.name) for field in fields(FitOptions)} | changed


def leave(work: Work, system: System, taken: Taken, seconds: float) -> None:
    """Answer dev in fp32 with the weights as they are now, and write it as a run folder that heldout compare reads."""
    assert work.out is not None
    # Without the cast to bf16 that accelerate wraps a model in.
    raw = system.accelerator.unwrap_model(system.model, keep_fp32_wrapper=False)
    system = replace(system, model=raw)
    started = time.perf_counter()
    predictions = system.predict(work.dev, f"predicting dev with {work.side}")
    write_json(work.out / CARD, work.card.to_json())
    write_lines(work.out / "gold" / "dev.jsonl", (example.to_json() for example in work.dev))
    write_lines(work.out / "predictions" / "dev.jsonl", (one.to_json() for one in predictions))
    said = {"training_seconds": seconds, "predicting_seconds": time.perf_counter() - started}
    # The last: a seed that has it is done.
    write_json(work.out / TAKEN, {key: value for key, value in taken.to_json().items() if key != "lengths"} | said)
