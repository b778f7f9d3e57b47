"""Predict with a trained run on further data, and score what came out.

    heldout predict runs/imdb --data airline=tweets.csv --column text=tweet --label 1=positive

A model/ whose labels have no names takes theirs from the same option: --label LABEL_0=contradiction.

    heldout predict runs/imdb --data negation=suite:negation      test cases; heldout suite list
    heldout predict runs/imdb --data checklist=tests.jsonl.gz --label neutral=-

Changes without a label (CheckList's INV and DIR) are judged by their originals, as a set of their own: NAME-changes.

A run that heldout compress exported answers through onnxruntime: neither torch nor transformers is then imported.

Writes RUN/gold/NAME.jsonl, RUN/predictions/NAME.jsonl and RUN/scores/NAME.json; the model is not changed. Answers are
written in blocks: after a kill the same command goes on behind the last, in the set that it was at. The fits of the run
(its temperature) are shown beside, as for its own test sets. Texts that the run was trained on are marked, and data
that it was trained or chosen on are refused.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from heldout.baselines import answer_later
from heldout.compress.runtime import load_onnx, model_labels
from heldout.data.fitted import compare, read_fitted
from heldout.data.prepare import load, parse_tests
from heldout.data.sources import Loaded, SourceOptions, refuse_idle_labels
from heldout.data.splits import are_cases
from heldout.data.suites.goldless import by_gold
from heldout.errors import Refused
from heldout.eval.behaviour import behaviour
from heldout.eval.run_scores import score_run
from heldout.eval.summary import summary
from heldout.ledger import read_ledger, write_ledger
from heldout.options import REQUIRED, option, positional
from heldout.records import Card, read_card
from heldout.runs import holding, read_json, task_options, write_lines
from heldout.scripts._blocks import begun, files_of, forget, write_answers, written
from heldout.tasks import load_task
from heldout.train.processes import is_main_process, together
from heldout.train.task import Task

#: The options of a run by which its model reads and answers.
READS = ("max_length", "long", "stride", "only", "max_answer")


@dataclass(frozen=True)
class Options(SourceOptions):
    """What ``heldout predict`` takes."""

    folder: str = positional("the run folder whose model/ (or onnx/) answers", metavar="RUN")
    data: tuple[str, ...] = option(REQUIRED, "a set to predict and score; may be given again", metavar="NAME=SOURCE")
    allow_fitted_test: bool = option(False, "score data that was trained or chosen on; the report says so")
    precision: Literal["auto", "fp32", "bf16"] = option("auto", "auto is bf16 where the hardware multiplies it")
    seed: int = option(1, "draws the sample of --limit")
    json: bool = option(False, "print the scores as JSON")


@dataclass(frozen=True)
class Work:
    """What a call answers, read and checked: each set with the overlap that its ledger notes, and its answers' key."""

    folder: Path
    card: Card
    made: dict[str, Any]
    renamed: dict[str, str]
    sets: Mapping[str, tuple[Loaded, dict[str, int]]]
    keys: Mapping[str, dict[str, Any]]

    @property
    def exported(self) -> bool:
        """Whether onnxruntime answers."""
        return (self.folder / "onnx").is_dir()


def run(options: Options) -> int:
    """Load the system once, then predict and score each set."""
    # Everything is read before the folder is touched: a refusal leaves the run as it was.
    work = _read(options)
    system = _system(work, options.precision)
    systems, main = [work.folder], is_main_process()
    with together("give the command again"), holding(work.folder) if main else nullcontext():
        for name in work.sets:
            systems += _answer(work, name, system, main=main)
        for name in work.sets if main else ():
            forget(_predictions(work.folder, name))
    if main:
        _print(work, list(dict.fromkeys(systems)), as_json=options.json)
    return 0


def _read(options: Options) -> Work:
    """The sets of the call; Refused where the run or a set is not what can be answered."""
    folder = Path(options.folder)
    exported = (folder / "onnx").is_dir()
    if not exported and not (folder / "model").is_dir():
        raise Refused(f"{folder}: holds no model/ or onnx/; give a run folder that heldout finetune has finished")
    card, made = read_card(folder / "card.json"), task_options(folder)
    data = parse_tests(options.data, "--data")
    _refuse_scored(folder, [name for name in data if not begun(_predictions(folder, name))])
    labels = [*card.labels, *card.collapse.values()]
    shared: dict[str, Any] = {"limit": options.limit, "seed": options.seed, "goldless": True}
    loaded = by_gold(
        {
            name: load(made["task"], source, options, name=name, names=list(data), labels=labels, **shared)
            for name, source in data.items()
        }
    )
    own = model_labels(folder / "onnx") if exported else _torch_labels(folder, made)
    renamed = _renamed(options.label, own, card)
    refuse_idle_labels([value for value in options.label if value.rpartition("=")[0] not in renamed], loaded)
    fitted = read_fitted(folder)
    sets = {name: compare(name, loaded[name], fitted, allow=options.allow_fitted_test) for name in loaded}
    decides = _decides(folder / ("onnx" if exported else "model"), made, [own, renamed, card.labels], options)
    keys = {name: {"data": split.hash, **decides} for name, (split, _) in sets.items()}
    # Before the processes meet: none of them sees what the main one writes from here on.
    _refuse_scored(folder, [name for name, key in keys.items() if not written(_predictions(folder, name), key)])
    return Work(folder, card, made, renamed, sets, keys)


def _system(work: Work, precision: Any) -> Any:
    task = load_task(work.made["task"], work.card)
    if work.exported:
        return load_onnx(work.folder / "onnx", task, work.card, work.made, work.renamed)
    return _torch_system(work.folder, task, work.card, work.made, precision, work.renamed)


def _answer(work: Work, name: str, system: Any, *, main: bool) -> list[Path]:
    """Answer and score a set; the folders of the baselines that answered it too."""
    folder, (split, overlap) = work.folder, work.sets[name]
    if main:
        write_lines(folder / "gold" / f"{name}.jsonl", (example.to_json() for example in split.examples))
    path = _predictions(folder, name)
    write_answers(path, system, split.examples, f"predicting {name}", key=work.keys[name], main=main)
    if not main:
        return []
    if not (folder / "scores" / f"{name}.json").exists():
        write_ledger(folder, read_ledger(folder).with_split(name, split.split()).with_overlap(overlap))
        score_run(folder, name)
    # How easy test cases are shows beside what needs no model.
    beside = answer_later(folder, name, split.examples) if are_cases(split.examples) else []
    return [folder / "baselines" / kind for kind in beside]


def _print(work: Work, systems: Sequence[Path], *, as_json: bool) -> None:
    scores = {name: read_json(work.folder / "scores" / f"{name}.json") for name in work.sets}
    if as_json:
        print(json.dumps(scores, indent=2))
        return
    told = [[f"{name}, by phenomenon:", *lines] for name in scores if (lines := behaviour(scores[name]))]
    print("\n\n".join([*map("\n".join, told), summary(systems, list(scores))]))


def _predictions(folder: Path, name: str) -> Path:
    return folder / "predictions" / f"{name}.jsonl"


def _decides(model: Path, made: Mapping[str, Any], labels: Sequence[Any], options: Options) -> dict[str, Any]:
    """All that decides an answer beside the data: answers under another of these are not gone on with."""
    precision = "onnx"
    if model.name != "onnx":
        from heldout.train.precision import resolve

        # What auto is on another machine may be something else.
        precision = resolve(options.precision)[0]
    reads = {name: made.get(name) for name in READS}
    return {"model": files_of(model), "labels": labels, "reads": reads, "precision": precision}


def _refuse_scored(folder: Path, names: Iterable[str]) -> None:
    """Refused for sets that have scores; ``names`` leaves out those that this command made before it was killed."""
    taken = [name for name in names if (folder / "scores" / f"{name}.json").exists()]
    if taken:
        raise Refused(f"{folder}: has scores for {taken[0]!r} already; give this set another name")


def _torch_labels(folder: Path, made: dict[str, Any]) -> list[str]:
    from heldout.train.models import config_labels
    from heldout.train.untrusted import Source

    return config_labels(Source(str(folder / "model"), made["trust_remote_code"]))


def _torch_system(
    folder: Path, task: Task, card: Card, made: dict[str, Any], precision: Any, renamed: dict[str, str]
) -> Any:
    """The run's model/; torch is imported here, not above: an exported run needs none."""
    from heldout.train.precision import make_accelerator, resolve
    from heldout.train.system import load_system
    from heldout.train.untrusted import Source

    source = Source(str(folder / "model"), made["trust_remote_code"])
    return load_system(task, source, task.head(card), made, make_accelerator(resolve(precision)[0]), renamed)


def _renamed(values: Sequence[str], own: Sequence[str], card: Card) -> dict[str, str]:
    """The --label values that name a label of the model, and not one of the card's."""
    said = {left: right for left, _, right in (value.rpartition("=") for value in values)}
    return {left: right for left, right in said.items() if left in own and left not in card.labels}
