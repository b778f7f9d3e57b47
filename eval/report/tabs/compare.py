"""The tab of comparisons: the main system against the best baseline and each other model on the very same texts."""

from heldout.eval.report.comparisons import Lift
from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.kinds import words_of
from heldout.eval.report.pictures import p_value
from heldout.eval.report.pieces import Block, Section
from heldout.eval.report.tables import Cell, HtmlTable, Row, lift_cell, metric_cell
from heldout.eval.report.tabs import Report, Tab
from heldout.eval.report.wording import PER_CENT, count, title


def _sections(report: Report) -> list[Section] | None:
    inputs, found = report.inputs, report.found
    others = [*([found.best] if found.best else []), *found.others]
    pieces = tuple(
        Block(f"{inputs.main.name} against {other.name}", _table(inputs, other, report))
        for other in others
        if any(name == other.name for name, _, _ in found.lifts)
    )
    return [Section("", pieces, _note(inputs))] if pieces else None


def _note(inputs: Inputs) -> str:
    counted = words_of(inputs).counted.rstrip(": ") or f"{words_of(inputs).many} right"
    return (
        f"Differences on the same {words_of(inputs).many}, paired, with 95% intervals. McNemar’s test counts "
        f"{counted}: those that only one of the two got right. ‘heldout compare’ tells more of two systems: every "
        "slice, with p-values that count how many were looked at."
    )


def _table(inputs: Inputs, other: System, report: Report) -> HtmlTable:
    rows = []
    for data in inputs.tests:
        lift = report.found.lifts.get((other.name, data.name, ""))
        if lift is not None:
            rows.append(Row(data.name, _cells(inputs, data, other, lift)))
    difference = "difference" + (", points" if inputs.metric in PER_CENT else "")
    names = (inputs.main.name, other.name)
    heads = (*(f"{title(inputs.metric)} of {name}" for name in names), difference)
    return HtmlTable(
        ("test set", "n", *heads, *(f"only {name} right" for name in names), "exact McNemar p"), tuple(rows)
    )


def _cells(inputs: Inputs, data: DataSet, other: System, lift: Lift) -> tuple[Cell, ...]:
    metric = inputs.metric
    sides = [s.scores[data.name].get("metrics", {}).get(metric) for s in (inputs.main, other)]
    return (
        Cell(count(len(data.examples))),
        *(metric_cell(metric, side) for side in sides),
        lift_cell(metric, lift.difference),
        *(Cell(count(n) if lift.p is not None else "–") for n in (lift.only_first, lift.only_second)),
        Cell("–" if lift.p is None else p_value(lift.p).removeprefix("= ")),
    )


TAB = Tab("Compare", 40, _sections)
