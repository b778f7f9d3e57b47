"""What distill does before it trains: make the student, hear the teacher, note in the ledger what it was fitted on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from accelerate import Accelerator
from transformers import AutoModel, PreTrainedModel

from heldout.data.fitted import fingerprints, read_fitted, refusal
from heldout.data.prepare import Prepared
from heldout.errors import Refused
from heldout.ledger import Ledger, read_ledger
from heldout.pretrain.frames import single
from heldout.pretrain.model import fresh
from heldout.pretrain.presets import config_of
from heldout.runs import atomic, read_json, write_json
from heldout.train.answers import Answers, read_answers
from heldout.train.distil import Teacher
from heldout.train.models import load_model, load_tokenizer, load_with_fresh_head
from heldout.train.progress import say
from heldout.train.students import make
from heldout.train.task import Task
from heldout.train.teacher import Run, answers_of, decoded, reading_of, shape_at, store_of, weights_hash
from heldout.train.untrusted import Source

#: What a distillation writes beside a run's own files: where the student and the teacher come from, what was swept.
NOTES = "distillation.json"


@dataclass(frozen=True)
class Work:
    """What the runs of one call share."""

    out: Path
    options: Any
    task: Task
    prepared: Prepared
    run: Run | None
    accelerator: Accelerator

    def note(self, name: str, value: Any) -> None:
        """Write something down in RUN/distillation.json."""
        if self.accelerator.is_main_process:
            write_json(self.out / NOTES, {**self.noted(), name: value})

    def noted(self) -> Mapping[str, Any]:
        """What was written down."""
        path = self.out / NOTES
        found: Mapping[str, Any] = read_json(path) if path.exists() else {}
        return found


def students(work: Work) -> dict[str, str]:
    """The models that students begin with, by name: "student", and "pretrained-student" where both are asked for.

    Those of the teacher's layers are made once, in RUN/NAME; which layers is said, and noted.
    """
    options = work.options
    if options.student or work.run is None:
        return {"student": str(options.student)}
    if options.preset:
        return {"student": _fresh(work, work.run)}
    wanted = {"student": "finetuned" if options.layers_from == "both" else options.layers_from}
    if options.layers_from == "both":
        wanted["pretrained-student"] = "pretrained"
    for name, origin in wanted.items():
        folder = work.out / name
        if work.accelerator.is_main_process and name not in work.noted():
            # The teacher's own tokenizer for both: outputs are compared token by token.
            tokenizer = load_tokenizer(work.run.source, options.max_length)
            source = work.run.source if origin == "finetuned" else work.run.before
            made = make(folder, _loaded(work, source, origin), tokenizer, options.layers, options.shape)
            say(f"{name}: {source.name}: {made.words}")
            weights = weights_hash(folder)
            work.note(name, {"from": source.name, "layers": list(made.places), "taken": made.words, "weights": weights})
        work.accelerator.wait_for_everyone()
    return {name: str(work.out / name) for name in wanted}


def _fresh(work: Work, run: Run) -> str:
    """A student of fresh weights in RUN/student, with the teacher's tokenizer."""
    folder, options = work.out / "student", work.options
    if work.accelerator.is_main_process and "student" not in work.noted():
        tokenizer = load_tokenizer(run.source, options.max_length)
        shape = (tokenizer, single(tokenizer), options.max_length, (0.1, 0.1))
        body: Any = fresh("mlm", config_of("mlm", options.preset, *shape), options.seed).base_model
        with atomic(folder) as temporary:
            body.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)
        work.note("student", {"from": f"preset {options.preset}, fresh", "weights": weights_hash(folder)})
    work.accelerator.wait_for_everyone()
    return str(folder)


def _loaded(work: Work, source: Source, origin: str) -> PreTrainedModel:
    if origin == "finetuned":
        return load_model(work.task.model, source)
    return load_with_fresh_head(AutoModel, source, seed=work.options.seed)[0]


def hear(work: Work, student: str) -> Teacher:
    """What the teacher says of train, computed once, then read from disk; Refused where it does not fit the student."""
    options, card, train = work.options, work.prepared.card, work.prepared.splits["train"]
    store = shape = None
    if work.run is None:
        if card.kind == "span":
            raise Refused("--teacher-predictions: answers have no start and end of every token; give --teacher RUN")
        named = Path(options.teacher_card) if options.teacher_card else None
        answers = read_answers(Path(options.teacher_predictions), card, train.examples, named)
    else:
        kept = work.out / "teacher"
        if card.kind == "span" or options.hidden:
            source = Source(student, options.trust_remote_code)
            shape = shape_at(work.run.source)
            reading = reading_of(source, work.task, card, train.examples, vars(options))
            given = Path(options.teacher_store) if options.teacher_store else None
            args = (work.task, reading, options.hidden, (shape_at(source), shape), kept / "windows", work.accelerator)
            store = store_of(work.run, *args, given=given)
        if card.kind == "span" and store is not None:
            answers = decoded(work.run, work.task, train.examples, reading, store)
        else:
            answers = answers_of(work.run, work.task, card, train.examples, train.hash, kept, work.accelerator)
    _tell(work, answers)
    return Teacher(answers, store, shape)


def _tell(work: Work, answers: Answers) -> None:
    train = work.prepared.splits["train"].examples
    agreement = answers.agreement(train)
    notes = {"source": answers.source, "examples": len(train), "agreement": agreement, "unused": answers.unused}
    work.note("teacher", notes | ({"weights": work.run.weights} if work.run else {}))
    if not work.accelerator.is_main_process:
        return
    if answers.unused:
        say(f"{answers.source}: {answers.unused:,} predictions for ids that are not in train are left out")
    if agreement is not None:
        say(f"the teacher gives {agreement:.1%} of train's labels")


def with_teacher(prepared: Prepared, run: Run, *, allow: bool) -> Prepared:
    """The splits with what the teacher was fitted on in the ledger, and how much of dev and tests stands there.

    Refused, unless ``allow``, for a test all of whose texts the teacher was trained or chosen on.
    """
    theirs, ledger = read_ledger(run.folder), prepared.ledger
    for thing, entry in theirs.fitted.items():
        ledger = ledger.with_fitted(f"teacher: {thing}", f"teacher's {entry['split']}", entry["hash"], entry["n"])
    return replace(prepared, ledger=_overlap(prepared, run, ledger, allow=allow))


def _overlap(prepared: Prepared, run: Run, ledger: Ledger, *, allow: bool) -> Ledger:
    for name, split in prepared.splits.items():
        prints = fingerprints(() if name == "train" else split.examples)
        for earlier in read_fitted(run.folder):
            inside = int(np.isin(prints, () if earlier.texts is None else earlier.texts).sum())
            if inside and inside == len(prints) and name != "dev" and not allow:
                where = f"all {inside} of its texts stand in the teacher's {earlier.name}"
                raise refusal(f"--test {name}={split.source}", where)
            if inside and not (name == "dev" and earlier.name == "dev"):
                say(f"{name}: {inside:,} of its {len(prints):,} texts stand in the teacher's {earlier.name}")
            ledger = ledger.with_overlap({f"teacher's {earlier.name}/{name} exact": inside} if len(prints) else {})
    return ledger
