"""Suites of cases whose gold is known by construction; a SOURCE ``suite:NAME`` reads one, for the task of the call.

    heldout predict RUN --data negation=suite:negation          the cases of RUN's task
    heldout finetune nli --train suite:composition@train --test composition=suite:composition …

A suite is a table of rows like any file's, with the columns phenomenon, pair, role and expect: the task's own reader
makes examples of it, and what is scored is files like all else. A new suite is a line in SUITES.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.data.suites import composition, negation_ner, negation_nli, negation_qa, negation_sentiment
from heldout.data.suites.names import as_on_card
from heldout.data.table import Row, Table
from heldout.errors import Refused
from heldout.options import nearest

PREFIX = "suite:"
Rows = Callable[[], list[dict[str, Any]]]


@dataclass(frozen=True)
class Suite:
    """A suite: what it tests in a line, and its rows by task and part ("" is the one that no @PART asks for)."""

    about: str
    rows: Mapping[str, Mapping[str, Rows]]


SUITES: Mapping[str, Suite] = {
    "negation": Suite(
        "what a negation turns round, and what it must not touch; each text with its unnegated twin",
        {
            "sentiment": {"": negation_sentiment.rows},
            "nli": {"": negation_nli.rows},
            "qa": {"": negation_qa.rows},
            "ner": {"": negation_ner.rows},
        },
    ),
    "composition": Suite(
        "colours and things in pairs that were seen, recombined or never seen; @train and @easy are its training sets",
        {
            "nli": {
                "": lambda: composition.rows("test"),
                "train": lambda: composition.rows("train"),
                "easy": composition.easy,
            }
        },
    ),
}


def read_suite(source: str, task: str, known: Collection[str] = ()) -> Table:
    """The rows of ``suite:NAME`` or ``suite:NAME@PART`` for a task, labels named as the card (``known``) names them.

    Refused for a name, a task or a part that is none, saying which there are.
    """
    name, _, part = source.removeprefix(PREFIX).replace(":", "@").partition("@")
    if name not in SUITES:
        raise Refused(f"{source}: no suite {name!r}{nearest(name, list(SUITES))}; there are {', '.join(SUITES)}")
    tasks = SUITES[name].rows
    if task not in tasks:
        raise Refused(
            f"{source}: the suite {name} has no cases of {task or 'this task'}; it has some of {', '.join(tasks)}"
        )
    parts = tasks[task]
    if part not in parts:
        there = ", ".join(f"{PREFIX}{name}{'@' * bool(one)}{one}" for one in parts)
        raise Refused(f"{source}: the suite has no part {part!r} for {task}; there are {there}")
    return table_of(source, as_on_card(parts[part](), task, known))


def table_of(source: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows of columns as a table; a case is found by its number and its id."""
    columns = tuple(dict.fromkeys(column for row in rows for column in row))
    numbered = [Row(f"case {number} ({row['id']})", number, row) for number, row in enumerate(rows, 1)]
    return Table(source, source.removeprefix(PREFIX), columns, numbered)
