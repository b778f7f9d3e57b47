"""The forest plot of the slices: the main system's value with its interval, and its lift over the best baseline.

All test sets share both scales, so that a length means the same wherever it stands.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from heldout.eval.metrics import find
from heldout.eval.report.charts import Scale, axis, scale, whisker
from heldout.eval.report.comparisons import Comparisons, Lift
from heldout.eval.report.inputs import Inputs, System
from heldout.eval.report.kinds import words_of
from heldout.eval.report.pieces import Line, Lines, Picture
from heldout.eval.report.tables import lift_cell, metric_of, part_name
from heldout.eval.report.wording import PER_CENT, Bounded, bounded, count, interval, measure, opening, signed, title
from heldout.eval.statistics import FEW


def kind(inputs: Inputs, system: System, best: System | None) -> str:
    """Which mark a system has: the model, the best baseline, another model, another baseline."""
    if system is inputs.main:
        return "model"
    if best is not None and system.name == best.name:
        return "best"
    return "baseline" if system.baseline else "other"


def forest(inputs: Inputs, found: Comparisons) -> Picture | None:
    """Every slice of every test set as a row; None where the main system has no value of its main metric."""
    main, metric = inputs.main, inputs.metric
    values = {
        (data.name, key): value
        for data in inputs.tests
        for key in ["", *main.scores.get(data.name, {}).get("slices", {})]
        if (value := _value(main, data.name, key, inputs))[0] is not None
    }
    if not values:
        return None
    best = found.best.name if found.best else ""
    lifts = {(data, key): lift for (other, data, key), lift in found.lifts.items() if other == best}
    shares = (0, 1) if metric in PER_CENT else (-inf, inf)
    spans = spanning(list(values.values()), within=shares), spanning([*_differences(lifts), (0.0, None, None)])
    groups = tuple(
        Lines(
            data.name,
            f"n = {count(len(data.examples))} {words_of(inputs).many}",
            tuple(_row(inputs, entry, values[entry], lifts, spans) for entry in values if entry[0] == data.name),
        )
        for data in inputs.tests
    )
    beside = axis(spans[1], [signed(text) for text in tick_labels(spans[1], metric, sign=True)]) if lifts else None
    heads = (f"{opening(title(metric))} of {main.name}", _lift_head(best, metric)) if lifts else ()
    words = f"{title(metric)} of {main.name} by slice" + (f", and its lift over {best}" if lifts else "")
    shown = tuple(group for group in groups if group.rows)
    return Picture(shown, axis(spans[0], tick_labels(spans[0], metric)), _caption(inputs, best), words, beside, heads)


def _lift_head(best: str, metric: str) -> str:
    return f"Lift over {best}, {'points' if metric in PER_CENT else title(metric)}"


def _caption(inputs: Inputs, best: str) -> str:
    higher = find(inputs.metric).higher_is_better
    said = f"Lines are 95% intervals; further {'right' if higher else 'left'} is better."
    if not best:
        return said
    sides = ("right", "left") if higher else ("left", "right")
    return (
        f"{said} Lift is the paired difference on the same {words_of(inputs).many}: {sides[0]} of the line "
        f"{inputs.main.name} is better, {sides[1]} of it {best}, the baseline that is best on dev. One whose interval "
        "crosses the line may be chance, and among many slices some miss it by chance alone."
    )


def _value(system: System, data: str, key: str, inputs: Inputs) -> Bounded:
    scores = system.scores.get(data, {})
    part = scores.get("slices", {}).get(key, {}) if key else scores
    return bounded(part.get("metrics", {}).get(metric_of(inputs, scores, key)))


def _differences(lifts: Mapping[Any, Lift]) -> list[Bounded]:
    return [lift.difference for lift in lifts.values()]


def _row(
    inputs: Inputs,
    entry: tuple[str, str],
    value: Bounded,
    lifts: Mapping[tuple[str, str], Lift],
    spans: tuple[Scale, Scale],
) -> Line:
    """A slice: its value, and beside it the lift."""
    data, key = entry
    scores = inputs.main.scores[data]
    name, metric = part_name(inputs, scores, key), metric_of(inputs, scores, key)
    n = scores.get("slices", {}).get(key, {}).get("n") if key else None
    shown, reach = measure(metric, value[0]), interval(metric, value[1], value[2])
    few = ("few",) if isinstance(n, int) and n < FEW else ()
    beside = _lift_line(name, lifts.get(entry), spans[1], metric) if lifts else None
    said = f"{name} on {data}: {shown}{f' ({reach})' if reach else ''}"
    size = count(n) if isinstance(n, int) else ""
    return Line(name, whisker(value, spans[0], "model", said), shown, reach, size, few, beside)


def _lift_line(name: str, lift: Lift | None, span: Scale, metric: str) -> Line:
    difference = lift.difference if lift else (None, None, None)
    cell = lift_cell(metric, difference)
    drawn = whisker(difference, span, "model", f"lift on {name}: {cell.value} ({cell.note})", zero=True)
    return Line(name, drawn, cell.value, cell.note)


def p_value(p: float) -> str:
    """A p-value to three decimals with its sign, never as zero: = 0.013, < 0.001."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def spanning(values: Sequence[Bounded], within: tuple[float, float] = (-inf, inf), most: float = 7) -> Scale:
    """A scale that holds all values and their intervals."""
    return scale([bound for value in values for bound in value if bound is not None], within=within, most=most)


def tick_labels(span: Scale, metric: str, *, sign: bool = False) -> list[str]:
    """Tick labels with no more decimals than the step needs."""
    factor = 100 if metric in PER_CENT else 1
    step = (span.ticks[1] - span.ticks[0]) * factor
    digits = next(d for d in range(6) if abs(round(step, d) - step) < 1e-9)
    unit = "" if factor == 1 or sign else "%"
    return [f"{tick * factor:{'+' if sign and tick else ''}.{digits}f}{unit}" for tick in span.ticks]
