"""The first tab: how good, against what, where it breaks, whether its confidence can be trusted; in one screen."""

from dataclasses import dataclass
from typing import ClassVar

from heldout.eval.report.pictures import overview
from heldout.eval.report.pieces import Picture, Section
from heldout.eval.report.tabs import Report, Tab
from heldout.eval.report.verdict import verdict


@dataclass(frozen=True)
class Overview:
    """The verdict, its first sentence in large, beside the main metric of every system on every test set."""

    template: ClassVar[str] = "overview.html.j2"
    verdict: tuple[str, ...]
    picture: Picture


def _sections(report: Report) -> list[Section]:
    inputs, found = report.inputs, report.found
    return [Section("", (Overview(tuple(verdict(inputs, found)), overview(inputs, found.best)),))]


TAB = Tab("Overview", 0, _sections)
