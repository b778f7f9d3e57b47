"""Risk against coverage: how many answers are wrong when only the surest are given (El-Yaniv and Wiener 2010)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from markupsafe import Markup

from heldout.eval.report.charts import LEFT, PLOT, RIGHT, TOP
from heldout.eval.report.inputs import DataSet, Inputs
from heldout.eval.report.tables import Cell, HtmlTable, Row
from heldout.eval.report.wording import bounded, measure, percent

#: How the lines of several systems are told apart without colour: the main one is solid.
DASHES = ("", "7 4", "2 3", "9 3 2 3")
WIDE = 1.5


@dataclass(frozen=True)
class Line:
    """One system's curve: its name, its sample for the legend, its area in words."""

    name: str
    sample: Markup
    words: str


@dataclass(frozen=True)
class Curves:
    """The curves of a set: a drawing, its lines, and their numbers as a table."""

    name: str
    drawing: Markup
    lines: tuple[Line, ...]
    numbers: HtmlTable


def curves_of(inputs: Inputs) -> tuple[Curves, ...]:
    """The curves of each test set on which the main system has one, beside those of other systems that have one."""
    found = ((data, _entries(inputs, data)) for data in inputs.tests)
    return tuple(_curves(data, entries) for data, entries in found if inputs.main.name in entries)


def _entries(inputs: Inputs, data: DataSet) -> dict[str, Mapping[str, Any]]:
    """The AURC of each system that has a curve; as many as there are dashes to tell apart."""
    entries = {s.name: s.scores.get(data.name, {}).get("metrics", {}).get("aurc") or {} for s in inputs.systems}
    return dict([(name, entry) for name, entry in entries.items() if entry.get("curve")][: len(DASHES)])


def _curves(data: DataSet, entries: Mapping[str, Mapping[str, Any]]) -> Curves:
    styles = {name: ("model" if number == 0 else "baseline", DASHES[number]) for number, name in enumerate(entries)}
    lines = tuple(Line(name, _sample(*styles[name]), _area(entry)) for name, entry in entries.items())
    said = f"risk against coverage on {data.name} of {', '.join(entries)}"
    return Curves(data.name, _draw(entries, styles, said), lines, _numbers(entries))


def _area(entry: Mapping[str, Any]) -> str:
    value, low, high = bounded(entry)
    interval = "" if low is None or high is None else f" ({measure('aurc', low)} to {measure('aurc', high)})"
    return (
        f"AURC {measure('aurc', value)}{interval}, at least {measure('aurc', entry.get('least'))} with as many errors"
    )


def _sample(kind: str, dash: str) -> Markup:
    line = '<line class="curve {}" x1="0" x2="34" y1="6" y2="6" stroke-dasharray="{}"/>'
    svg = Markup('<svg class="sample" width="34" height="12" aria-hidden="true">' + line + "</svg>")
    return svg.format(kind, dash)


def _draw(entries: Mapping[str, Mapping[str, Any]], styles: Mapping[str, tuple[str, str]], words: str) -> Markup:
    width = PLOT * WIDE
    top = max(max(entry["curve"]["risk"]) for entry in entries.values()) or 1.0
    # The axis ends at the next fifth, so that its quarters are whole per cents.
    highest = ceil(top * 5 - 1e-9) / 5
    body = [_grid(highest, width)]
    for name, entry in entries.items():
        places = zip(entry["curve"]["coverage"], entry["curve"]["risk"], strict=True)
        points = " ".join(f"{LEFT + x * width:.1f},{TOP + PLOT * (1 - y / highest):.1f}" for x, y in places)
        line = Markup('<polyline class="curve {}" points="{}" stroke-dasharray="{}"/>')
        body.append(line.format(styles[name][0], points, styles[name][1]))
    svg = Markup('<svg class="curves" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>')
    return svg.format(LEFT + width + RIGHT, TOP + PLOT + 38, words, Markup("").join(body))


def _grid(highest: float, width: float) -> Markup:
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        y, x = TOP + PLOT * (1 - share), LEFT + width * share
        line = Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(LEFT, LEFT + width, y, y)
        left = Markup('<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>')
        below = Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>')
        parts += [line, left.format(LEFT - 6, y + 4, percent(share * highest, 0))]
        parts.append(below.format(x, TOP + PLOT + 16, percent(share, 0)))
    title = Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">share answered, the surest first</text>')
    return Markup("").join([*parts, title.format(LEFT + width / 2, TOP + PLOT + 33)])


def _numbers(entries: Mapping[str, Mapping[str, Any]]) -> HtmlTable:
    coverage: Sequence[float] = next(iter(entries.values()))["curve"]["coverage"]
    rows = tuple(
        Row(percent(share, 0), tuple(Cell(percent(entry["curve"]["risk"][k])) for entry in entries.values()))
        for k, share in enumerate(coverage)
    )
    return HtmlTable(("share answered", *(f"wrong, {name}" for name in entries)), rows)
