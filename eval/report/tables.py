"""The tables of the report: systems by slices, all metrics, the bins of a reliability diagram."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.eval.report.inputs import Inputs
from heldout.eval.report.wording import (
    PER_CENT,
    Bounded,
    bounded,
    count,
    difference_interval,
    interval,
    known,
    measure,
    percent,
    signed_amount,
    title,
)
from heldout.eval.statistics import FEW
from heldout.eval.text import heading


@dataclass(frozen=True)
class Cell:
    """One cell: a value, a smaller line under it, whether its text is long enough to wrap, and the shade of its ground:
    right or wrong, and from 1 to 4 how deep (right-2).
    """

    value: str
    note: str = ""
    long: bool = False
    shade: str = ""


@dataclass(frozen=True)
class Row:
    """One row: its head with badges, its cells, and whether it stands for the whole set."""

    name: str
    cells: tuple[Cell, ...]
    badges: tuple[str, ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class HtmlTable:
    """A table: the heads (the first over the row heads) and the rows; one of ``prose`` stands flush left."""

    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    prose: bool = False


def slice_name(key: str) -> str:
    """A slice's key as people read it: 'pair_negation=both' → 'pair negation: both'."""
    name, _, part = key.partition("=")
    return f"{name.replace('_', ' ')}: {part}"


def metric_of(inputs: Inputs, scores: Mapping[str, Any], key: str) -> str:
    """The metric to read of a slice: the main one, or the one that the slice names where that one would flatter."""
    read = _part(scores, key).get("read")
    return read if isinstance(read, str) and read in scores.get("metrics", {}) else inputs.metric


def part_name(inputs: Inputs, scores: Mapping[str, Any], key: str) -> str:
    """A slice's name, with the metric that is read of it where that is not the main one; 'all' for the whole set."""
    if not key:
        return "all"
    metric = metric_of(inputs, scores, key)
    return slice_name(key) + ("" if metric == inputs.metric else f" ({title(metric)})")


def slice_table(inputs: Inputs, data: str, lifts: Mapping[tuple[str, str], Bounded], best: str) -> HtmlTable:
    """The main metric on a set and its slices: a column a system, and the lift of the main one where it is known."""
    systems = [system for system in inputs.systems if data in system.scores]
    known = {key: s.scores[data] for s in reversed(systems) for key in s.scores[data].get("slices", {})}
    keys = dict.fromkeys(key for system in systems for key in system.scores[data].get("slices", {}))
    show_lift = any(name == data for name, _ in lifts)
    rows = []
    for key in ["", *keys]:
        of = known.get(key, {})
        cells = [_slice_cell(metric_of(inputs, of, key), system.scores[data], key) for system in systems]
        sizes = dict.fromkeys(_size(system.scores[data], key) for system in systems)
        sizes.pop(None, None)
        if show_lift:
            cells.append(lift_cell(inputs.metric, lifts.get((data, key))))
        # A slice of the system's own (what it cut) has a size for each of them.
        size = Cell(" / ".join(count(n) for n in sizes if n is not None), _part(of, key).get("about", ""))
        few = ("few",) if any(n is not None and n < FEW for n in sizes) else ()
        rows.append(Row(part_name(inputs, of, key), (size, *cells), few, whole=not key))
    lift = [f"lift over {best}{', points' if inputs.metric in PER_CENT else ''}"] if show_lift else []
    return HtmlTable(("slice", "n", *(system.name for system in systems), *lift), tuple(rows))


def _part(scores: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = scores.get("slices", {}).get(key, {}) if key else scores
    return part if isinstance(part, Mapping) else {}


def _size(scores: Mapping[str, Any], key: str) -> int | None:
    n = _part(scores, key).get("n")
    return n if isinstance(n, int) else None


def _slice_cell(metric: str, scores: Mapping[str, Any], key: str) -> Cell:
    return metric_cell(metric, _part(scores, key).get("metrics", {}).get(metric))


def metric_cell(metric: str, entry: Any) -> Cell:
    """A metric with its interval under it, and an ECE's debiased value; or the reason why there is none."""
    value, low, high = bounded(entry)
    if value is None:
        return Cell("–", str(entry.get("note", "")) if isinstance(entry, Mapping) else "")
    notes = [interval(metric, low, high)]
    notes += [f"debiased {measure(metric, entry['debiased'])}"] if known(entry.get("debiased")) else []
    return Cell(measure(metric, value), "; ".join(filter(None, notes)))


def lift_cell(metric: str, difference: Bounded | None) -> Cell:
    """A signed difference with its interval under it."""
    value, low, high = difference or (None, None, None)
    if value is None:
        return Cell("–")
    return Cell(signed_amount(metric, value), difference_interval(metric, low, high))


def metrics_table(inputs: Inputs, data: str) -> HtmlTable:
    """Every metric of every system on one set, as answered, after what was fitted and by other decodings."""
    columns: list[tuple[str, Mapping[str, Any]]] = []
    for system in (system for system in inputs.systems if data in system.scores):
        scores = system.scores[data]
        columns.append((system.name, scores.get("metrics", {})))
        for kind, variant in scores.get("variants", {}).items():
            columns.append((f"{system.name} {heading(kind, variant)}", variant.get("metrics", {})))
    names = dict.fromkeys([*inputs.card.metrics, *(metric for _, metrics in columns for metric in metrics)])
    rows = [
        Row(title(name), tuple(metric_cell(name, metrics.get(name)) for _, metrics in columns))
        for name in names
        if any(metrics.get(name) is not None for _, metrics in columns)
    ]
    return HtmlTable(("metric", *(head for head, _ in columns)), tuple(rows))


def bins_table(sides: Sequence[tuple[str, Sequence[Any]]], events: str = "answers") -> HtmlTable:
    """The numbers of reliability diagrams: a row a bin that holds answers (or other events) on either side."""
    heads = ["confidence"]
    for name, _ in sides:
        heads += [f"{events} {name}", f"right {name}", f"mean confidence {name}"]
    rows = []
    for side_by_side in zip(*(bins for _, bins in sides), strict=True):
        if any(b.n for b in side_by_side):
            cells = [
                c
                for b in side_by_side
                for c in (
                    Cell(count(b.n)),
                    Cell(count(b.right), percent(b.right / b.n)) if b.n else Cell("–"),
                    Cell(percent(b.confidence)) if b.n else Cell("–"),
                )
            ]
            first = side_by_side[0]
            rows.append(Row(f"{percent(first.low)} to {percent(first.high)}", tuple(cells)))
    return HtmlTable(tuple(heads), tuple(rows))
