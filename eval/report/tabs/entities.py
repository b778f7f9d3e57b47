"""The tab of tagged sentences: entities by type, what became of them, which types are taken for which."""

from heldout.eval.report.kinds import view_of
from heldout.eval.report.tabs import Tab

TAB = Tab(
    "Entities",
    20,
    lambda report: view_of(report.inputs).sections(report.inputs) if report.inputs.card.kind == "tags" else None,
)
