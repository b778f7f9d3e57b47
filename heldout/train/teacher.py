"""A run as the teacher: its model answers train once, in evaluation mode and without gradients, and is then let go.

RUN/teacher/  teacher.json {"teacher", "model", "train"}   train.jsonl   windows/ (store.py)
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from accelerate import Accelerator
from torch import Tensor
from transformers import AutoConfig

from heldout.errors import Refused
from heldout.records import Card, Example, Prediction, read_card, read_predictions
from heldout.runs import read_json, task_options, write_json, write_lines
from heldout.train import hidden, store, tapped
from heldout.train.answers import Answers
from heldout.train.distil_options import Hidden
from heldout.train.hidden import Shape
from heldout.train.label_names import matched
from heldout.train.models import load_model, load_tokenizer
from heldout.train.progress import progress
from heldout.train.sharded import replica
from heldout.train.store import LOGITS, Store, tokenizer_hash
from heldout.train.system import load_system, pad_id
from heldout.train.task import Encoded, Encoding, Task, encoding_of
from heldout.train.untrusted import Source, check_folder, quiet, readable_errors
from heldout.train.windows import Batch, collate


@dataclass(frozen=True)
class Run:
    """A finished run that teaches: its card, its options, and the SHA-256 of its weights."""

    folder: Path
    card: Card
    options: Mapping[str, Any]
    weights: str

    @property
    def source(self) -> Source:
        """Its model."""
        return Source(str(self.folder / "model"), self.options["trust_remote_code"])

    @property
    def before(self) -> Source:
        """The model that it was fine-tuned from."""
        return Source(self.options["model"], self.options["trust_remote_code"])


def open_run(folder: Path, task: str) -> Run:
    """The teacher in a run folder; Refused where it has no model, or was trained on another task."""
    if not (folder / "model").is_dir():
        seeds = sorted(path.parent for path in folder.glob("seed-*/model"))
        instead = str(seeds[0]) if seeds else "a run folder that heldout finetune has finished"
        raise Refused(f"--teacher {folder}: holds no model/; give {instead}")
    options = task_options(folder)
    if options["task"] != task:
        raise Refused(f"--teacher {folder}: has learned {options['task']}, not {task}; give a teacher of {task}")
    return Run(folder, read_card(folder / "card.json"), options, weights_hash(folder / "model"))


def weights_hash(folder: Path) -> str:
    """SHA-256 of a model folder's weights."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def check_card(run: Run, card: Card) -> None:
    """Refuse a teacher of other labels than the student is to learn."""
    if sorted(matched(run.card.labels, card.labels)) != sorted(card.labels):
        raise Refused(
            f"--teacher {run.folder}: its labels are {', '.join(run.card.labels)} and those of train "
            f"{', '.join(card.labels)}; name train's as the teacher's with --label"
        )
    if run.card.kind == "span" and run.card.version != card.version:
        raise Refused(
            f"--teacher {run.folder}: was trained on SQuAD {run.card.version}'s kind of questions and train is of "
            f"{card.version}'s (2.0 has some without an answer); give a teacher or a train of the same kind"
        )


def shape_at(source: Source) -> Shape:
    """The shape of a model's encoder, from its config alone."""
    check_folder(source)
    with readable_errors(source, "model"), quiet():
        return tapped.shape_in(AutoConfig.from_pretrained(source.name, trust_remote_code=source.trust_remote_code))


def answers_of(
    run: Run, task: Task, card: Card, train: Sequence[Example], train_hash: str, folder: Path, accelerator: Accelerator
) -> Answers:
    """The run's answers to train, read from ``folder`` where it answered before, else predicted and written there."""
    key = {"teacher": str(run.folder), "model": run.weights, "train": train_hash}
    path = folder / "train.jsonl"
    if not path.exists() or not (folder / "teacher.json").exists() or read_json(folder / "teacher.json") != key:
        system = load_system(task, run.source, task.head(card), run.options, accelerator)
        predictions = system.predict(train, "the teacher answers train")
        if accelerator.is_main_process:
            _write(folder, key, predictions)
        accelerator.wait_for_everyone()
    return Answers(str(run.folder), read_predictions(path, card), card.labels)


def _write(folder: Path, key: Mapping[str, str], predictions: Sequence[Prediction]) -> None:
    write_lines(folder / "train.jsonl", (prediction.to_json() for prediction in predictions))
    write_json(folder / "teacher.json", key)


@dataclass(frozen=True)
class Reading:
    """How the student reads train: its tokenizer and geometry, and what that makes of the examples."""

    student: str
    encoding: Encoding
    encoded: Encoded


def reading_of(
    student: Source, task: Task, card: Card, train: Sequence[Example], options: Mapping[str, Any]
) -> Reading:
    """What a student will read of train."""
    encoding = encoding_of(load_tokenizer(student, options["max_length"]), task.head(card), options)
    return Reading(student.name, encoding, task.encode(train, encoding))


def store_of(
    run: Run,
    task: Task,
    reading: Reading,
    wanted: Hidden,
    shapes: tuple[Shape, Shape],
    folder: Path,
    accelerator: Accelerator,
    *,
    given: Path | None,
) -> Store:
    """The teacher's outputs of the windows that the student reads; ``shapes`` are the student's and the teacher's.

    Those of ``given`` where that is not None, else those of ``folder``, computed where they lack. Refused where the two
    tokenizers differ: outputs are compared token by token.
    """
    if tokenizer_hash(load_tokenizer(run.source, 0)) != tokenizer_hash(reading.encoding.tokenizer):
        what = "states" if wanted else "starts and ends"
        raise Refused(
            f"{reading.student}: its tokenizer is not the one of {run.folder}, and {what} are compared token by token; "
            "make a student of the teacher's layers (--layers) or give one with the same tokenizer"
        )
    taps = hidden.taps(wanted, *shapes) if wanted else ()
    tensors = [tap.name for tap in taps] + ([LOGITS] if run.card.kind == "span" else [])
    windows = reading.encoded.flat()
    key = store.key_of(reading.encoding, windows, teacher=run.weights, tensors=tensors)
    if given is not None:
        return store.open_store(given, key, windows)
    if accelerator.is_main_process:
        model = replica(accelerator, tapped.teacher(load_model(task.model, run.source), taps))

        def outputs(batch: Batch) -> dict[str, Tensor]:
            found, read = model(**batch.to(accelerator.device).inputs)
            return {**read, LOGITS: task.logits(found)} if LOGITS in tensors else dict(read)

        padded = partial(
            collate, pad_id=pad_id(reading.encoding), pad_type=reading.encoding.tokenizer.pad_token_type_id
        )
        with progress("the teacher reads train", len(windows), "windows") as advance:
            store.fill(folder, key, windows, padded, outputs, advance)
    accelerator.wait_for_everyone()
    return store.open_store(folder, key, windows)


def decoded(run: Run, task: Task, train: Sequence[Example], reading: Reading, kept: Store) -> Answers:
    """The teacher's answers that its stored start and end logits come to."""
    rows = range(len(reading.encoded.flat()))
    logits = [kept.read(LOGITS, row).numpy() for row in rows]
    predictions = task.decode(train, reading.encoded, logits, task.head(run.card))
    return Answers(str(run.folder), predictions, ())
