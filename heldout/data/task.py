"""What a task is about, as a record of functions; one module a task, found by listing this folder for ``DATA =``."""

import importlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from heldout.data.large import Large
from heldout.data.names import Reading
from heldout.data.sources import Files, Loaded
from heldout.data.table import Table
from heldout.errors import Refused
from heldout.options import nearest
from heldout.records import Card, Example


def _unmarked(train: Sequence[Example], examples: Sequence[Example]) -> Sequence[Example]:
    return examples


@dataclass(frozen=True)
class Data:
    """``read`` makes examples of a table (with ``known`` labels: Refused for any other); ``card`` describes the task
    with the labels of these train examples; ``texts`` reads texts alone, of sources that may have no labels.

    ``key`` is the text field whose return tells that two splits share material though their questions differ (a
    premise, a passage); "" where all fields together do. ``files`` reads files of the task's own formats. ``mark``
    notes in ``about`` of its second examples what depends on train, its first. ``baselines`` are fitted unless others
    are asked for. ``large`` is how files of a million rows are read; None where they are not.
    """

    name: str
    read: Callable[[Table, Reading, Collection[str]], Loaded]
    card: Callable[[Sequence[Example]], Card]
    texts: Callable[[Table, Reading], Sequence[str]]
    key: str = ""
    files: Files | None = None
    mark: Callable[[Sequence[Example], Sequence[Example]], Sequence[Example]] = _unmarked
    baselines: tuple[str, ...] = ("majority",)
    large: Large | None = None


def task_names() -> list[str]:
    """The tasks there are: the modules of this folder that hold a ``DATA``."""
    return sorted(
        path.stem
        for path in Path(__file__).parent.glob("[a-z]*.py")
        if any(line.startswith("DATA = ") for line in path.read_text(encoding="utf-8").splitlines())
    )


def load_task(name: str) -> Data:
    """The data side of a task by name; Refused for a name that is none, naming the nearest."""
    known = task_names()
    if name not in known:
        raise Refused(f"no task {name!r}{nearest(name, known)}; the tasks are {', '.join(known)}")
    data: Data = importlib.import_module(f"heldout.data.{name}").DATA
    return data
