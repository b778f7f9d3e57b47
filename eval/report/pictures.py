"""The two pictures of the report: every system on every test set, and the lift over the best baseline."""

from collections.abc import Sequence
from math import inf

from heldout.eval.metrics import find
from heldout.eval.report.charts import Scale, axis, scale, whisker
from heldout.eval.report.comparisons import Comparisons, Lift
from heldout.eval.report.inputs import Inputs, System
from heldout.eval.report.kinds import words_of
from heldout.eval.report.pieces import Line, Lines, Picture
from heldout.eval.report.tables import lift_cell, part_name
from heldout.eval.report.wording import PER_CENT, Bounded, bounded, count, interval, measure, opening, signed, title


def overview(inputs: Inputs, best: System | None) -> Picture:
    """The main metric of each system on each test set as dots with whiskers."""
    metric = inputs.metric
    values = {
        (data.name, system.name): bounded(system.scores[data.name].get("metrics", {}).get(metric))
        for data in inputs.tests
        for system in inputs.systems
        if data.name in system.scores
    }
    span = _span(list(values.values()), within=(0, 1) if metric in PER_CENT else (-inf, inf))
    groups = []
    for data in inputs.tests:
        rows = [
            _line(system.name, values[data.name, system.name], span, kind(inputs, system, best), metric, data.name)
            for system in inputs.systems
            if (data.name, system.name) in values
        ]
        groups.append(Lines(data.name, f"n = {count(len(data.examples))} {words_of(inputs).many}", tuple(rows)))
    better = "right" if find(metric).higher_is_better else "left"
    said = f"{opening(title(metric))} with 95% intervals; further {better} is better."
    return Picture(
        tuple(groups), axis(span, _labels(span, metric)), said, f"{title(metric)} of each system on each test set"
    )


def kind(inputs: Inputs, system: System, best: System | None) -> str:
    """Which mark a system has: the model, the best baseline, another model, another baseline."""
    if system is inputs.main:
        return "model"
    if best is not None and system.name == best.name:
        return "best"
    return "baseline" if system.baseline else "other"


def lift_picture(inputs: Inputs, found: Comparisons) -> Picture | None:
    """The paired difference to the best baseline on each test set and its slices around a line at zero."""
    if found.best is None:
        return None
    best, metric = found.best.name, inputs.metric
    lifts = {(d, s): lift for (other, d, s), lift in found.lifts.items() if other == best}
    if not lifts:
        return None
    span = _span([*(lift.difference for lift in lifts.values()), (0.0, None, None)])
    groups = []
    for data in inputs.tests:
        rows = tuple(
            _lift_line(part_name(inputs, inputs.main.scores.get(name, {}), key), lift.difference, span, metric)
            for (name, key), lift in lifts.items()
            if name == data.name
        )
        whole = lifts.get((data.name, ""))
        groups.append(Lines(data.name, _mcnemar(inputs, best, whole), rows))
    unit = "points" if metric in PER_CENT else title(metric)
    sides = (inputs.main.name, best) if find(metric).higher_is_better else (best, inputs.main.name)
    caption = (
        f"In {unit}: right of the line {sides[0]} is better, left of it {sides[1]}. 95% intervals of the paired "
        "difference; one that crosses the line may be chance, and among many slices some miss it by chance alone."
    )
    labels = [signed(label) for label in _labels(span, metric, sign=True)]
    return Picture(
        tuple(group for group in groups if group.rows), axis(span, labels), caption, f"difference from {best}"
    )


def _mcnemar(inputs: Inputs, best: str, lift: Lift | None) -> str:
    if lift is None or lift.p is None:
        return ""
    main, counted = inputs.main.name, words_of(inputs).counted
    return (
        f"{counted}only {main} right {count(lift.only_first)}, only {best} right {count(lift.only_second)}; "
        f"exact McNemar p {p_value(lift.p)}"
    )


def p_value(p: float) -> str:
    """A p-value to three decimals with its sign, never as zero: = 0.013, < 0.001."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _line(name: str, value: Bounded, span: Scale, shape: str, metric: str, data: str) -> Line:
    shown, reach = measure(metric, value[0]), interval(metric, value[1], value[2])
    return Line(name, whisker(value, span, shape, f"{name} on {data}: {shown} ({reach})"), shown, reach)


def _lift_line(name: str, value: Bounded, span: Scale, metric: str) -> Line:
    cell = lift_cell(metric, value)
    track = whisker(value, span, "model", f"{name}: {cell.value} ({cell.note})", zero=True)
    return Line(name, track, cell.value, cell.note)


def _span(values: Sequence[Bounded], within: tuple[float, float] = (-inf, inf)) -> Scale:
    return scale([bound for value in values for bound in value if bound is not None], within=within)


def _labels(span: Scale, metric: str, *, sign: bool = False) -> list[str]:
    """Tick labels with no more decimals than the step needs."""
    factor = 100 if metric in PER_CENT else 1
    step = (span.ticks[1] - span.ticks[0]) * factor
    digits = next(d for d in range(6) if abs(round(step, d) - step) < 1e-9)
    unit = "" if factor == 1 or sign else "%"
    return [f"{tick * factor:{'+' if sign and tick else ''}.{digits}f}{unit}" for tick in span.ticks]
