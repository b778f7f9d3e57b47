"""The tabs of the report, one file a tab: a module here has a TAB and is found by listing the folder.

To add a tab, write ``eval/report/tabs/NAME.py``, and nothing else::

    \"\"\"The tab NAME: what it answers.\"\"\"

    from heldout.eval.report.pieces import Block, Group, Prose, Section
    from heldout.eval.report.tabs import Report, Tab


    def _sections(report: Report) -> list[Section] | None:
        rows = ...  # of report.inputs: card, tests, systems with their predictions and scores; or of a file in
        if not rows:  # report.inputs.main.folder (RUN/checks.json)
            return None  # the tab is left out
        return [Section("", (Block("By phenomenon", table),), note="What the numbers mean.")]


    TAB = Tab("Behaviour", 25, _sections)

- The address of a tab is its module's name: weak_spots.py is at ``#weak-spots``.
- ``order`` says where it stands: overview 0, slices 10, entities, answers and loss 20, behaviour 25, weak spots 27,
  calibration 30, compare 40, mistakes 50, data 60, checks 70, provenance 80.
- A section holds pieces (``eval/report/pieces.py``): Prose, Facts, Block (a table of ``tables.HtmlTable``), Group
  (pieces of one test set, folded or open), Picture (a forest plot), Drawing (an SVG of your own), Beside (texts side by
  side). A piece of your own is a dataclass with ``template: ClassVar[str]``, the name of a file NAME.html.j2 beside
  pieces.py that draws ``piece``. Strings are escaped for you; pass Markup only for what you made and escaped
  (``charts.py``, ``marks.py``).
- Nothing else is to do for ``--format md`` and ``json``: they are made of the same pieces.
- Where ``report.text`` is False (``--no-text``) no word of an example's text may stand in a section: ids and counts.
- ``report.replicates`` is how many bootstrap replicates to draw where a tab makes intervals of its own.
"""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from heldout.eval.report.comparisons import Comparisons
from heldout.eval.report.fresh import Say
from heldout.eval.report.inputs import Inputs, quiet
from heldout.eval.report.pieces import Section
from heldout.eval.statistics import REPLICATES


@dataclass(frozen=True)
class Report:
    """What every tab is made from: the records, the comparisons of them, and what was asked for.

    text: whether texts of examples may be shown. shown: how many mistakes to list. say: hears what is being computed.
    """

    inputs: Inputs
    found: Comparisons
    text: bool = True
    shown: int = 300
    replicates: int = REPLICATES
    say: Say = quiet


@dataclass(frozen=True)
class Tab:
    """A tab: its name on the page, where it stands among the others, and its sections; None where it has nothing to
    say of these records.
    """

    title: str
    order: float
    build: Callable[[Report], Sequence[Section] | None]


@dataclass(frozen=True)
class Built:
    """A tab with its sections; ``id`` is its address on the page."""

    id: str
    title: str
    sections: tuple[Section, ...]


@cache
def all_tabs() -> tuple[tuple[str, Tab], ...]:
    """(module name, tab) of every module of this folder, in the order to show them."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    found: list[tuple[str, Tab]] = [(name, importlib.import_module(f"{__name__}.{name}").TAB) for name in names]
    return tuple(sorted(found, key=lambda entry: (entry[1].order, entry[0])))


def build_tabs(report: Report) -> tuple[Built, ...]:
    """The tabs that have something to say of a report's records."""
    built = ((name, tab, tab.build(report)) for name, tab in all_tabs())
    return tuple(Built(name.replace("_", "-"), tab.title, tuple(made)) for name, tab, made in built if made)
