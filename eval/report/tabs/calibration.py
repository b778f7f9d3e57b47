"""The tab of calibration: what a stated confidence is worth, before and after what was fitted on dev."""

from dataclasses import dataclass
from typing import ClassVar

from heldout.eval.report import confidence
from heldout.eval.report.calibration import Calibration, calibration
from heldout.eval.report.pieces import Section
from heldout.eval.report.tabs import Report, Tab


@dataclass(frozen=True)
class Diagrams:
    """The diagrams, curves and tables of calibration.py in their own lay-out."""

    template: ClassVar[str] = "calibration.html.j2"
    calibration: Calibration


def _sections(report: Report) -> list[Section] | None:
    if report.inputs.card.kind == "lm":
        return None
    found = calibration(report.inputs)
    return [Section("", (Diagrams(found),), found.note), *confidence.sections(report.inputs)]


TAB = Tab("Calibration", 30, _sections)
