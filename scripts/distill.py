"""Distil a run into a smaller student, beside the controls that show what the teacher gave, and score them all.

    heldout distill sentiment --teacher runs/imdb --layers 3 --train stanfordnlp/imdb:train \\
        --test imdb=stanfordnlp/imdb:test --out runs/imdb-3
    heldout distill nli --teacher-predictions any.jsonl --student google/bert_uncased_L-4_H-256_A-4 \\
        --train snli.jsonl --out runs/small

The loss is α · task + (1 − α) · T² · KL(teacher ‖ student), and with --hidden one on the layers' states. What the
teacher says of train is computed once and kept in RUN/teacher/. RUN/controls/plain is the same student without a
teacher, RUN/controls/hard with the teacher's answers as labels: the same first weights, the same steps. --alpha 0
needs no labels: rows of --train that have none are then used too (give --dev). --sweep trains every point under
RUN/sweep/ and chooses on dev. A killed run continues with the same command and --resume.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.data import task_names
from heldout.data.prepare import Prepared, PrepareOptions, parse_tests, prepare
from heldout.errors import Refused
from heldout.eval import metrics
from heldout.eval.summary import summary
from heldout.ledger import read_ledger, write_ledger
from heldout.options import REQUIRED, option, positional, to_json
from heldout.pretrain.options import Preset
from heldout.records import Example, Prediction, read_card
from heldout.runs import read_json, refuse_taken, write_json
from heldout.scripts._long import held, resume_hint, same_options, stoppable
from heldout.tasks import load_task
from heldout.train.distil_options import DistilOptions, grid, named
from heldout.train.options import FitOptions, ReadOptions
from heldout.train.processes import is_main_process
from heldout.train.progress import say

if TYPE_CHECKING:
    from heldout.scripts._taught import Work
    from heldout.train.distil import Distillation, Teacher
    from heldout.train.finetune import Setup
    from heldout.train.teacher import Run


@dataclass(frozen=True)
class Options(PrepareOptions, DistilOptions):
    """What ``heldout distill`` takes."""

    preset: Preset | None = option(None, "a student of fresh weights, of this size, with the teacher's tokenizer")
    task: str = positional(f"what the teacher knows: {', '.join(task_names())}")
    train: tuple[str, ...] = option(REQUIRED, "the examples to learn from; again for more", metavar="SOURCE")
    dev: str | None = option(None, "the split to choose on; carved from train where not given", metavar="SOURCE")
    test: tuple[str, ...] = option((), "a set to score; again for a shifted domain", metavar="NAME=SOURCE")
    out: str = option(REQUIRED, "the run folder to write", metavar="RUN")
    seed: int = option(1, "draws the dev split, the order of examples, a new head, projections, dropout")
    resume: bool = option(False, "continue a run that was stopped or killed, from its last checkpoint")
    json: bool = option(False, "print the scores as JSON")


@dataclass(frozen=True)
class One:
    """One run of a distillation: its folder, the student it begins with, who teaches it, and train's examples.

    ``noted`` is what its options.json says beside the call's options.
    """

    folder: Path
    student: str
    teach: Callable[[Setup], Setup]
    train: Sequence[Example]
    noted: dict[str, Any]


def run(options: Options) -> int:
    """Prepare the splits and the student, hear the teacher, train, then the controls; print what came out."""
    from heldout.scripts._taught import NOTES, Work, hear, students
    from heldout.train.precision import make_accelerator, resolve
    from heldout.train.teacher import open_run

    out = Path(options.out)
    if is_main_process():
        same_options(out, options) if options.resume else refuse_taken(out)
    if sum(map(bool, (options.student, options.layers, options.preset))) != 1:
        raise Refused("give one student: --student MODEL, --layers 3 for some of the teacher's own, or --preset mini")
    load_task(options.task)
    points = [(point, replace(options, **point)) for point in grid(options.sweep)]
    taught = open_run(Path(options.teacher), options.task) if options.teacher else None
    prepared = _prepare(options, taught, [options, *(swept for _, swept in points)])
    with stoppable(resume_hint("distill")), held(out, resume=options.resume):
        if is_main_process() and not (options.resume and (out / "options.json").exists()):
            # The teacher may take long: a run that is stopped before its first step knows its options too.
            write_json(out / "options.json", to_json(options))
            (out / NOTES).unlink(missing_ok=True)
        accelerator = make_accelerator(resolve(options.precision)[0])
        work = Work(out, options, load_task(options.task, prepared.card), prepared, taught, accelerator)
        models = students(work)
        teacher = hear(work, models["student"])
        chosen = _chosen(work, teacher, models, points) if points else options
        folders = _train(work, _runs(work, teacher, models, chosen))
        if points and is_main_process():
            _note_sweep(out, prepared, len(points))
    if is_main_process():
        _print(options, taught, folders)
    return 0


def _prepare(options: Options, taught: Run | None, all_options: Sequence[Options]) -> Prepared:
    """The splits; rows without a label are kept where nothing learns from labels."""
    from heldout.scripts._taught import with_teacher
    from heldout.train.teacher import check_card

    card = taught.card if taught else read_card(Path(options.teacher_card)) if options.teacher_card else None
    unlabelled = card is not None and all(each.alpha == 0 for each in all_options)
    prepared = prepare(
        options.task,
        train=options.train,
        dev=options.dev,
        tests=parse_tests(options.test),
        options=options,
        seed=options.seed,
        card=card if unlabelled else None,
        unlabelled=unlabelled,
    )
    if taught is None:
        return prepared
    check_card(taught, prepared.card)
    return with_teacher(prepared, taught, allow=options.allow_fitted_test)


def _runs(work: Work, teacher: Teacher, models: dict[str, str], options: Options) -> list[One]:
    """The student, then its controls."""
    from heldout.train.finetune import untaught

    taught, controls = _distillation(work, teacher, options), work.out / "controls"
    train = work.prepared.splits["train"].examples
    runs = [One(work.out, models["student"], taught, train, {})]
    if "pretrained-student" in models:
        student = models["pretrained-student"]
        runs.append(One(controls / "pretrained", student, taught, train, {"control": "pretrained"}))
    if not options.controls:
        return runs
    if all(example.gold is not None for example in train):
        for name, student in models.items():
            folder = controls / ("plain" if name == "student" else "pretrained-plain")
            runs.append(One(folder, student, untaught, train, {"control": folder.name, "alpha": 1.0}))
    elif is_main_process():
        say("control plain left out: train has rows without a label")
    hard = [
        replace(example, gold=_gold(prediction))
        for example, prediction in zip(train, teacher.answers.predictions, strict=True)
    ]
    noted = {"control": "hard", "alpha": 1.0}
    return [*runs, One(controls / "hard", models["student"], untaught, hard, noted)]


def _distillation(work: Work, teacher: Teacher, options: Options) -> Distillation:
    from heldout.train.distil import Distillation, Mix

    mix = Mix(options.alpha, options.temperature, options.hidden, options.hidden_weight)
    return Distillation(work.task, work.prepared.card.kind, mix, teacher, options.seed)


def _gold(prediction: Prediction) -> Any:
    """A teacher's answer as gold has it."""
    if not isinstance(prediction.scores, dict):
        return prediction.answer
    best = prediction.scores["best"]
    return [{"text": best["text"], "start": best["start"]}] if prediction.answer else []


def _train(work: Work, runs: Sequence[One], *, prepared: Prepared | None = None) -> list[Path]:
    """Train, predict and score every run; those that are done already are left as they are."""
    for one in runs:
        if one.folder == work.out:
            _fit(work, one, prepared or work.prepared)
            continue
        if is_main_process():
            say(f"{one.folder.relative_to(work.out)}")
        with held(one.folder, resume=True):
            _fit(work, one, prepared or work.prepared)
    return [one.folder for one in runs]


def _fit(work: Work, one: One, prepared: Prepared) -> None:
    from heldout.scripts._fit import fit
    from heldout.train.finetune import Job

    options, splits = work.options, prepared.splits
    read = {field.name: getattr(options, field.name) for field in dataclasses.fields(ReadOptions)}
    job = Job(
        folder=one.folder,
        task=work.task,
        card=prepared.card,
        train=one.train,
        train_hash=splits["train"].hash,
        dev=splits["dev"].examples,
        dev_hash=splits["dev"].hash,
        options=FitOptions(**read, model=one.student),
        seed=options.seed,
        resume_hint=resume_hint("distill"),
        teach=one.teach,
    )
    said = to_json(options) | {"resume": False, "json": False, "model": one.student} | one.noted
    fit(job, said, prepared)


def _chosen(
    work: Work, teacher: Teacher, models: dict[str, str], points: Sequence[tuple[dict[str, Any], Options]]
) -> Options:
    """Train every point of the grid on train, and take the one that is best on dev, of equals the first."""
    from heldout.scripts._fit import without_tests

    main, prepared = metrics.find(work.prepared.card.metrics[0]), without_tests(work.prepared)
    train, folder = work.prepared.splits["train"].examples, work.out / "sweep"
    runs = [
        One(folder / named(point), models["student"], _distillation(work, teacher, options), train, point)
        for point, options in points
    ]
    _train(work, runs, prepared=prepared)
    work.accelerator.wait_for_everyone()
    values = [read_json(one.folder / "scores" / "dev.json")["metrics"][main.name]["value"] for one in runs]
    best = (max if main.higher_is_better else min)(range(len(values)), key=values.__getitem__)
    rows = [{**point, main.name: value} for (point, _), value in zip(points, values, strict=True)]
    work.note("sweep", {"metric": main.name, "points": rows, "chosen": points[best][0]})
    if is_main_process():
        say(f"the best of {len(points)} by dev {main.name}: {named(points[best][0])} ({values[best]:.4f})")
    return points[best][1]


def _note_sweep(out: Path, prepared: Prepared, points: int) -> None:
    from heldout.scripts._taught import NOTES

    dev = prepared.splits["dev"]
    thing = f"{', '.join(read_json(out / NOTES)['sweep']['chosen'])}: the best of {points}"
    write_ledger(out, read_ledger(out).with_fitted(thing, "dev", dev.hash, len(dev.examples)))


def _print(options: Options, taught: Run | None, folders: Sequence[Path]) -> None:
    tests = list(parse_tests(options.test)) or ["dev"]
    if options.json:
        rows = {f.name: {name: read_json(f / "scores" / f"{name}.json") for name in tests} for f in folders}
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    teachers = [taught.folder] if taught and _same_gold(taught.folder, folders[0], tests) else []
    print(summary([*teachers, *folders], tests))
    for teacher in teachers:
        for name in tests:
            print(_kept(teacher, folders[0], name))
    print(f"\nthe whole story: heldout report {' '.join(map(str, [*folders[:1], *teachers]))}")


def _same_gold(teacher: Path, student: Path, tests: Sequence[str]) -> bool:
    """Whether the teacher was scored on the very same sets."""
    paths = [(folder / "scores" / f"{name}.json") for name in tests for folder in (teacher, student)]
    if not all(path.exists() for path in paths):
        return False
    hashes = [read_json(path)["gold_hash"] for path in paths]
    return hashes[::2] == hashes[1::2]


def _kept(teacher: Path, student: Path, name: str) -> str:
    """How much of the teacher's main metric the student keeps, in a line."""
    (main, theirs), (_, mine) = (
        next(iter(read_json(folder / "scores" / f"{name}.json")["metrics"].items())) for folder in (teacher, student)
    )
    share = mine["value"] / theirs["value"] if theirs["value"] else float("nan")
    values = f"{mine['value']:.3f} of {theirs['value']:.3f}"
    return f"{name}: the student keeps {share:.1%} of the teacher's {main} ({values})"
