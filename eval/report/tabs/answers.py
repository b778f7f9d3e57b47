"""The tab of questions: exact match and F1, and what the threshold of the null score does."""

from heldout.eval.report.kinds import view_of
from heldout.eval.report.tabs import Tab

TAB = Tab(
    "Answers",
    20,
    lambda report: view_of(report.inputs).sections(report.inputs) if report.inputs.card.kind == "span" else None,
)
