"""The small table of the overview: a row a test set, the main metric of the systems that matter, on one scale."""

from dataclasses import dataclass
from math import inf
from statistics import stdev

from markupsafe import Markup

from heldout.eval.metrics import find
from heldout.eval.report.charts import Scale, axis, key, track
from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.kinds import words_of
from heldout.eval.report.pictures import kind, spanning, tick_labels
from heldout.eval.report.tables import Cell, metric_cell
from heldout.eval.report.wording import PER_CENT, Bounded, amount, bounded, count, measure, opening, title

#: Columns of numbers beside the picture; more would not fit in a half of the screen.
COLUMNS = 4


@dataclass(frozen=True)
class Column:
    """A system: its mark and its name."""

    mark: Markup
    name: str


@dataclass(frozen=True)
class Standing:
    """A test set: its name, its size, the systems' marks on one track, and their values."""

    name: str
    size: str
    track: Markup
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Summary:
    """The table: the main metric of the systems named in ``columns`` on every test set; the axis below the tracks.
    ``many`` is what the sizes count.
    """

    many: str
    columns: tuple[Column, ...]
    rows: tuple[Standing, ...]
    axis: Markup
    caption: str


def seeds_of(inputs: Inputs) -> tuple[System, ...]:
    """The main system and its siblings of other seeds; the main one alone where it has none."""
    return tuple(s for s in inputs.systems if s is inputs.main or (s.seed_of and s.seed_of == inputs.main.seed_of))


def summary(inputs: Inputs, best: System | None) -> Summary:
    """The main system, its seeds in one column, the best baseline, then the others as far as they fit."""
    metric, shown, seeds = inputs.metric, _columns(inputs, best), len(seeds_of(inputs))
    columns = [Column(key(kind(inputs, system, best)), system.name) for system in shown]
    if seeds > 1:
        columns.insert(1, Column(Markup(""), f"mean of {seeds} seeds"))
    values = [_value(inputs, system, data) for data in inputs.tests for system in shown]
    span = spanning(values, within=(0, 1) if metric in PER_CENT else (-inf, inf), most=4)
    rows = tuple(_row(inputs, data, shown, best, span) for data in inputs.tests)
    better = "right" if find(metric).higher_is_better else "left"
    left_out = len(inputs.systems) - len(shown) - (seeds - 1)
    caption = f"{opening(title(metric))} with 95% intervals; further {better} is better."
    caption += f" {count(left_out)} more systems stand under Slices." if left_out > 0 else ""
    return Summary(words_of(inputs).many, tuple(columns), rows, axis(span, tick_labels(span, metric)), caption)


def _row(inputs: Inputs, data: DataSet, shown: list[System], best: System | None, span: Scale) -> Standing:
    metric = inputs.metric
    cells = [metric_cell(metric, s.scores.get(data.name, {}).get("metrics", {}).get(metric)) for s in shown]
    if len(seeds_of(inputs)) > 1:
        cells.insert(1, _mean(inputs, data))
    return Standing(data.name, count(len(data.examples)), _track(inputs, data, shown, best, span), tuple(cells))


def _columns(inputs: Inputs, best: System | None) -> list[System]:
    seeds = seeds_of(inputs)
    rest = [s for s in inputs.systems if s not in seeds and s is not best]
    return [inputs.main, *([best] if best else []), *rest][: COLUMNS - (len(seeds) > 1)]


def _value(inputs: Inputs, system: System, data: DataSet) -> Bounded:
    return bounded(system.scores.get(data.name, {}).get("metrics", {}).get(inputs.metric))


def _mean(inputs: Inputs, data: DataSet) -> Cell:
    """The mean over seeds with their standard deviation below."""
    values = [value for system in seeds_of(inputs) if (value := _value(inputs, system, data)[0]) is not None]
    if len(values) < 2:
        return Cell("–")
    return Cell(measure(inputs.metric, sum(values) / len(values)), f"sd {amount(inputs.metric, stdev(values))}")


def _track(inputs: Inputs, data: DataSet, shown: list[System], best: System | None, span: Scale) -> Markup:
    values = [(_value(inputs, s, data), kind(inputs, s, best), s.name) for s in reversed(shown)]
    known = [entry for entry in values if entry[0][0] is not None]
    said = ", ".join(f"{name} {measure(inputs.metric, value[0])}" for value, _, name in reversed(known))
    return track([(value, shape) for value, shape, _ in known], span, f"on {data.name}: {said}")
