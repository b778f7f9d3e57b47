"""The tab of checks: what ``heldout doctor`` found on a run, from RUN/checks.json."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.eval.report.fresh import read_object
from heldout.eval.report.pieces import Block, Section
from heldout.eval.report.tables import Cell, HtmlTable, Row
from heldout.eval.report.tabs import Report, Tab

#: Outcomes as they are shown, the worst first, with the shade of their cell.
SHOWN = {"fail": ("fails", "wrong-3"), "pass": ("passes", ""), "not applicable": ("not applicable", "")}
KEYS = ("title", "group", "why", "outcome", "figure", "tolerance", "advice", "data", "n")
NOTE = (
    "Made by heldout doctor on a sample of examples, in fp32. A check passes where its figure is within what is "
    "tolerated; one that fails says what to do."
)


def _sections(report: Report) -> list[Section] | None:
    blocks = []
    for system in report.inputs.systems:
        path = system.folder / "checks.json"
        if path.exists():
            rows = read_checks(path)
            blocks.append(Block(system.name, _table(rows), _counted(rows), caption=f"checks of {system.name}"))
    return [Section("", tuple(blocks), NOTE)] if blocks else None


def read_checks(path: Path) -> list[Mapping[str, Any]]:
    """The rows of a checks.json; Refused where it is not as ``heldout doctor`` writes it."""
    rows = read_object(path).get("checks")
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(KEYS) <= row.keys() for row in rows):
        raise Refused(f"{path}: checks must be a list of objects with {', '.join(KEYS)}; make it again: heldout doctor")
    odd = next((row["outcome"] for row in rows if row["outcome"] not in SHOWN), None)
    if odd is not None:
        raise Refused(f"{path}: outcome {odd!r} is none of {', '.join(SHOWN)}; make it again: heldout doctor")
    return rows


def _table(rows: Sequence[Mapping[str, Any]]) -> HtmlTable:
    """Checks that fail first, else in their order."""
    ordered = sorted(rows, key=lambda row: row["outcome"] != "fail")
    return HtmlTable(
        ("check", "outcome", "figure", "tolerated", "why, and what to do"), tuple(map(_row, ordered)), True
    )


def _row(row: Mapping[str, Any]) -> Row:
    word, shade = SHOWN[row["outcome"]]
    do = f"To do: {row['advice']}" if row["advice"] else ""
    cells = (
        Cell(word, shade=shade),
        Cell(str(row["figure"]), f"{row['n']} examples of {row['data']}", long=True),
        Cell(str(row["tolerance"])),
        Cell(str(row["why"]), do, long=True),
    )
    return Row(str(row["title"]), cells)


def _counted(rows: Sequence[Mapping[str, Any]]) -> str:
    counts = {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in SHOWN}
    said = [f"{n} {outcome if n > 1 else SHOWN[outcome][0]}" for outcome, n in counts.items() if n]
    return f"Of {len(rows)} checks {', '.join(said)}."


TAB = Tab("Checks", 70, _sections)
