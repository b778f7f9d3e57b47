"""How a model does a task: encode, model class, loss, decode; one file a task, found by its name.

A task is a frozen dataclass of functions: ``dataclasses.replace(task, loss=…)`` makes a new one from another.
"""

import importlib
from pathlib import Path

from heldout.errors import Refused
from heldout.options import nearest
from heldout.records import Card
from heldout.train.task import Task


def names() -> list[str]:
    """The tasks there are: the files of this folder."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def load_task(name: str, card: Card | None = None) -> Task:
    """The task of that name, as the card asks it where one is given; Refused naming the nearest where there is none."""
    if name not in names():
        raise Refused(f"unknown task {name!r}{nearest(name, names())}; there are {', '.join(names())}")
    task = importlib.import_module(f"heldout.tasks.{name}").TASK
    assert isinstance(task, Task)
    return task if card is None else task.for_card(task, card)
