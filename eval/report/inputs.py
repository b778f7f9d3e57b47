"""What a report is made of, read from run folders: one card, the test sets, the systems with their records.

A run brings its RUN/baselines/* with it, a distillation its RUN/controls/*; a folder of several seeds brings its
seed-*/ children.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.eval import own_slices
from heldout.eval.report.fresh import Say, Scores, fits_of, fresh_scores, read_object
from heldout.eval.run_data import DEV, read_answers
from heldout.eval.statistics import REPLICATES
from heldout.eval.table import BINS, Table
from heldout.eval.tabulate import tabulate
from heldout.fits import Fit
from heldout.ledger import Ledger, read_ledger
from heldout.records import Card, Example, Prediction, content_hash, goldless, read_gold

#: Baselines whose folder name is not what people call them.
BASELINE_NAMES = {"tfidf": "tf-idf", "tf_idf": "tf-idf"}


def quiet(words: str) -> None:
    """Tells nobody."""


@dataclass(frozen=True)
class DataSet:
    """A gold file: its name, its examples and their content hash."""

    name: str
    examples: tuple[Example, ...]
    hash: str


@dataclass(frozen=True)
class System:
    """One run folder: what it is called and everything that it recorded. ``predictions`` stand in gold's order."""

    name: str
    folder: Path
    baseline: bool
    options: Mapping[str, Any]
    environment: Mapping[str, Any]
    ledger: Ledger
    fits: Mapping[str, Fit]
    dev: DataSet | None
    predictions: Mapping[str, tuple[Prediction, ...]]
    scores: Mapping[str, Scores]
    seed_of: str = ""


@dataclass(frozen=True)
class Inputs:
    """A report's card, its test sets (the first is in-domain) and its systems: the first given, models, baselines.

    changes: the sets without gold, which only tell what changes of their texts did.
    """

    card: Card
    tests: tuple[DataSet, ...]
    systems: tuple[System, ...]
    changes: tuple[DataSet, ...] = ()
    _tables: dict[tuple[str, str], Table] = field(init=False, default_factory=dict, repr=False, compare=False)

    @property
    def metric(self) -> str:
        """The card's main metric."""
        return self.card.metrics[0]

    @property
    def main(self) -> System:
        """The system that the report is about."""
        return self.systems[0]

    @property
    def baselines(self) -> tuple[System, ...]:
        """The baselines beside the main system."""
        return tuple(s for s in self.systems[1:] if s.baseline)

    def table(self, system: System, data: DataSet) -> Table:
        """A system's predictions on a set that it has predictions on, with the bins of its scores; made once."""
        key = (system.name, data.name)
        if key not in self._tables:
            ece = system.scores.get(data.name, {}).get("metrics", {}).get("ece") or {}
            predictions = system.predictions[data.name]
            self._tables[key] = tabulate(self.card, data.examples, predictions, bins=ece.get("bins", BINS))
        return self._tables[key]


def read_inputs(folders: Sequence[Path], replicates: int = REPLICATES, say: Say = quiet) -> Inputs:
    """Read run folders; Refused where they hold no test set, or answer different cards or texts under one name.

    Scores that are missing or of other records are computed; ``say`` is told of each set first.
    """
    card: Card | None = None
    tests: dict[str, DataSet] = {}
    systems: list[System] = []
    read: dict[bytes, DataSet] = {}
    runs = _runs(folders)
    own_slices.keep([folder for folder, _ in runs], {})
    for folder, seed_of in runs:
        here = own_slices.scored_card(folder)
        card = card or here
        # Which slices are cut says nothing of what is asked: an earlier version's card may lack one.
        unlike = [key for key, value in card.to_json().items() if key != "slices" and here.to_json()[key] != value]
        if unlike:
            raise Refused(
                f"{folder}: its card's {unlike[0]} is {here.to_json()[unlike[0]]!r}, and that of the run before it is "
                f"{card.to_json()[unlike[0]]!r}; report them apart"
            )
        gold = {data.name: data for data in _gold(folder, here, read)}
        for name, data in gold.items():
            if name != DEV and tests.setdefault(name, data).hash != data.hash:
                raise Refused(
                    f"{folder}/gold/{name}.jsonl: holds other examples than the {name} of the run before it; "
                    "report them apart"
                )
        systems.append(_system(folder, here, gold, seed_of, replicates, say))
    if card is None or not tests:
        raise Refused(
            f"{folders[0]}: holds no gold/NAME.jsonl of a test set; give finetune a --test, or run heldout predict"
        )
    ordered = [systems[0], *sorted(systems[1:], key=lambda system: system.baseline)]
    sets = _in_order(tests, ordered[0])
    with_gold = tuple(data for data in sets if not goldless(data.examples))
    if not with_gold:
        raise Refused(f"{folders[0]}: no test set of it has gold; give finetune a --test, or run heldout predict")
    changes = tuple(data for data in sets if goldless(data.examples))
    return Inputs(card, with_gold, tuple(_named_apart(ordered)), changes)


def _runs(folders: Sequence[Path]) -> list[tuple[Path, str]]:
    """Every run folder to read, once, with the folder of seeds it belongs to."""
    found: dict[Path, str] = {}
    for folder in folders:
        if not folder.is_dir():
            raise Refused(f"{folder}: no such run folder")
        children = sorted(folder.glob("seed-*/card.json"), key=lambda path: (len(path.parent.name), path.parent.name))
        for child in children:
            found.setdefault(child.parent, str(folder.resolve()))
        if (folder / "card.json").exists() or not children:
            found.setdefault(folder, "")
        for path in sorted(folder.glob("controls/*/card.json")):
            found.setdefault(path.parent, "")
        # Baselines of the second seed and later would only repeat those of the first.
        homes = [folder, *(child.parent for child in children[:1])]
        for home in homes:
            for path in sorted(home.glob("baselines/*/card.json")):
                found.setdefault(path.parent, "")
    return list(found.items())


def _gold(folder: Path, card: Card, read: dict[bytes, DataSet]) -> list[DataSet]:
    """The gold files of a run. Those of its baselines are most often the same to the byte, and are read once."""
    data = []
    for path in sorted((folder / "gold").glob("*.jsonl")):
        digest = sha256(path.read_bytes()).digest()
        if digest not in read:
            examples = tuple(read_gold(path, card))
            read[digest] = DataSet(path.stem, examples, content_hash(examples))
        data.append(replace(read[digest], name=path.stem))
    return data


def _system(folder: Path, card: Card, gold: Mapping[str, DataSet], seed_of: str, replicates: int, say: Say) -> System:
    options = read_object(folder / "options.json")
    paths = {name: (folder / "gold" / f"{name}.jsonl", folder / "predictions" / f"{name}.jsonl") for name in gold}
    predictions = {
        name: tuple(read_answers(gold[name].examples, *pair, card)) for name, pair in paths.items() if pair[1].exists()
    }
    # First, since scoring fits a temperature and says so in the ledger.
    name = system_name(options, folder)
    examples = {data: split.examples for data, split in gold.items()}
    scores = fresh_scores(
        folder, card, examples, predictions, replicates, lambda data: say(f"scoring {name} on {data}")
    )
    return System(
        name=name,
        folder=folder,
        baseline="kind" in options or folder.parent.name == "baselines",
        options=options,
        environment=read_object(folder / "environment.json"),
        ledger=read_ledger(folder) if (folder / "ledger.json").exists() else Ledger(),
        fits=fits_of(folder),
        dev=gold.get(DEV),
        predictions=predictions,
        scores=scores,
        seed_of=seed_of,
    )


def system_name(options: Mapping[str, Any], folder: Path) -> str:
    """What people call the system: a baseline's or a control's kind, the model's own name, else the folder's."""
    if "control" in options:
        return f"control {options['control']}"
    kind = options.get("kind")
    if isinstance(kind, str):
        return BASELINE_NAMES.get(kind, kind.replace("_", " "))
    parts = [part for part in str(options.get("model") or "").rstrip("/").split("/") if part not in ("", ".", "model")]
    return parts[-1] if parts else folder.resolve().name


def _named_apart(systems: Sequence[System]) -> list[System]:
    """Give systems of one name their folder's name as well, so that every name stands for one system."""
    names = [system.name for system in systems]
    apart = [
        replace(s, name=f"{s.name} ({s.folder.resolve().name})") if names.count(s.name) > 1 else s for s in systems
    ]
    again = [system.name for system in apart]
    return [replace(s, name=f"{s.name} [{k}]") if again.count(s.name) > 1 else s for k, s in enumerate(apart, 1)]


def _in_order(tests: Mapping[str, DataSet], main: System) -> list[DataSet]:
    """The test sets as the main run was given them; those that only other runs have stand last."""
    given = main.options.get("test")
    names = [str(entry).split("=", 1)[0] for entry in given] if isinstance(given, list | tuple) else []
    return [tests[n] for n in names if n in tests] + [tests[n] for n in sorted(tests) if n not in names]
