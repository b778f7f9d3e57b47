"""The tab of behaviour: test cases phenomenon by phenomenon, systems beside each other, and pairs that fell apart."""

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.cases import CHANGED
from heldout.eval.behaviour import SHOWN, SLICES, main_metric
from heldout.eval.metrics import find
from heldout.eval.report.changes import changed_pairs
from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.pieces import Block, Piece, Prose, Section
from heldout.eval.report.tables import Cell, HtmlTable, Row, metric_cell
from heldout.eval.report.tabs import Report, Tab
from heldout.eval.report.wording import bounded, count, listed, measure, opening, percent, points, title
from heldout.eval.statistics import FEW

#: How the slices of cases begin, with what a row is called that is no phenomenon.
CASES = {"role=": " texts"}
MEANING = {
    "twin_gap": "how much more often the unchanged twins are answered right",
    "both_right": "pairs of which both texts are answered right",
    "flip_rate": "changes that must not matter and did change the answer",
    "moved": "changes that moved a score the way they should",
    "expectation_met": "cases that came out as expected",
}


def _sections(report: Report) -> list[Section] | None:
    inputs = report.inputs
    sets = [data for data in (*inputs.tests, *inputs.changes) if _has_cases(inputs.main.scores.get(data.name, {}))]
    return [_section(report, data) for data in sets] or None


def _has_cases(scores: Mapping[str, Any]) -> bool:
    return any(name in scores.get("metrics", {}) for name in SHOWN)


def _section(report: Report, data: DataSet) -> Section:
    inputs = report.inputs
    systems = [system for system in inputs.systems if data.name in system.scores]
    pieces: list[Piece] = [
        Prose(tuple(_sentences(inputs, data, systems))),
        Block("By phenomenon", _table(inputs, data, systems), _note(inputs, data), f"{data.name} by phenomenon"),
    ]
    if report.text:
        pieces += changed_pairs(inputs, data)
    return Section(data.name, tuple(pieces))


def _sentences(inputs: Inputs, data: DataSet, systems: list[System]) -> Iterator[str]:
    """How the main system does on the changed texts and on their twins, where it breaks, and how the baselines do."""
    main, scores = inputs.main, inputs.main.scores[data.name]
    metric = main_metric(scores)
    twins, both = (scores["metrics"].get(name) for name in ("twin_gap", "both_right"))
    part = scores["slices"].get(f"role={CHANGED}", scores)
    value, low, high = bounded(part["metrics"].get(metric))
    if value is not None:
        within = f" ({measure(metric, low)} to {measure(metric, high)})" if low is not None else ""
        cases = f"{count(part['n'])} test cases of {data.name}"
        yield f"{main.name}: {title(metric)} {measure(metric, value)}{within} on the {cases}."
    gap = bounded(twins)[0]
    if gap is not None and bounded(both)[0] is not None:
        more = "more" if gap >= 0 else "less"
        yield (
            f"Their unchanged twins are answered right {points(gap)} {more} often; both texts of a pair are right in "
            f"{percent(bounded(both)[0])}."
        )
    good = find(metric).higher_is_better
    worst = sorted(_phenomena(scores, metric), key=lambda found: found[1] if good else -found[1])[:3]
    if len(worst) > 1:
        yield f"Worst are {listed([f'“{name}” ({measure(metric, value)})' for name, value in worst])}."
    for system in systems:
        if system.baseline:
            beside = system.scores[data.name]["slices"].get(f"role={CHANGED}", system.scores[data.name])
            value = bounded(beside["metrics"].get(metric))[0]
            yield f"{opening(system.name)} gets {measure(metric, value)} on the same cases."


def _phenomena(scores: Mapping[str, Any], metric: str) -> Iterator[tuple[str, float]]:
    for key, part in scores["slices"].items():
        value = bounded(part["metrics"].get(metric))[0]
        if key.startswith("phenomenon=") and value is not None and part["n"] >= FEW:
            yield key.partition("=")[2], value


def _table(inputs: Inputs, data: DataSet, systems: list[System]) -> HtmlTable:
    """A row a phenomenon: the main metric of every system, and of the main one what its cases expect."""
    scores = inputs.main.scores[data.name]
    metric = main_metric(scores)
    there = [name for name in SHOWN if name in scores["metrics"] and name != metric]
    rows = []
    for key in sorted((key for key in scores["slices"] if key.startswith(SLICES)), key=lambda key: key[0] != "r"):
        of = [system.scores[data.name]["slices"].get(key, {}).get("metrics", {}) for system in systems]
        cells = [Cell(count(scores["slices"][key]["n"])), *(metric_cell(metric, metrics.get(metric)) for metrics in of)]
        cells += [metric_cell(name, scores["slices"][key]["metrics"].get(name)) for name in there]
        few = ("few",) if scores["slices"][key]["n"] < FEW else ()
        begin, _, part = key.partition("=")
        rows.append(Row(part + CASES.get(f"{begin}=", ""), tuple(cells), few, whole=begin == "role"))
    heads = ("phenomenon", "n", *(f"{title(metric)}, {system.name}" for system in systems))
    return HtmlTable((*heads, *(SHOWN[name] for name in there)), tuple(rows))


def _note(inputs: Inputs, data: DataSet) -> str:
    there = [name for name in SHOWN if name in inputs.main.scores[data.name]["metrics"]]
    told = "; ".join(f"{SHOWN[name]}: {MEANING[name]}" for name in there)
    return f"Of {inputs.main.name}, {told}. A text and its twin are resampled together."


TAB = Tab("Behaviour", 25, _sections)
