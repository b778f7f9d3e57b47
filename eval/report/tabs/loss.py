"""The tab of language models: the held-out loss while training, and every system's loss and accuracies on every set."""

from pathlib import Path

from heldout.eval.report.fresh import read_object
from heldout.eval.report.inputs import Inputs
from heldout.eval.report.pieces import Block, Piece, Section
from heldout.eval.report.tables import Cell, HtmlTable, Row, metric_cell
from heldout.eval.report.tabs import Report, Tab
from heldout.eval.report.wording import bounded, count, known, measure, title
from heldout.eval.run_data import DEV

LOSS = "lm_nll"
NOTE = (
    "Nats a predicted token, lower is better. The n-grams were counted on the same training text and are asked at the "
    "same positions: a model that does not fall below them has learned nothing that counting would not give."
)


def _sections(report: Report) -> list[Section] | None:
    inputs = report.inputs
    if inputs.card.kind != "lm":
        return None
    curve = _curve(inputs)
    first: tuple[Piece, ...] = (Block("On dev while training", curve),) if curve.rows else ()
    sets = tuple(Block(data.name, _systems(inputs, data.name)) for data in inputs.tests)
    return [Section("", (*first, *sets), NOTE)]


def _curve(inputs: Inputs) -> HtmlTable:
    """The held-out loss at each step where it was measured, and what is left of the gap to the best n-gram on dev."""
    dev = {s.name: bounded(s.scores.get(DEV, {}).get("metrics", {}).get(LOSS))[0] for s in inputs.baselines}
    levels = {name: value for name, value in dev.items() if value is not None}
    rows = []
    for step, loss in _evaluations(inputs):
        below = tuple(
            Cell(measure(LOSS, loss - value), "below it" if loss < value else "") for value in levels.values()
        )
        rows.append(Row(f"step {count(step)}", (Cell(measure(LOSS, loss)), *below)))
    heads = (f"minus {name} ({measure(LOSS, value)})" for name, value in levels.items())
    return HtmlTable(("after", "loss on dev", *heads), tuple(rows))


def _evaluations(inputs: Inputs) -> list[tuple[int, float]]:
    """(step, loss) of every evaluation on dev, which the newest checkpoint holds."""
    states = sorted(inputs.main.folder.glob("checkpoints/step-*/state.json"), key=lambda path: _step(path.parent))
    rows = read_object(states[-1]).get("evaluations") if states else []
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [(int(row["step"]), float(row["nll"])) for row in found if known(row.get("nll")) and known(row.get("step"))]


def _step(folder: Path) -> int:
    number = folder.name.removeprefix("step-")
    return int(number) if number.isdecimal() else -1


def _systems(inputs: Inputs, data: str) -> HtmlTable:
    """Every system's metrics with their intervals."""
    found = [s for s in inputs.systems if data in s.scores]
    shown = [m for m in inputs.card.metrics if any(m in s.scores[data].get("metrics", {}) for s in found)]
    rows = tuple(
        Row(
            system.name,
            tuple(metric_cell(metric, system.scores[data]["metrics"].get(metric)) for metric in shown),
            whole=system is inputs.main,
        )
        for system in found
    )
    return HtmlTable(("system", *(title(metric) for metric in shown)), rows)


TAB = Tab("Loss", 20, _sections)
