"""Reliability diagrams of the main system before and after temperature, what temperature does to each set, and what
answering only the surest gives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from heldout.eval.fits import FITTERS
from heldout.eval.metrics import find
from heldout.eval.metrics.ece import Binned, binned, gaps_if_calibrated
from heldout.eval.report.charts import Bin, reliability
from heldout.eval.report.coverage_curves import Curves, curves_of
from heldout.eval.report.inputs import DataSet, Inputs
from heldout.eval.report.kinds import view_of, words_of
from heldout.eval.report.tables import Cell, HtmlTable, Row, bins_table, metric_cell, slice_name
from heldout.eval.report.wording import bounded, count, listed, measure, title
from heldout.eval.run_data import DEV
from heldout.eval.statistics import group_codes, wilson
from heldout.eval.table import Table
from heldout.eval.tabulate import tabulate
from heldout.fits import apply

TEMPERATURE = "temperature"
SHOWN = ("ece", "nll", "brier")
#: Draws of a calibrated system for the bands: their ends are then off by a tenth of their width at most.
BAND_DRAWS = 1000


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
    """The section: a note, a panel a test set, the tables of metrics before and after, and risk against coverage."""

    note: str
    panels: tuple[Panel, ...]
    table: HtmlTable | None = None
    by_slice: HtmlTable | None = None
    curves: tuple[Curves, ...] = ()


def calibration(inputs: Inputs) -> Calibration:
    """The calibration of the main system; a note alone where its predictions hold no scores."""
    panels = tuple(panel for data in inputs.tests if (panel := _panel(inputs, data)))
    main, curves = inputs.main, curves_of(inputs)
    if not panels:
        return Calibration(f"{main.name} gives no scores: how far to trust its answers cannot be told.", (), None)
    note = (
        f"What the confidence of {main.name} is worth: {view_of(inputs).trust} Points below the dashed line are "
        f"overconfident; shaded is where 95% of the points of a perfectly calibrated system would lie; bars count "
        f"{words_of(inputs).events}; lines are 95% Wilson intervals{_left_out(inputs)}."
    )
    if TEMPERATURE in main.fits:
        return Calibration(note, panels, _sets_table(inputs), _slices_table(inputs), curves)
    if TEMPERATURE not in FITTERS.get(inputs.card.kind, {}):
        return Calibration(note, panels, curves=curves)
    notes = [said for data in inputs.tests for said in main.scores.get(data.name, {}).get("notes", [])]
    why = [said for said in notes if said.startswith("No temperature")]
    return Calibration(f"{note} {' '.join(dict.fromkeys(why)) or 'No temperature was fitted.'}", panels, curves=curves)


def _left_out(inputs: Inputs) -> str:
    """Where the diagrams have no intervals, and why."""
    words = words_of(inputs)
    if view_of(inputs).clustered:
        return f", left out here, since {words.events} of one {words.one} don't vary alone"
    grouped = [data.name for data in inputs.tests if is_grouped(data)]
    if not grouped:
        return ""
    return f", left out on {listed(grouped)}, whose {words.many} come in groups and don't vary alone"


def is_grouped(data: DataSet) -> bool:
    """Whether a set's texts come in groups, so that no interval may count them one by one."""
    return group_codes(data.examples) is not None


def reliability_bins(answers: Table, *, grouped: bool = False) -> list[Bin]:
    """The equal-width bins of ECE with their counts; every answer is in exactly one.

    Each has Wilson's interval of the share right, unless the answers are ``grouped``.
    """
    data = binned(answers, "ece")
    n, right, sure = (np.bincount(data.bin, weights, answers.bins) for weights in (None, data.event, data.confidence))
    bands, bins = consistency_bands(data), []
    for k in range(answers.bins):
        low, high = wilson(int(right[k]), int(n[k])) if n[k] and not grouped else (None, None)
        mean = float(sure[k] / n[k]) if n[k] else 0.0
        edges = float(data.edges[k]), float(data.edges[k + 1])
        bins.append(Bin(*edges, int(n[k]), int(right[k]), mean, low, high, bands.get(k)))
    return bins


def consistency_bands(data: Binned) -> dict[int, tuple[float, float]]:
    """Where 95% of the shares right would lie in each bin that holds answers, were all confidences true.

    Bröcker and Smith (2007), Increasing the reliability of reliability diagrams: events are drawn with the stated
    confidences, here with each answer left in its bin. A point outside its bar is off by more than chance gives one
    bin in twenty.
    """
    if not len(data.bin):
        return {}
    found, stated = np.unique(data.bin), np.bincount(data.bin, data.confidence)
    counts = np.bincount(data.bin)[found]
    shares = (gaps_if_calibrated(data, seed=0, draws=BAND_DRAWS) + stated[found][:, None]) / counts[:, None]
    low, high = np.clip(np.quantile(shares, [0.025, 0.975], axis=1), 0, 1)
    return {int(k): (float(a), float(b)) for k, a, b in zip(found, low, high, strict=True)}


def answers_of(inputs: Inputs, data: DataSet) -> Table | None:
    """The main system's answers to a set as arrays; None where it has none, or none with a confidence."""
    if data.name not in inputs.main.predictions:
        return None
    answers = inputs.table(inputs.main, data)
    ece = find("ece")
    return None if inputs.card.kind not in ece.kinds or ece.lacking(answers) else answers


def _panel(inputs: Inputs, data: DataSet) -> Panel | None:
    before = answers_of(inputs, data)
    if before is None or not len(before.events.confidence):
        return None
    alone = not (is_grouped(data) or view_of(inputs).clustered)
    sides = [("before", before, _metrics(inputs, data.name).get("ece"))]
    fit, after = inputs.main.fits.get(TEMPERATURE), variant(inputs, data.name)
    if fit is not None and after:
        softened = apply(fit, inputs.main.predictions[data.name])
        table = tabulate(inputs.card, data.examples, softened, bins=before.bins)
        sides.append(("after", table, after.get("metrics", {}).get("ece")))
    binned_sides = [(name, reliability_bins(table, grouped=not alone)) for name, table, _ in sides]
    drawn = tuple(
        Side(
            reliability(bins, f"reliability of {inputs.main.name} on {data.name}{when}"),
            (f"{when[2:].capitalize()}: " if when else "") + _ece(inputs, ece, table),
        )
        for (name, table, ece), (_, bins) in zip(sides, binned_sides, strict=True)
        for when in [f", {name} temperature" if len(sides) > 1 else ""]
    )
    return Panel(data.name, drawn, bins_table(binned_sides, words_of(inputs).events))


def _ece(inputs: Inputs, ece: Any, answers: Table) -> str:
    """An ECE with its debiased value and how many answers it is of; the number of answers alone where there is none."""
    n = f"{count(len(answers.events.confidence))} {words_of(inputs).events}"
    if ece is None:
        return n
    debiased = measure("ece", ece.get("debiased"))
    return f"ECE {measure('ece', bounded(ece)[0])} (debiased {debiased}), {n}"


def _metrics(inputs: Inputs, data: str) -> Mapping[str, Any]:
    metrics: Mapping[str, Any] = inputs.main.scores[data].get("metrics", {})
    return metrics


def variant(inputs: Inputs, data: str) -> Mapping[str, Any]:
    """The main system's scores on a set after temperature: {"metrics", "slices"}, empty where there are none."""
    found: Mapping[str, Any] = inputs.main.scores[data].get("variants", {}).get(TEMPERATURE, {})
    return found


def _shown(inputs: Inputs) -> list[str]:
    """The metrics of SHOWN that the main system has."""
    return [m for m in SHOWN if any(m in scores.get("metrics", {}) for scores in inputs.main.scores.values())]


def _heads(first: str, shown: Sequence[str]) -> tuple[str, ...]:
    return (first, "n", *(f"{title(m)} {when}" for m in shown for when in ("before", "after")), "ECE of chance alone")


def _sets_table(inputs: Inputs) -> HtmlTable:
    """ECE, NLL and Brier score of every set, as answered and after temperature."""
    rows, shown = [], _shown(inputs)
    for data in [*(test.name for test in inputs.tests), DEV]:
        if data in inputs.main.scores:
            badges = ("fitted on",) if variant(inputs, data).get("in_sample") else ()
            rows.append(_row(data, inputs.main.scores[data], variant(inputs, data), badges, shown))
    return HtmlTable(_heads("set", shown), tuple(rows))


def _slices_table(inputs: Inputs) -> HtmlTable:
    """The same for every slice of the test sets."""
    shown = _shown(inputs)
    rows = [
        _row(f"{data.name}, {slice_name(key)}", before.get("slices", {}).get(key, {}), part, (), shown)
        for data in inputs.tests
        if (before := inputs.main.scores.get(data.name)) is not None
        for key, part in variant(inputs, data.name).get("slices", {}).items()
    ]
    return HtmlTable(_heads("set and slice", shown), tuple(rows))


def _row(
    name: str, before: Mapping[str, Any], after: Mapping[str, Any], badges: tuple[str, ...], shown: Sequence[str]
) -> Row:
    sides = [part.get("metrics", {}) for part in (before, after)]
    cells = [metric_cell(metric, side.get(metric)) for metric in shown for side in sides]
    expected = (sides[1].get("ece") or {}).get("expected_if_calibrated") or {}
    chance = Cell(measure("ece", expected.get("value")), f"95% below {measure('ece', expected.get('high'))}")
    size = Cell(count(before["n"]) if "n" in before else "–")
    return Row(name, (size, *cells, chance if expected else Cell("–")), badges)
