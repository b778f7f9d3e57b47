"""Reliability diagrams of the main system before and after temperature, and what temperature does to each set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from heldout.eval.metrics.ece import binned
from heldout.eval.report.charts import Bin, reliability
from heldout.eval.report.inputs import DataSet, Inputs
from heldout.eval.report.tables import Cell, HtmlTable, Row, bins_table, metric_cell, slice_name
from heldout.eval.report.wording import bounded, count, listed, measure, title
from heldout.eval.score import DEV
from heldout.eval.statistics import group_codes, wilson
from heldout.eval.table import BINS, Table
from heldout.eval.tabulate import tabulate
from heldout.fits import apply
from heldout.records import Prediction

TEMPERATURE = "temperature"
SHOWN = ("ece", "nll", "brier")


@dataclass(frozen=True)
class Side:
    """One diagram with its words."""

    drawing: Markup
    caption: str


@dataclass(frozen=True)
class Panel:
    """The diagrams of one set, before and after, and their numbers as a table."""

    name: str
    sides: tuple[Side, ...]
    bins: HtmlTable


@dataclass(frozen=True)
class Calibration:
    """The section: a note, a panel a test set, and the table of metrics before and after."""

    note: str
    panels: tuple[Panel, ...]
    table: HtmlTable | None
    by_slice: HtmlTable | None = None


def calibration(inputs: Inputs) -> Calibration:
    """The calibration of the main system; a note alone where its predictions hold no scores."""
    panels = tuple(panel for data in inputs.tests if (panel := _panel(inputs, data)))
    if not panels:
        return Calibration(
            f"{inputs.main.name} gives no scores: how far to trust its answers cannot be told.", (), None
        )
    fit = inputs.main.fits.get(TEMPERATURE)
    note = (
        f"What the confidence of {inputs.main.name} is worth: of its answers given with 80% confidence, 80% should be "
        "right. Points below the dashed line are overconfident; bars count answers; lines are 95% Wilson intervals"
    )
    grouped = [data.name for data in inputs.tests if is_grouped(data)]
    note += f", left out on {listed(grouped)}, whose texts come in groups and don't vary alone." if grouped else "."
    if fit is None:
        notes = [said for data in inputs.tests for said in inputs.main.scores.get(data.name, {}).get("notes", [])]
        return Calibration(f"{note} {' '.join(dict.fromkeys(notes)) or 'No temperature was fitted.'}", panels, None)
    return Calibration(note, panels, _sets_table(inputs), _slices_table(inputs))


def is_grouped(data: DataSet) -> bool:
    """Whether a set's texts come in groups, so that no interval may count them one by one."""
    return group_codes(data.examples) is not None


def reliability_bins(answers: Table, *, grouped: bool = False) -> list[Bin]:
    """The equal-width bins of ECE with their counts; every answer is in exactly one.

    Each has Wilson's interval of the share right, unless the answers are ``grouped``.
    """
    data = binned(answers, "ece")
    n, right, sure = (np.bincount(data.bin, weights, answers.bins) for weights in (None, data.event, data.confidence))
    bins = []
    for k in range(answers.bins):
        low, high = wilson(int(right[k]), int(n[k])) if n[k] and not grouped else (None, None)
        mean = float(sure[k] / n[k]) if n[k] else 0.0
        bins.append(Bin(float(data.edges[k]), float(data.edges[k + 1]), int(n[k]), int(right[k]), mean, low, high))
    return bins


def answers_of(inputs: Inputs, data: DataSet) -> Table | None:
    """The main system's answers to a set as arrays; None where it has none, or none with scores."""
    predictions = inputs.main.predictions.get(data.name)
    return _scored(inputs, data, predictions) if predictions else None


def _scored(inputs: Inputs, data: DataSet, predictions: Sequence[Prediction]) -> Table | None:
    bins = (_metrics(inputs, data.name).get("ece") or {}).get("bins", BINS)
    answers = tabulate(inputs.card, data.examples, predictions, bins=bins)
    return answers if answers.scored else None


def _panel(inputs: Inputs, data: DataSet) -> Panel | None:
    before = answers_of(inputs, data)
    if before is None:
        return None
    sides = [("before", reliability_bins(before, grouped=is_grouped(data)), _metrics(inputs, data.name).get("ece"))]
    fit = inputs.main.fits.get(TEMPERATURE)
    if fit is not None:
        after = _scored(inputs, data, apply(fit, inputs.main.predictions[data.name]))
        assert after is not None
        ece = variant(inputs, data.name).get("metrics", {}).get("ece")
        sides.append(("after", reliability_bins(after, grouped=is_grouped(data)), ece))
    drawn = tuple(
        Side(
            reliability(bins, f"reliability of {inputs.main.name} on {data.name}, {name} temperature"),
            (f"{name.capitalize()} temperature: " if fit is not None else "")
            + f"ECE {measure('ece', bounded(ece)[0])} (debiased {measure('ece', (ece or {}).get('debiased'))}), "
            f"{count(len(before.events.confidence))} answers",
        )
        for name, bins, ece in sides
    )
    return Panel(data.name, drawn, bins_table([(name, bins) for name, bins, _ in sides]))


def _metrics(inputs: Inputs, data: str) -> Mapping[str, Any]:
    metrics: Mapping[str, Any] = inputs.main.scores[data].get("metrics", {})
    return metrics


def variant(inputs: Inputs, data: str) -> Mapping[str, Any]:
    """The main system's scores on a set after temperature: {"metrics", "slices"}, empty where there are none."""
    found: Mapping[str, Any] = inputs.main.scores[data].get("variants", {}).get(TEMPERATURE, {})
    return found


def _heads(first: str) -> tuple[str, ...]:
    return (first, "n", *(f"{title(m)} {when}" for m in SHOWN for when in ("before", "after")), "ECE of chance alone")


def _sets_table(inputs: Inputs) -> HtmlTable:
    """ECE, NLL and Brier score of every set, as answered and after temperature."""
    rows = []
    for data in [*(test.name for test in inputs.tests), DEV]:
        if data in inputs.main.scores:
            badges = ("fitted on",) if variant(inputs, data).get("in_sample") else ()
            rows.append(_row(data, inputs.main.scores[data], variant(inputs, data), badges))
    return HtmlTable(_heads("set"), tuple(rows))


def _slices_table(inputs: Inputs) -> HtmlTable:
    """The same for every slice of the test sets."""
    rows = [
        _row(f"{data.name}, {slice_name(key)}", inputs.main.scores[data.name].get("slices", {}).get(key, {}), part, ())
        for data in inputs.tests
        if data.name in inputs.main.scores
        for key, part in variant(inputs, data.name).get("slices", {}).items()
    ]
    return HtmlTable(_heads("set and slice"), tuple(rows))


def _row(name: str, before: Mapping[str, Any], after: Mapping[str, Any], badges: tuple[str, ...]) -> Row:
    sides = [part.get("metrics", {}) for part in (before, after)]
    cells = [metric_cell(metric, side.get(metric)) for metric in SHOWN for side in sides]
    expected = (sides[1].get("ece") or {}).get("expected_if_calibrated") or {}
    chance = Cell(measure("ece", expected.get("value")), f"95% below {measure('ece', expected.get('high'))}")
    size = Cell(count(before["n"]) if "n" in before else "–")
    return Row(name, (size, *cells, chance if expected else Cell("–")), badges)
