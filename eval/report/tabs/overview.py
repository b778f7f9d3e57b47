"""The first tab: how good, against what, where it breaks, whether its confidence can be trusted; in one screen."""

from dataclasses import dataclass
from typing import ClassVar

from heldout.eval.report.pieces import Section
from heldout.eval.report.summary_table import Summary, summary
from heldout.eval.report.tabs import Report, Tab
from heldout.eval.report.verdict import Told, verdict_groups


@dataclass(frozen=True)
class Overview:
    """The verdict by question, its first sentence in large, beside the main metric on every test set."""

    template: ClassVar[str] = "overview.html.j2"
    groups: tuple[Told, ...]
    summary: Summary


def _sections(report: Report) -> list[Section]:
    inputs, found = report.inputs, report.found
    return [Section("", (Overview(verdict_groups(inputs, found), summary(inputs, found.best)),))]


TAB = Tab("Overview", 0, _sections)
