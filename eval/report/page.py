"""The page: its head, and the tabs that have something to say of the records."""

from collections.abc import Sequence
from dataclasses import dataclass

from heldout.eval.report.inputs import Inputs
from heldout.eval.report.kinds import words_of
from heldout.eval.report.tabs import Built, Report, build_tabs
from heldout.eval.report.verdict import banners
from heldout.eval.report.wording import count, listed, opening
from heldout.eval.run_data import DEV


@dataclass(frozen=True)
class Page:
    """Everything on the page, in words, tables and drawings."""

    title: str
    card: str
    intro: str
    banners: Sequence[str]
    tabs: Sequence[Built]


def make_page(report: Report) -> Page:
    """Gather the page."""
    inputs = report.inputs
    return Page(
        title=f"{inputs.main.name} on {listed([data.name for data in inputs.tests])}",
        card=f"{inputs.card.name}, version {inputs.card.version}",
        intro=_intro(inputs),
        banners=banners(inputs),
        tabs=build_tabs(report),
    )


def _intro(inputs: Inputs) -> str:
    splits = inputs.main.ledger.splits
    parts, many = [], words_of(inputs).many
    if "train" in splits:
        parts.append(f"trained on {count(splits['train'].get('n', 0))} {many} of {splits['train'].get('source', '?')}")
    if DEV in splits:
        parts.append(f"choices made on {count(splits[DEV].get('n', 0))} dev {many}")
    beside = [system.name for system in inputs.systems[1:]]
    parts.append(f"beside it {listed(beside)}" if beside else "nothing beside it")
    return f"{opening('; '.join(parts))}."
