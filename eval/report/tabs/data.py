"""The tab of data: splits with what was dropped, texts found on both sides, what each system read."""

from heldout.eval.report.coverage import coverage_table, overlap_note, overlap_table, splits_table
from heldout.eval.report.pieces import Block, Piece, Section
from heldout.eval.report.tabs import Report, Tab

CUT = "What a system cuts off it cannot answer from. “Not recorded” means that its predictions do not say what it saw."


def _sections(report: Report) -> list[Section]:
    inputs = report.inputs
    overlap = overlap_table(inputs)
    shared: tuple[Piece, ...] = (Block("", overlap, caption="overlap between splits"),) if overlap.rows else ()
    return [
        Section("What was trained on, and what was dropped", (Block("", splits_table(inputs), caption="splits"),)),
        Section("Texts found on both sides", shared, overlap_note(inputs)),
        Section("What each system saw", (Block("", coverage_table(inputs), caption="coverage"),), CUT),
    ]


TAB = Tab("Data", 60, _sections)
