"""The model card: RUN/README.md in the hub's format (Mitchell et al. 2019), with the measured results in its metadata.

It is made from the files of a run folder alone: options, ledger, scores. finetune, pretrain, score and report write it
anew whenever they have scores, so that it never says other numbers than scores/. It stands beside model/, which never
changes once it is there; to push both: ``hf upload ORG/NAME RUN/model .`` and ``hf upload ORG/NAME RUN/README.md``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.eval.card.text import text_of
from heldout.eval.card.yaml import dump
from heldout.eval.metrics import find
from heldout.eval.report.fresh import read_object
from heldout.eval.report.inputs import system_name
from heldout.eval.report.wording import bounded, title
from heldout.eval.run_data import DEV
from heldout.ledger import Ledger, read_ledger
from heldout.records import Card, read_card
from heldout.runs import atomic

#: What the hub calls the work of a kind of card.
PIPELINES = {"label": "text-classification", "tags": "token-classification", "span": "question-answering"}
OBJECTIVES = {"mlm": "fill-mask", "mlm-nsp": "fill-mask", "clm": "text-generation"}
#: A name on the hub, and a data set there as a SOURCE names it: org/name@config:split.
HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
HUB_SOURCE = re.compile(rf"({HUB.pattern})(@[^:]+)?:[^:/]+")


@dataclass(frozen=True)
class Measured:
    """What a card is made from: the records of a run, {test set: scores}, and the same of the baseline that is best on
    dev, with its name.
    """

    name: str
    card: Card
    options: Mapping[str, Any]
    environment: Mapping[str, Any]
    ledger: Ledger
    scores: Mapping[str, Mapping[str, Any]]
    best: tuple[str, Mapping[str, Mapping[str, Any]]] | None = None

    @property
    def tests(self) -> list[str]:
        """The scored test sets, as the run was given them, then those that were predicted later."""
        given = self.options.get("test")
        first = [str(entry).split("=", 1)[0] for entry in given] if isinstance(given, list | tuple) else []
        names = [name for name in self.scores if name != DEV]
        return [*(n for n in dict.fromkeys(first) if n in names), *(n for n in names if n not in first)]


def write_card(folder: Path) -> Path | None:
    """Write RUN/README.md from the run's files; None where nothing is scored yet, or the run holds no model (a
    baseline, another system's records).
    """
    scores = _scores(folder)
    if not any(name != DEV for name in scores) or not any((folder / name).is_dir() for name in ("model", "onnx")):
        return None
    ledger = read_ledger(folder) if (folder / "ledger.json").exists() else Ledger()
    options, environment = (read_object(folder / f"{name}.json") for name in ("options", "environment"))
    card = read_card(folder / "card.json")
    best = _best_baseline(folder, card)
    found = Measured(folder.resolve().name, card, options, environment, ledger, scores, best)
    path = folder / "README.md"
    with atomic(path) as temporary:
        temporary.write_text(model_card(found), encoding="utf-8")
    return path


def _scores(folder: Path) -> dict[str, Mapping[str, Any]]:
    return {path.stem: read_object(path) for path in sorted((folder / "scores").glob("*.json"))}


def _best_baseline(folder: Path, card: Card) -> tuple[str, Mapping[str, Mapping[str, Any]]] | None:
    """The baseline that is best on dev by the main metric, as in the report: the test sets choose nothing."""
    metric = find(card.metrics[0])
    sign, known = 1 if metric.higher_is_better else -1, []
    for home in sorted((folder / "baselines").glob("*/card.json")):
        scores = _scores(home.parent)
        value = bounded(scores.get(DEV, {}).get("metrics", {}).get(metric.name))[0]
        if value is not None:
            known.append((sign * value, system_name(read_object(home.parent / "options.json"), home.parent), scores))
    return max(known, key=lambda entry: entry[0])[1:] if known else None


def model_card(found: Measured) -> str:
    """The card: metadata between two lines of strokes, then its text."""
    return f"---\n{dump(metadata(found))}---\n\n{text_of(found)}"


def metadata(found: Measured) -> dict[str, Any]:
    """What the hub reads. The language is left out: no record tells it. A base model or a data set is named where the
    run was given one by its name on the hub, since a path means nothing to others.
    """
    base, datasets = str(found.options.get("model") or ""), _datasets(found)
    known: dict[str, Any] = {"library_name": "transformers", "tags": ["heldout"]}
    pipeline = PIPELINES.get(found.card.kind) or OBJECTIVES.get(str(found.options.get("objective")))
    known |= {"pipeline_tag": pipeline} if pipeline else {}
    known |= {"base_model": base} if HUB.fullmatch(base) and not Path(base).exists() else {}
    known |= {"datasets": datasets} if datasets else {}
    known["metrics"] = list(found.card.metrics)
    results = [result for name in found.tests if (result := _result(found, name, pipeline or found.card.name))]
    return known | ({"model-index": [{"name": found.name, "results": results}]} if results else {})


def _datasets(found: Measured) -> list[str]:
    train = found.ledger.splits.get("train", {}).get("source", "")
    names = [HUB_SOURCE.fullmatch(part.strip()) for part in str(train).split(",")]
    return list(dict.fromkeys(name[1] for name in names if name and not Path(name[1]).exists()))


def _result(found: Measured, name: str, task: str) -> dict[str, Any] | None:
    """The metrics of a test set that have a value; their intervals stand in the text."""
    scores = found.scores[name]
    values = {metric: bounded(scores.get("metrics", {}).get(metric))[0] for metric in found.card.metrics}
    metrics = [{"type": m, "value": value, "name": title(m)} for m, value in values.items() if value is not None]
    if not metrics:
        return None
    source = HUB_SOURCE.fullmatch(str(found.ledger.splits.get(name, {}).get("source", "")))
    data = {"type": source[1] if source else name, "name": name, "args": {"n": int(scores.get("n", 0))}}
    return {"task": {"type": task}, "dataset": data, "metrics": metrics}
