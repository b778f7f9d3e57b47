"""What is compared: one card, gold by data set, and systems that answer the same questions by the same rules.

A system is a run folder, a folder of several seeds (seed-1/, seed-2/, …: its members), or a predictions file of any
system. What is not alike is refused: gold by its content, labels, how answers are normalised, the card's version.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.eval.comparison.seeds import members_of
from heldout.eval.own_slices import scored_card
from heldout.eval.run_data import DEV, names_of, read_answers
from heldout.eval.spans import second_rules
from heldout.ledger import read_ledger
from heldout.records import Card, Example, Prediction, content_hash, goldless, read_card, read_gold

Predictions = tuple[Prediction, ...]


@dataclass(frozen=True)
class Gold:
    """The examples of a data set with their content hash and the folder or file they were first read from."""

    examples: tuple[Example, ...]
    hash: str
    source: str


@dataclass(frozen=True)
class Contender:
    """A system: its name and the predictions of each member by data set, in gold's order.

    seeds: the names of its members, empty for a single run. fitted: by data set, what was fitted on it.
    """

    name: str
    members: tuple[Mapping[str, Predictions], ...]
    seeds: tuple[str, ...] = ()
    fitted: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def has(self, data: str) -> bool:
        """Whether every member answers this data set."""
        return all(data in member for member in self.members)


@dataclass(frozen=True)
class Contest:
    """Systems to compare, the first the reference, on the data sets that it shares with another one."""

    card: Card
    golds: Mapping[str, Gold]
    systems: tuple[Contender, ...]
    notes: tuple[str, ...] = ()


class _Reader:
    """Reads run folders that must be alike; a gold file that is the same to the byte is read once."""

    def __init__(self, data: str | None) -> None:
        self.data = data
        self.card: Card | None = None
        self.first = ""
        self.golds: dict[str, Gold] = {}
        self.notes: list[str] = []
        self._read: dict[bytes, Gold] = {}

    def contender(self, name: str, folder: Path) -> Contender:
        """The system of a run folder or of a folder of seeds."""
        folders = members_of(folder)
        members: list[dict[str, Predictions]] = []
        fitted: dict[str, list[str]] = {}
        for member in folders:
            card = scored_card(member)
            names = [self.data] if self.data else [n for n in names_of(member) if n != DEV]
            members.append({n: self._answers(member, n, card) for n in names})
            ledger = read_ledger(member) if (member / "ledger.json").exists() else None
            fitted |= {n: ledger.fitted_on(self.golds[n].hash, n) for n in names if ledger}
        seeds = () if folders == [folder] else tuple(path.name for path in folders)
        return Contender(name, tuple(members), seeds, fitted)

    def _answers(self, folder: Path, name: str, card: Card) -> Predictions:
        path = folder / "gold" / f"{name}.jsonl"
        if not path.exists():
            raise Refused(f"{folder}: has no data set {name!r}; it has {', '.join(names_of(folder))}")
        gold = self._gold(path, card)
        if self.card is None:
            self.card, self.first = card, str(folder)
        refuse_unlike(self.card, card, self.first, str(folder), gold.examples)
        known = self.golds.setdefault(name, gold)
        if known.hash != gold.hash:
            raise Refused(
                f"{path}: its content hash is {_short(gold)} and that of {known.source} is {_short(known)}; "
                "only answers to the same texts with the same gold can be compared"
            )
        moved = sum(a.about != b.about for a, b in zip(known.examples, gold.examples, strict=True))
        if moved:
            # Whether a text stands in train depends on whose train it is.
            note = f"{name}: {moved} examples are described otherwise by {folder}; slices are cut by {known.source}."
            self.notes.append(note)
        answers = read_answers(known.examples, path, folder / "predictions" / f"{name}.jsonl", card)
        return aligned_scores(answers, card, self.card)

    def _gold(self, path: Path, card: Card) -> Gold:
        digest = sha256(path.read_bytes()).digest()
        if digest not in self._read:
            examples = tuple(read_gold(path, card))
            if self.data and goldless(examples):
                raise Refused(
                    f"{path}: has no gold to compare systems by; heldout score tells what changes did to each"
                )
            self._read[digest] = Gold(examples, content_hash(examples), str(path))
        return self._read[digest]


def read_seeds(folder: Path, data: str | None) -> Contest:
    """A folder of seeds alone: the test sets that every member answers, or the one named."""
    reader = _Reader(data)
    system = reader.contender(folder.resolve().name, folder)
    assert reader.card is not None
    golds = {name: gold for name, gold in _with_gold(reader.golds).items() if system.has(name)}
    return Contest(reader.card, golds, (system,), tuple(reader.notes))


def read_contest(
    folders: Mapping[str, Path], foreign: Mapping[str, Path], data: str | None, files: tuple[Path, Path] | None
) -> Contest:
    """Systems by name: run folders, then predictions files of other systems.

    ``files`` are (card, gold) where there is no run folder; predictions files beside run folders answer the data set
    ``data`` of the first. Refused where there are not two systems, or they are not alike.
    """
    reader = _Reader(data)
    systems = [reader.contender(name, folder) for name, folder in folders.items()]
    if files is not None:
        reader.card = read_card(files[0])
        examples = tuple(read_gold(files[1], reader.card))
        reader.golds = {data or files[1].stem: Gold(examples, content_hash(examples), str(files[1]))}
    assert reader.card is not None
    if foreign:
        systems += _foreign(foreign, reader)
    if len(systems) < 2:
        raise Refused("compare needs two systems or more: the reference first, then what is set against it")
    shared, notes = _shared(_with_gold(reader.golds), systems)
    return Contest(reader.card, shared, tuple(systems), (*reader.notes, *notes))


def _with_gold(golds: Mapping[str, Gold]) -> dict[str, Gold]:
    """The data sets that have gold: what changes did to the others is told by each system's scores."""
    return {name: gold for name, gold in golds.items() if not goldless(gold.examples)}


def _foreign(foreign: Mapping[str, Path], reader: _Reader) -> list[Contender]:
    if len(reader.golds) != 1:
        raise Refused(
            f"--predictions answers one data set: choose it with --data; there are {', '.join(sorted(reader.golds))}"
        )
    assert reader.card is not None
    (name, gold), card = next(iter(reader.golds.items())), reader.card
    return [
        Contender(system, ({name: tuple(read_answers(gold.examples, Path(gold.source), path, card))},))
        for system, path in foreign.items()
    ]


def _shared(golds: Mapping[str, Gold], systems: Sequence[Contender]) -> tuple[dict[str, Gold], list[str]]:
    """The data sets that the reference and another system answer, and a note for each that is left out."""
    reference, *others = systems
    shared = {n: gold for n, gold in golds.items() if reference.has(n) and any(other.has(n) for other in others)}
    if not shared:
        raise Refused(f"{reference.name} answers no data set that another system answers; heldout predict adds one")
    notes = [
        f"{name}: not compared with {system.name}, which has no predictions on it."
        for name in golds
        for system in systems
        if not system.has(name)
    ]
    return shared, notes


def refuse_unlike(one: Card, other: Card, first: str, second: str, gold: Sequence[Example]) -> None:
    """Refused naming what of two cards is not alike, with both values."""
    facts: dict[str, tuple[Any, Any]] = {
        "kind of answer": (one.kind, other.kind),
        "set of labels": (sorted(one.labels), sorted(other.labels)),
        "way to normalise answers": (_normaliser(one, gold), _normaliser(other, gold)),
        "card": (one.name, other.name),
        "card version": (one.version, other.version),
        "collapse of labels": (dict(one.collapse), dict(other.collapse)),
    }
    for what, (a, b) in facts.items():
        if a != b:
            raise Refused(f"{second}: its {what} is {b}, and that of {first} is {a}; only like can be compared")


def _normaliser(card: Card, gold: Sequence[Example]) -> str:
    return "" if card.kind != "span" else f"SQuAD {'2.0' if second_rules(card, gold) else '1.1'}"


def aligned_scores(predictions: Sequence[Prediction], card: Card, wanted: Card) -> Predictions:
    """The predictions with their scores in the order of another card's labels; labels are matched by name."""
    if card.labels == wanted.labels or card.kind not in ("label", "tags"):
        return tuple(predictions)
    places = [card.labels.index(label) for label in wanted.labels]

    def moved(scores: Any) -> Any:
        if scores is None:
            return None
        return [[p[k] for k in places] for p in scores] if card.kind == "tags" else [scores[k] for k in places]

    return tuple(replace(prediction, scores=moved(prediction.scores)) for prediction in predictions)


def _short(gold: Gold) -> str:
    return f"{gold.hash[:12]} ({len(gold.examples)} examples)"
