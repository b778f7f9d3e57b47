"""The tab of provenance: fits, hashes, options, versions, and how to read the numbers."""

from heldout.eval.report.pieces import Facts, Prose, Section
from heldout.eval.report.provenance import methods, provenance, records
from heldout.eval.report.tabs import Report, Tab


def _sections(report: Report) -> list[Section]:
    inputs = report.inputs
    systems = tuple(
        Facts(records(system), f"{system.name}: options and versions", folded=system is not inputs.main)
        for system in inputs.systems
    )
    return [
        Section("", (Facts(provenance(inputs)), *systems)),
        Section("How to read the numbers", (Prose(tuple(methods(inputs, report.found))),)),
    ]


TAB = Tab("Provenance", 80, _sections)
