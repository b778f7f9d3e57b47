"""The text of a model card: what it is, results, where it breaks, calibration, data, training, limits."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.eval.metrics import find
from heldout.eval.report.inputs import system_name
from heldout.eval.report.markdown import escaped, table
from heldout.eval.report.tables import slice_name
from heldout.eval.report.wording import bounded, count, interval, measure, opening, title
from heldout.eval.statistics import FEW

if TYPE_CHECKING:
    from heldout.eval.card import Measured

#: The slices told of a test set: those where the main metric is lowest, if they are clearly below the whole.
WORST = 3
#: Options that say where files lay and nothing of how the model was trained.
PLACES = {"out", "train", "dev", "test", "json", "resume", "baseline", "task", "model"}
#: The pipeline of a kind and what it is called with.
CALLS = {
    "label": ("text-classification", '"A text of your own.", truncation=True'),
    "tags": ("token-classification", '"A text of your own."'),
    "span": ("question-answering", 'question="A question?", context="A passage that answers it."'),
}
KINDS = {"label": "text classification", "tags": "token classification", "span": "extractive question answering"}


def text_of(found: "Measured") -> str:
    """The whole text, in sections; what was not recorded is left out or said to be unknown."""
    parts = {
        "": _what(found),
        "How to use it": _use(found),
        "Results": _results(found),
        "Where it breaks": _slices(found),
        "Calibration": _calibration(found),
        "Data": _data(found),
        "Training": _training(found),
        "Limits": _limits(found),
    }
    blocks = [f"# {escaped(found.name)}"]
    for heading, lines in parts.items():
        told = [line for line in lines if line]
        blocks += ([f"## {heading}"] if heading and told else []) + told
    return "\n\n".join(blocks) + "\n"


def _what(found: "Measured") -> Iterator[str]:
    base = str(found.options.get("model") or "")
    start = escaped(system_name({"model": base}, Path(base))) if base else "A model"
    kind = KINDS.get(found.card.kind, "language modelling")
    heldout = (found.environment.get("versions") or {}).get("heldout", "")
    made = f"trained with heldout {escaped(str(heldout))}" if heldout else "trained with heldout"
    yield f"{start}, {made} for {escaped(found.card.name)} ({kind})."
    if found.card.labels:
        yield f"Labels: {', '.join(map(escaped, found.card.labels))}."


def _use(found: "Measured") -> Iterator[str]:
    """The few lines that answer with it, for the kinds that transformers has a pipeline for."""
    call = CALLS.get(found.card.kind)
    if call:
        yield f"""```python
from transformers import pipeline

answer = pipeline("{call[0]}", "path/or/name/of/the/model")
print(answer({call[1]}))
```"""


def _results(found: "Measured") -> Iterator[str]:
    shown = [m for m in found.card.metrics if any(_value(found.scores[d], m)[0] is not None for d in found.tests)]
    rows = []

    def beside(data: str) -> list[str]:
        """The main metric of the best baseline."""
        return [_told(shown[0], _value(found.best[1].get(data, {}), shown[0]))] if found.best and shown else []

    for data in found.tests:
        scores = found.scores[data]
        mark = " (not held out)" if scores.get("fitted_on_this") else ""
        cells = [_told(m, _value(scores, m)) for m in shown]
        rows.append([escaped(data) + mark, count(int(scores.get("n", 0))), *cells[:1], *beside(data), *cells[1:]])
    heads = [escaped(title(metric)) for metric in shown]
    best = [f"{heads[0]} of {escaped(found.best[0])}"] if found.best and heads else []
    yield table(["test set", "n", *heads[:1], *best, *heads[1:]], rows)
    told = f" {opening(escaped(found.best[0]))} is the baseline that is best on dev." if best and found.best else ""
    yield f"In brackets 95% intervals; how each was made stands in scores/ of the run.{told}"


def _value(scores: Mapping[str, Any], metric: str) -> tuple[float | None, float | None, float | None]:
    return bounded(scores.get("metrics", {}).get(metric))


def _told(metric: str, value: tuple[float | None, float | None, float | None]) -> str:
    span = interval(metric, value[1], value[2])
    return measure(metric, value[0]) + (f" ({span})" if span else "")


def _slices(found: "Measured") -> Iterator[str]:
    metric = found.card.metrics[0]
    rows = [row for data in found.tests for row in _worst(found.scores[data], data, metric)]
    if rows:
        yield (
            f"Slices whose {escaped(title(metric))} is clearly worse than on the whole test set (their intervals do "
            f"not meet), the worst {WORST} of each:"
        )
        yield table(["test set", "slice", "n", escaped(title(metric)), "whole set"], rows, left=2)
    else:
        yield f"No slice is clearly worse than its whole test set by {escaped(title(metric))}."


def _worst(scores: Mapping[str, Any], data: str, metric: str) -> list[list[str]]:
    """The worst slices of a set as rows; few texts, and slices that read another metric, say nothing here."""
    sign = 1 if find(metric).higher_is_better else -1
    whole = _value(scores, metric)
    rows = []
    for key, part in scores.get("slices", {}).items():
        value = _value(part, metric)
        inner, outer = (value[2], whole[1]) if sign > 0 else (whole[2], value[1])
        if part.get("n", 0) < FEW or part.get("read") or value[0] is None or inner is None or outer is None:
            continue
        if inner < outer:
            cells = [escaped(data), escaped(slice_name(key)), count(part["n"]), _told(metric, value)]
            rows.append((sign * value[0], [*cells, measure(metric, whole[0])]))
    return [row for _, row in sorted(rows, key=lambda entry: entry[0])[:WORST]]


def _calibration(found: "Measured") -> Iterator[str]:
    rows = []
    for data in found.tests:
        scores = found.scores[data]
        before, variant = scores.get("metrics", {}).get("ece") or {}, scores.get("variants", {}).get("temperature", {})
        after = variant.get("metrics", {}).get("ece") or {}
        if bounded(before)[0] is not None:
            cells = [_told("ece", bounded(before)), measure("ece", before.get("debiased"))]
            rows.append([escaped(data), *cells, _told("ece", bounded(after)) if after else "–"])
    if rows:
        yield (
            "Expected calibration error: how far stated confidence and the share right lie apart; noise alone raises "
            "it, and its debiased value has that taken off. The weights answer as in the first column; the "
            "temperature, fitted on dev, is in fits/ of the run."
        )
        yield table(["test set", "ECE", "debiased", "after temperature"], rows)


def _data(found: "Measured") -> Iterator[str]:
    rows = [
        [
            escaped(name),
            escaped(str(split.get("source", ""))),
            count(int(split.get("n", 0))),
            _counts(split.get("dropped")),
            f"`{escaped(str(split.get('hash', ''))[:16])}`" if str(split.get("hash", "")).isalnum() else "–",
        ]
        for name, split in found.ledger.splits.items()
    ]
    if rows:
        yield table(["split", "source", "n", "dropped", "hash"], rows, left=2)
    shared = {pair: n for pair, n in found.ledger.overlap.items() if n}
    if shared:
        told = "; ".join(f"{count(n)} texts of {escaped(pair)}" for pair, n in shared.items())
        yield f"Texts of the second split that also stand in the first: {told}."


def _counts(counts: Any) -> str:
    found = counts.items() if isinstance(counts, Mapping) else ()
    return ", ".join(f"{escaped(str(name).replace('_', ' '))} {count(n)}" for name, n in found if n) or "nothing"


def _training(found: "Measured") -> Iterator[str]:
    told = {
        str(name).replace("_", "-"): value
        for name, value in found.options.items()
        if name not in PLACES and isinstance(value, str | int | float) and value is not False and value != ""
    }
    if told:
        yield table(["option", "value"], [[escaped(name), escaped(str(value))] for name, value in told.items()], left=2)
    fitted = [f"{escaped(n)} on {escaped(str(of.get('split')))}" for n, of in found.ledger.fitted.items()]
    if fitted:
        yield f"Chosen or fitted: {'; '.join(fitted)}."
    versions = found.environment.get("versions")
    if isinstance(versions, Mapping) and versions:
        yield f"Versions: {', '.join(f'{escaped(str(n))} {escaped(str(v))}' for n, v in versions.items())}."


def _limits(found: "Measured") -> Iterator[str]:
    for data in found.tests:
        things = found.scores[data].get("fitted_on_this")
        if things:
            saw = f"{escaped(', '.join(things))} saw these texts"
            yield f"**{escaped(data)} is no held-out test: {saw}.** Its numbers flatter."
    limit = found.options.get("max_length")
    if isinstance(limit, int):
        yield f"It was trained on windows of {count(limit)} tokens; what the model cuts off it cannot answer from."
    yield (
        "The figures hold for the test sets named here and for texts like them. The language of the data, its authors' "
        "consent, and what the base model was trained on are not recorded by heldout."
    )
