"""The tab of costs: what a smaller system keeps of the one it was made of, and what it saves; from RUN/cost.json."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.eval.report.fresh import read_object
from heldout.eval.report.inputs import System
from heldout.eval.report.pareto import Point, pareto
from heldout.eval.report.pieces import Block, Drawing, Piece, Prose, Section
from heldout.eval.report.tables import Cell, HtmlTable, Row, slice_name
from heldout.eval.report.tabs import Report, Tab
from heldout.eval.report.wording import count, measure, percent, title

KEYS = ("reference", "data", "examples", "machine", "systems", "kept")
#: What DistilBERT's authors say of it against BERT-base; the seeds of this project quote them.
THEIRS = (
    "DistilBERT (Sanh et al. 2019) keeps 97% of BERT-base’s quality with 40% fewer parameters and 60% faster. Those "
    "are their figures: quality on GLUE, speed on STS-B’s dev set at batch 1 on a CPU; no measurement of ours."
)
NOTE = (
    "Measured by heldout cost: all systems answered the same examples by turns in one process, after warming up. "
    "Latency is the time from tokens to logits of one example, with its quartiles; throughput that of the best batch "
    "size. Peak memory is of a process that does nothing else, the runtime and its libraries included."
)
UNMEASURED = "Time and memory were not measured: heldout cost RUN REFERENCE does, without --no-speed."
KEPT = (
    "Retention is the smaller system’s value divided by the reference’s, on the same texts, with its paired 95% "
    "interval. Agreement counts equal answers, right or wrong. KL is that of the reference’s probabilities to the "
    "smaller system’s, in nats. ECE is given as answered and, behind the arrow, after each system’s own temperature."
)


def _sections(report: Report) -> list[Section] | None:
    found = [(system, read_cost(system.folder / "cost.json")) for system in report.inputs.systems if _has(system)]
    sections = []
    for system, cost in found:
        name = system.name if len(found) > 1 else ""
        sections.append(Section(name, tuple(_pieces(cost)), NOTE if cost["systems"] else ""))
        for folder, sets in cost["kept"].items():
            kept = Path(folder).name
            sections.append(Section(f"What {kept} keeps of {Path(cost['reference']).name}", tuple(_kept(sets)), KEPT))
    return sections or None


def _has(system: System) -> bool:
    return (system.folder / "cost.json").exists()


def read_cost(path: Path) -> Mapping[str, Any]:
    """A run's cost.json; Refused where it is not as ``heldout cost`` writes it."""
    found = read_object(path)
    shapes = {"systems": list, "kept": dict, "machine": dict}
    if not set(KEYS) <= found.keys() or any(not isinstance(found[key], shape) for key, shape in shapes.items()):
        raise Refused(f"{path}: must hold {', '.join(KEYS)}; make it again: heldout cost RUN REFERENCE")
    rows = found["systems"]
    if not all(isinstance(row, dict) and {"name", "runtime", "latency", "throughput"} <= row.keys() for row in rows):
        raise Refused(f"{path}: systems must be what heldout cost measures; make it again: heldout cost RUN REFERENCE")
    return found


def _pieces(cost: Mapping[str, Any]) -> Iterator[Piece]:
    rows = cost["systems"]
    if not rows:
        yield Prose((UNMEASURED,))
    else:
        yield Prose((*_sentences(cost), THEIRS))
        machine = cost["machine"]
        on = f"{machine.get('processor', '')}, {machine.get('threads')} threads"
        where = f"{cost['examples']} examples of {cost['data']}; {on}"
        yield Block("", _table(rows, _reference(cost)), where, caption="size, memory and speed of each system")
    yield from _pictures(cost)


def _reference(cost: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next((row for row in cost["systems"] if row["folder"] == cost["reference"]), None)


def _sentences(cost: Mapping[str, Any]) -> Iterator[str]:
    """The product against the reference, in the form of the figures that people quote."""
    product, reference = cost["systems"][0], _reference(cost)
    if reference is None:
        return
    kept = [block["slices"][""]["value"] for block in next(iter(cost["kept"].values()), {}).values()]
    known = [value for value in kept if value is not None]
    quality = f"keeps {percent(known[0])} of {Path(cost['reference']).name}’s quality" if known else "answers"
    faster = _median(reference["latency"]["seconds"]) / _median(product["latency"]["seconds"])
    parts = [quality]
    if product.get("parameters") and reference.get("parameters"):
        parts.append(f"has {percent(1 - product['parameters'] / reference['parameters'])} fewer parameters")
    parts.append(f"takes {percent(1 - product['bytes'] / reference['bytes'])} less room on disk")
    rates = [row["throughput"]["examples_a_second"][1] for row in (product, reference)]
    parts.append(f"answers one text {faster:.2f}× as fast and many {rates[0] / rates[1]:.2f}× as fast")
    yield f"{product['name']} ({product['runtime']}) {', '.join(parts[:-1])}, and {parts[-1]}."


def _median(quartiles: Sequence[float]) -> float:
    return float(quartiles[1])


def _table(rows: Sequence[Mapping[str, Any]], reference: Mapping[str, Any] | None) -> HtmlTable:
    heads = ("system", "runtime", "parameters", "on disk", "peak memory", "latency, batch 1", "throughput")
    return HtmlTable(heads, tuple(_row(row, reference) for row in rows))


def _row(row: Mapping[str, Any], reference: Mapping[str, Any] | None) -> Row:
    low, middle, high = (1000 * value for value in row["latency"]["seconds"])
    slow, rate, fast = row["throughput"]["examples_a_second"]
    other = reference if reference is not row else None
    speed = f"; {rate / other['throughput']['examples_a_second'][1]:.2f}× the reference" if other else ""
    whole, nonzero = row.get("parameters"), row.get("nonzero")
    zero = f"{percent(1 - nonzero / whole)} are 0" if whole and nonzero and nonzero < 0.99 * whole else ""
    cells = (
        Cell(row["runtime"], str(row.get("what", ""))),
        Cell(count(whole) if whole else "–", zero),
        Cell(f"{row['bytes'] / 1e6:.1f} MB"),
        Cell(f"{row['peak_memory'] / 1e6:.0f} MB"),
        Cell(f"{middle:.1f} ms", f"{low:.1f} to {high:.1f}"),
        Cell(f"{rate:.1f} a second", f"{slow:.1f} to {fast:.1f}, batch {row['throughput']['batch']}{speed}"),
    )
    return Row(str(row["name"]), cells, whole=other is None)


def _pictures(cost: Mapping[str, Any]) -> Iterator[Piece]:
    """Quality against latency and against bytes, one drawing each, for the first set."""
    for axis, name, unit in (("seconds", "time of one text", "ms"), ("bytes", "room on disk", "MB")):
        points = list(_points(cost, axis))
        if len(points) > 1:
            metric = title(_first(cost)["metric"])
            words = f"{metric} against {name}; up and to the left is better. The line joins those that none beats."
            yield Drawing(pareto(points, f"{name}, {unit}", metric, words), words, f"{metric} against {name}")


def _first(cost: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was kept on the first set by the first product."""
    block: Mapping[str, Any] = next(iter(next(iter(cost["kept"].values())).values()))
    return block


def _points(cost: Mapping[str, Any], axis: str) -> Iterator[Point]:
    for row in cost["systems"]:
        quality = _quality(cost, row["folder"])
        if quality is not None:
            across = 1000 * _median(row["latency"]["seconds"]) if axis == "seconds" else row["bytes"] / 1e6
            yield Point(str(row["name"]), across, quality)


def _quality(cost: Mapping[str, Any], folder: str) -> float | None:
    """A system's main metric on the first set: that of products as kept, that of the reference beside them."""
    if folder in cost["kept"]:
        side, sets = "run", cost["kept"][folder]
    else:
        side, sets = "reference", next(iter(cost["kept"].values()), {})
    block: Mapping[str, Any] = next(iter(sets.values()), {"slices": {}})
    value = block["slices"].get("", {}).get(side)
    return float(value) if isinstance(value, int | float) else None


def _kept(sets: Mapping[str, Any]) -> Iterator[Piece]:
    heads = ("test set", "n", "retention", "agreement", "right → wrong", "wrong → right", "KL", "ECE")
    yield Block("", HtmlTable(heads, tuple(_kept_row(name, block) for name, block in sets.items())), caption="kept")
    for name, block in sets.items():
        slices = [(key, entry) for key, entry in block["slices"].items() if key]
        if slices:
            metric = block["metric"]
            rows = tuple(_slice_row(metric, key, entry) for key, entry in slices)
            names = ("slice", "n", "retention", f"{title(metric)} before", "after")
            yield Block(f"{name} by slice", HtmlTable(names, rows), caption=f"retention on {name} by slice")


def _kept_row(name: str, block: Mapping[str, Any]) -> Row:
    kl, ece, churn = block["kl"], block["ece"], block["churn"]
    cells = (
        Cell(count(block["n"])),
        _retention(block["slices"][""]),
        Cell(percent(block["agreement"], 2)),
        Cell(count(churn["right_to_wrong"])),
        Cell(count(churn["wrong_to_right"])),
        Cell("–" if kl is None else f"{kl:.4f}"),
        Cell(_arrow(ece["run"]), f"reference {_arrow(ece['reference'])}"),
    )
    return Row(name, cells, whole=True)


def _arrow(ece: Mapping[str, Any]) -> str:
    return f"{measure('ece', ece['before'])} → {measure('ece', ece['after'])}"


def _retention(entry: Mapping[str, Any]) -> Cell:
    if entry["value"] is None:
        return Cell("–")
    within = "" if entry["low"] is None else f"{percent(entry['low'])} to {percent(entry['high'])}"
    return Cell(percent(entry["value"]), within)


def _slice_row(metric: str, key: str, entry: Mapping[str, Any]) -> Row:
    before, after = (measure(metric, entry.get(side)) for side in ("reference", "run"))
    cells = (Cell(count(entry["n"])), _retention(entry), Cell(before), Cell(after))
    return Row(slice_name(key), cells, ("few",) if entry.get("few") else ())


TAB = Tab("Cost", 45, _sections)
