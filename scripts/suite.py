"""Test suites: list those there are, write one to a file, begin one of your own, check it row by row.

    heldout suite list                                   what there is
    heldout suite list negation --task nli               its phenomena, an example each
    heldout suite write negation --task nli --out negation.jsonl
    heldout suite new mine.jsonl --task sentiment        a commented template
    heldout suite check mine.jsonl --run runs/imdb       what is wrong with it, by row, for this run's task and labels

A suite is scored like any data: heldout predict RUN --data negation=suite:negation, or --data mine=mine.jsonl.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.data import task_names
from heldout.data.sources import SourceOptions
from heldout.data.suites import PREFIX, read_suite
from heldout.data.suites.checking import Checked, check_source
from heldout.data.suites.listing import phenomena, suites
from heldout.data.suites.template import template
from heldout.data.task import load_task
from heldout.errors import Refused
from heldout.eval.columns import aligned
from heldout.options import nearest, option, positional
from heldout.records import read_card
from heldout.runs import atomic, read_json, write_lines

#: How many rows with something wrong are listed.
SHOWN = 20
ACTIONS = ("list", "new", "check", "write")


@dataclass(frozen=True)
class Options(SourceOptions):
    """What ``heldout suite`` takes."""

    action: str = positional(f"what to do: {', '.join(ACTIONS)}", metavar="ACTION")
    what: str = positional("the suite's name, or the file", metavar="NAME|FILE", default="")
    task: str = option("", f"the task of the cases: {', '.join(task_names())}")
    run: str = option("", "check: the run that is to answer; gives the task and the labels", metavar="RUN")
    out: str = option("", "write: the file to write", metavar="FILE.jsonl")
    json: bool = option(False, "list a suite, or check: print it as JSON")


def run(options: Options) -> int:
    """Do the action; 0 when done."""
    actions = dict(zip(ACTIONS, (_list, _new, _check, _write), strict=True))
    if options.action not in actions:
        known = ", ".join(ACTIONS)
        raise Refused(f"heldout suite {options.action}: the actions are {known}{nearest(options.action, ACTIONS)}")
    return actions[options.action](options)


def _list(options: Options) -> int:
    if not options.what:
        print("\n".join(aligned(suites(), right={2, 3, 4})))
        return 0
    rows = [row.values for row in read_suite(_source(options.what), _task(options)).rows]
    table = phenomena(rows)
    if options.json:
        print(json.dumps([dict(zip(table[0], row, strict=True)) for row in table[1:]], indent=2, ensure_ascii=False))
    else:
        print("\n".join(aligned(table, right={1})))
    return 0


def _new(options: Options) -> int:
    path = Path(_what(options, "the file to write"))
    if path.exists():
        raise Refused(f"{path}: is there already; give another name")
    if path.suffix != ".jsonl":
        raise Refused(f"{path}: a suite is a file of JSON lines; name it {path.with_suffix('.jsonl')}")
    text = template(_task(options), path.name)
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(f"{path}: a template; put your cases there, then heldout suite check {path} --task {options.task}")
    return 0


def _write(options: Options) -> int:
    name = _what(options, "the suite's name")
    if not options.out:
        raise Refused("heldout suite write needs --out: the file to write")
    table = read_suite(_source(name), _task(options))
    write_lines(Path(options.out), (dict(row.values) for row in table.rows))
    print(f"{options.out}: {len(table.rows)} rows of {table.source}")
    return 0


def _check(options: Options) -> int:
    source = _what(options, "the file to check")
    task, labels = options.task, list[str]()
    if options.run:
        card = read_card(Path(options.run) / "card.json")
        labels = [*card.labels, *card.collapse.values()]
        task = task or str(read_json(Path(options.run) / "options.json").get("task", ""))
    checked = check_source(task or _task(options), source, options, labels)
    print(json.dumps(checked.to_json(), indent=2, ensure_ascii=False) if options.json else _told(source, checked))
    if checked.problems:
        wrong = len({place for place, _ in checked.problems})
        raise Refused(f"{source}: {wrong} of {checked.rows} rows have something wrong; mend those listed above")
    return 0


def _told(source: str, checked: Checked) -> str:
    lines = [f"{source}, {place}: {what}" for place, what in checked.problems[:SHOWN]]
    if len(checked.problems) > SHOWN:
        lines.append(f"… and {len(checked.problems) - SHOWN} more")
    counts: Mapping[str, Mapping[str, Any]] = {
        "tests": checked.phenomena,
        "expects": checked.expectations,
        "gold": checked.golds,
    }
    lines.append(f"{checked.rows} rows, {checked.pairs} pairs")
    lines += [f"{name}: {', '.join(f'{k} {n}' for k, n in found.items())}" for name, found in counts.items() if found]
    return "\n".join(lines)


def _what(options: Options, meaning: str) -> str:
    if not options.what:
        raise Refused(f"heldout suite {options.action} needs a name: {meaning}")
    return options.what


def _task(options: Options) -> str:
    if not options.task:
        raise Refused(f"heldout suite {options.action} needs --task, one of {', '.join(task_names())}")
    return load_task(options.task).name


def _source(name: str) -> str:
    return name if name.startswith(PREFIX) else PREFIX + name
