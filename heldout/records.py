"""The records that everything meets in: card, gold, predictions. JSON, a line an example, joined by id.

A gold line and a prediction line of a made-up film review:

    {"id": "r1", "text": {"text": "A dull plot, well acted."}, "gold": "negative", "about": {"group": "film-7"}}
    {"id": "r1", "answer": "negative", "scores": [0.8, 0.2], "seen": {"tokens": 9, "lost": 0}}

``scores`` stand in the order of the card's labels. Any system can be scored: it writes ``id`` and ``answer``.
"""

import gc
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from heldout.answers import GOLD, PREDICTION, tags_card
from heldout.cases import needs_no_gold
from heldout.errors import Refused
from heldout.json_lines import read_lines

#: What a line of kind lm tells beside its id; read, they are its answer.
LM = ("nll", "n", "correct", "next")
Kind = Literal["label", "tags", "span", "lm"]


@dataclass(frozen=True)
class Card:
    """What a data set asks: its kind of answer, its labels in order, its metrics with the main one first."""

    name: str
    version: str
    kind: Kind
    labels: tuple[str, ...]
    metrics: tuple[str, ...]
    slices: tuple[str, ...] = ()
    collapse: Mapping[str, str] = field(default_factory=dict)
    citation: str = ""

    def to_json(self) -> dict[str, Any]:
        """The card as a JSON object."""
        return {
            "name": self.name,
            "version": self.version,
            "kind": self.kind,
            "labels": list(self.labels),
            "metrics": list(self.metrics),
            "slices": list(self.slices),
            "collapse": dict(self.collapse),
            "citation": self.citation,
        }


# Slots: of a million examples and predictions they save 200 MB.
@dataclass(frozen=True, slots=True)
class Example:
    """One gold record: an id unique in its file, the text fields, the gold answer, and what is known about it."""

    id: str
    text: Mapping[str, Any]
    gold: Any
    about: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The example as a line of a gold file."""
        return {"id": self.id, "text": dict(self.text), "gold": self.gold, "about": dict(self.about)}


@dataclass(frozen=True, slots=True)
class Prediction:
    """One system's answer to one example; everything but id and answer is optional."""

    id: str
    answer: Any
    scores: Any = None
    entities: Any = None
    seen: Mapping[str, int] | None = None

    def to_json(self) -> dict[str, Any]:
        """The prediction as a line of a predictions file; what is None is left out."""
        row: dict[str, Any] = {"id": self.id, "answer": self.answer}
        for key in ("scores", "entities", "seen"):
            value = getattr(self, key)
            if value is not None:
                row[key] = value
        return row


def read_card(path: Path) -> Card:
    """Read a card; Refused with the file and the key where one is missing, unknown or of the wrong kind."""
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Refused(f"{path}: no such card; give --card a JSON file (docs/predictions.md shows one)") from None
    except OSError as error:
        raise Refused(f"{path}: the card cannot be read ({error.strerror})") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(f"{path}: the card is not JSON ({error}); docs/predictions.md shows one") from None
    if not isinstance(row, dict):
        raise Refused(f"{path}: the card must be a JSON object; docs/predictions.md shows one")
    known = {"name", "version", "kind", "labels", "metrics", "slices", "collapse", "citation"}
    missing = [key for key in ("name", "kind", "labels", "metrics") if key not in row]
    unknown = sorted(set(row) - known)
    if missing or unknown:
        wrong = f"lacks {', '.join(missing)}" if missing else f"has the unknown key {unknown[0]!r}"
        raise Refused(f"{path}: the card {wrong}; its keys are {', '.join(sorted(known))}")
    if row["kind"] not in get_args(Kind):
        raise Refused(f"{path}: kind {row['kind']!r} is unknown; use one of {', '.join(get_args(Kind))}")
    for key in ("labels", "metrics", "slices"):
        if not isinstance(row.get(key, []), list) or not all(isinstance(value, str) for value in row.get(key, [])):
            raise Refused(f"{path}: {key} must be a list of strings")
    if not row["metrics"]:
        raise Refused(f"{path}: metrics is empty; name at least the main one, such as accuracy")
    collapse = row.get("collapse", {})
    if not isinstance(collapse, dict) or not all(isinstance(value, str) for value in collapse.values()):
        raise Refused(f"{path}: collapse must be an object from label to label")
    if row["kind"] == "label" and (len(row["labels"]) < 2 or len(set(row["labels"])) != len(row["labels"])):
        raise Refused(f"{path}: a card of kind label needs two or more distinct labels, got {row['labels']}")
    if row["kind"] == "tags":
        tags_card(str(path), row["labels"])
    return Card(
        name=str(row["name"]),
        version=str(row.get("version", "1")),
        kind=row["kind"],
        labels=tuple(row["labels"]),
        metrics=tuple(row["metrics"]),
        slices=tuple(row.get("slices", [])),
        collapse=dict(collapse),
        citation=str(row.get("citation", "")),
    )


#: Of a record that tells nothing: a million of their own would take 64 MB. Records are never written to.
NOTHING: Mapping[str, Any] = {}


@contextmanager
def _uncollected() -> Iterator[None]:
    """Python's collector of cycles stands still: records have none, and it would walk through all of them again and
    again while they become more (a million examples: 1.5 of 6 s).
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@_uncollected()
def read_gold(path: Path, card: Card) -> list[Example]:
    """Read a gold file; Refused with the row for a doubled id or a gold that is not of the card's kind.

    Of labels a whole file may have the gold null: changes and their originals (cases.needs_no_gold), which are judged
    by each other. Refused where some of a file's examples have gold and some have none.
    """
    examples, seen, goldless = [], set(), 0
    kept: dict[str, str] = {}  # each label once
    # Gold may use the labels that the card's collapse makes (HANS: non-entailment).
    labels = [*card.labels, *(label for label in card.collapse.values() if label not in card.labels)]
    for number, row in read_lines(path):
        where = f"{path}, line {number}"
        if "gold" not in row:
            raise Refused(f'{where}: no "gold"; a file without gold labels cannot be scored')
        if row["id"] in seen:
            raise Refused(f"{where}: id {row['id']!r} stands here a second time; ids must be unique")
        for key in ("text", "about"):
            if not isinstance(row.get(key, {}), dict):
                raise Refused(f'{where}: "{key}" must be an object of named fields, got {row[key]!r:.40}')
        if row["gold"] is None and card.kind == "label" and needs_no_gold(row.get("about", {})):
            goldless += 1
        elif card.kind in GOLD:
            GOLD[card.kind](where, row, labels)
        seen.add(row["id"])
        gold = kept.setdefault(row["gold"], row["gold"]) if isinstance(row["gold"], str) else row["gold"]
        examples.append(Example(row["id"], row.get("text", {}), gold, row.get("about") or NOTHING))
    if not examples:
        raise Refused(f"{path}: the gold file holds no examples")
    if 0 < goldless < len(examples):
        of = f"{goldless} of its {len(examples)} examples have the gold null"
        raise Refused(f"{path}: {of}; a file has gold for every example or for none: put these into one of their own")
    return examples


def goldless(examples: Sequence[Example]) -> bool:
    """Whether examples have no gold; those of one file have it all or none."""
    return examples[0].gold is None


@_uncollected()
def read_predictions(path: Path, card: Card) -> list[Prediction]:
    """Read a predictions file; Refused with the row for a doubled id, an unknown answer or impossible scores."""
    predictions, seen = [], set()
    # Equal ones are kept once: of a million texts most share how many tokens they have, and all an answer.
    kept: dict[Any, Any] = {}
    for number, row in read_lines(path):
        where = f"{path}, line {number}"
        if "answer" not in row and card.kind != "lm":
            raise Refused(f'{where}: no "answer"')
        if row["id"] in seen:
            raise Refused(f"{where}: id {row['id']!r} is predicted a second time; ids must be unique")
        if card.kind in PREDICTION:
            PREDICTION[card.kind](where, row, card.labels)
        _check_seen(where, row.get("seen"))
        seen.add(row["id"])
        answer = row.get("answer") if card.kind != "lm" else {key: row[key] for key in LM if key in row}
        answer = kept.setdefault(answer, answer) if isinstance(answer, str) else answer
        said = row.get("seen")
        said = None if said is None else kept.setdefault(tuple(said.items()), said)
        predictions.append(Prediction(row["id"], answer, row.get("scores"), row.get("entities"), said))
    return predictions


def _check_seen(where: str, seen: Any) -> None:
    counts = seen.values() if isinstance(seen, dict) else [None]
    if seen is not None and not all(type(count) is int and count >= 0 for count in counts):
        raise Refused(f'{where}: "seen" must be an object of counts, such as {{"tokens": 9, "lost": 0}}')


@_uncollected()
def join(gold: Sequence[Example], predictions: Sequence[Prediction]) -> list[tuple[Example, Prediction]]:
    """Pair gold and predictions by id, in gold's order; Refused naming a missing, doubled or unknown id.

    Likewise an answer of tags that are not one for each word of gold: what was not read is O, and a miss.
    """
    ids = [prediction.id for prediction in predictions]
    ordered = predictions
    # Most often they stand in gold's order: of a million that is seen in a seventh of the time.
    if ids != [example.id for example in gold] or len(set(ids)) < len(ids):
        ordered = _ordered(gold, predictions)
    pairs = list(zip(gold, ordered, strict=True))
    for example, prediction in pairs:
        if isinstance(prediction.answer, list) and len(prediction.answer) != len(example.gold):
            tags = f"{len(prediction.answer)} tags for the {len(example.gold)} words of gold"
            raise Refused(f"id {example.id!r}: {tags}; give every word one, O where it was not read")
    return pairs


def _ordered(gold: Sequence[Example], predictions: Sequence[Prediction]) -> list[Prediction]:
    """The predictions in gold's order."""
    by_id: dict[str, Prediction] = {}
    for prediction in predictions:
        if prediction.id in by_id:
            raise Refused(f"id {prediction.id!r} is predicted twice")
        by_id[prediction.id] = prediction
    wanted = {example.id for example in gold}
    missing = [example.id for example in gold if example.id not in by_id]
    unknown = [prediction.id for prediction in predictions if prediction.id not in wanted]
    if missing:
        raise Refused(f"{len(missing)} of {len(gold)} examples have no prediction; the first is id {missing[0]!r}")
    if unknown:
        raise Refused(f"{len(unknown)} predictions are for ids that gold lacks; the first is id {unknown[0]!r}")
    return [by_id[example.id] for example in gold]


#: One line of JSON in which keys have one order, for hashes. ``json.dumps`` would make an encoder for every line.
canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode


def content_hash(examples: Iterable[Example]) -> str:
    """SHA-256 of ids, texts and gold in order (``about`` left out): equal hashes mean equal questions and answers."""
    digest = hashlib.sha256()
    for example in examples:
        line = canonical([example.id, example.text, example.gold])
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()
