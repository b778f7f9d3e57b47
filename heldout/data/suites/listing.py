"""What suites there are, and what is in one: its phenomena with an example each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from heldout.cases import ORIGINAL
from heldout.data.suites import PREFIX, SUITES, Suite

#: The columns of a case that are its text and gold, in this order.
TEXTS = ("text", "premise", "hypothesis", "question", "words")


def suites() -> list[list[str]]:
    """Rows of a table: SOURCE, task, cases, phenomena, frames; what each suite tests stands behind."""
    rows = [["SOURCE", "task", "cases", "phenomena", "frames"]]
    for name, suite in SUITES.items():
        rows.append([f"{name}: {suite.about}"])
        rows += [line for task in suite.rows for line in _parts(name, suite, task)]
    return rows


def _parts(name: str, suite: Suite, task: str) -> list[list[str]]:
    found = []
    for part, make in suite.rows[task].items():
        cases = [row for row in make() if row.get("role") != ORIGINAL]
        sizes = [len({row[field] for row in cases if field in row}) for field in ("phenomenon", "frame")]
        shown = [str(size) if size else "" for size in sizes]
        found.append([f"{PREFIX}{name}{'@' * bool(part)}{part}", task, str(len(cases)), *shown])
    return found


def phenomena(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Rows of a table: each phenomenon, how many cases it has, its first one and that one's unchanged twin."""
    cases = [row for row in rows if row.get("role") != ORIGINAL]
    twins = {row["pair"]: row for row in rows if row.get("role") == ORIGINAL}
    counts = Counter(row["phenomenon"] for row in cases)
    table = [["phenomenon", "cases", "example", "its twin"]]
    for name, n in counts.items():
        first = next(row for row in cases if row["phenomenon"] == name)
        twin = twins.get(first.get("pair"))
        table.append([name, str(n), shown(first), "" if twin is None else shown(twin)])
    return table


def shown(row: Mapping[str, Any]) -> str:
    """A case in a line: its texts and its gold."""
    texts = [row[name] if isinstance(row[name], str) else " ".join(row[name]) for name in TEXTS if name in row]
    answers = [answer["text"] for answer in row.get("answers", ())]
    gold = row.get("label") or ", ".join(answers) or " ".join(tag for tag in row.get("tags", ()) if tag != "O")
    return f"{' | '.join(texts)} → {gold}"
