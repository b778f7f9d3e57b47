"""What is wrong with a file of test cases, row by row: what its task cannot read, and what its pairs lack.

A row is read as ``predict`` would read it, alone, so that every row has its own say; then the expectations are looked
at among the cases that could be read.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from heldout.cases import ANSWER, CHANGED, EXPECT, ORIGINAL, direction
from heldout.data.golds import counted
from heldout.data.names import Reading
from heldout.data.sources import SourceOptions, read, reading
from heldout.data.table import Table
from heldout.data.task import Data, load_task
from heldout.errors import Refused
from heldout.records import Example

DROPPED = {
    "no_label": "it has no gold; a case needs the answer that is right",
    "empty_text": "a text is empty",
    "no_words": "it has no words",
    "answer_not_in_context": "no answer stands in the passage, or it stands there more than once",
}
#: A case with the place of its row.
Placed = tuple[str, Example]


@dataclass(frozen=True)
class Checked:
    """What was found: (place, what is wrong and what to do) of rows, what was counted of the cases that are right."""

    rows: int
    problems: Sequence[tuple[str, str]]
    phenomena: Mapping[str, int]
    expectations: Mapping[str, int]
    golds: Mapping[str, int]
    pairs: int

    def to_json(self) -> dict[str, Any]:
        """All of it as a JSON object."""
        problems = [{"row": place, "problem": what} for place, what in self.problems]
        return {**vars(self), "problems": problems}


def check_source(task: str, source: str, options: SourceOptions, known: Collection[str] = ()) -> Checked:
    """Check a SOURCE as cases of a task, with the labels of a card where they are ``known``."""
    data = load_task(task)
    how = replace(reading(options, "data", ("data",)), task=task, known=tuple(known), goldless=True)
    return check_table(data, read(source, how, files=data.files), how, known)


def check_table(data: Data, table: Table, how: Reading, known: Collection[str]) -> Checked:
    """Check the rows of a table.

    Refused where what is wrong is the same in every row: a column that is missing.
    """
    cases, problems = _read(data, table, how, known)
    if problems and not cases and len({what for _, what in problems}) == 1:
        raise Refused(f"{table.source}: in every row {problems[0][1]}")
    problems += [found for case in _pairs(cases) for found in _wrong(*case, known)]
    examples = [example for _, example in cases]
    return Checked(
        rows=len(table.rows),
        problems=problems,
        phenomena=_counts(examples, "phenomenon"),
        expectations=_counts(examples, "expect"),
        golds=counted(examples),
        pairs=len({example.about["pair"] for example in examples if "pair" in example.about}),
    )


def _counts(examples: Sequence[Example], field: str) -> dict[str, int]:
    """How many cases there are of what, the originals of pairs left out."""
    cases = [example.about for example in examples if example.about.get("role") != ORIGINAL]
    return dict(Counter(str(about[field]) for about in cases if field in about))


def _read(data: Data, table: Table, how: Reading, known: Collection[str]) -> tuple[list[Placed], list[tuple[str, str]]]:
    """The cases of the rows that can be read, and what is wrong with the others."""
    cases: list[Placed] = []
    problems: list[tuple[str, str]] = []
    for row in table.rows:
        try:
            loaded = data.read(replace(table, rows=[row], dropped={}), how, known)
        except Refused as error:
            problems.append((row.place, _told(str(error), table.source, row.place)))
            continue
        cases += [(row.place, example) for example in loaded.examples]
        problems += [(row.place, DROPPED.get(reason, reason.replace("_", " "))) for reason in loaded.dropped]
    return cases, problems


def _told(message: str, source: str, place: str) -> str:
    """An error without the place that stands before it, and in our words where a row was dropped alone."""
    what = message.removeprefix(source).lstrip(",: ").removeprefix(place).lstrip(",: ")
    dropped = [words for reason, words in DROPPED.items() if f"1 rows {reason.replace('_', ' ')}" in what]
    return dropped[0] if dropped else what


def _pairs(cases: Sequence[Placed]) -> Iterator[tuple[Placed, Sequence[Placed]]]:
    """Each case with all members of its pair, itself among them; alone where it has none."""
    members: dict[str, list[Placed]] = defaultdict(list)
    for case in cases:
        if "pair" in case[1].about:
            members[str(case[1].about["pair"])].append(case)
    for case in cases:
        yield case, members[str(case[1].about["pair"])] if "pair" in case[1].about else [case]


def _wrong(case: Placed, pair: Sequence[Placed], known: Collection[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with one case among its pair."""
    place, example = case
    name, role, expect = (example.about.get(field) for field in ("pair", "role", "expect"))
    originals = [at for at, other in pair if other.about.get("role") == ORIGINAL]
    if role not in (None, ORIGINAL, CHANGED):
        yield place, f"role {role!r} must be {ORIGINAL} or {CHANGED}"
    if expect not in (None, *EXPECT):
        yield place, f"expect {expect!r} must be one of {', '.join(EXPECT)}"
    if name is not None and len(pair) == 1:
        yield place, f"pair {name!r} has no other member; give another row this pair, or leave it out"
    if name is None and (expect in ("inv", "dir") or role == CHANGED):
        what = f"role {CHANGED}" if role == CHANGED else f"expect {expect}"
        yield place, f"{what} needs a pair with the original text"
    if role == ORIGINAL and place != originals[0]:
        yield place, f"pair {name!r} has an original already, {originals[0]}"
    if role == CHANGED and len(pair) > 1 and not originals:
        yield place, f"pair {name!r} has no row with role {ORIGINAL} to compare it with"
    if expect == "dir":
        yield from ((place, what) for what in _direction(example, known))
    golds = {other.gold for _, other in pair if other.about.get("role") == ORIGINAL and isinstance(other.gold, str)}
    if expect == "inv" and example.gold is not None and golds - {example.gold}:
        yield place, f"expect inv means the original's answer, but the golds of pair {name!r} differ; use mft"


def _direction(example: Example, known: Collection[str]) -> Iterator[str]:
    if "direction" not in example.about:
        yield "expect dir needs a direction, such as -positive"
        return
    if not isinstance(example.gold, str | None):
        yield "expect dir is for labels: tags and answers have no one score that moves"
        return
    try:
        label = direction(str(example.about["direction"]), "").label
    except Refused as error:
        yield str(error).lstrip(": ")
        return
    if known and label not in (*known, ANSWER):
        yield f"direction names {label!r}, which is none of {', '.join(known)}"
