"""CheckList's tests (Ribeiro et al. 2020) as cases, from jsonl lines of a test case each.

    {"test": "typos", "type": "INV", "case": 0, "data": ["What a show!", "Waht a show!"], "label": null, …}

A minimum (MFT) has a text and its label: 0 negative, 1 neutral, 2 positive. A change that must not matter (INV) and one
that must move the answer (DIR) have a list, the first text and what became of it, and most often no label. What a DIR
test expects is code, which such a file lacks, so it is told here by the test's name; a test of another name is left out
and counted. As CheckList does, a probability may go the wrong way by 0.1. Changes without a label are judged by their
first text alone, as a set of their own (goldless.py). (The same changes of texts that have a label: surface.py.)
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from heldout.cases import CHANGED, ORIGINAL
from heldout.data.table import Row, Table
from heldout.errors import Refused

COLUMNS = {"test", "type", "case", "data", "label"}
LABELS = {0: "negative", 1: "neutral", 2: "positive"}
DIRECTIONS = {
    "intensifiers": "+answer:-0.1",
    "reducers": "-answer:-0.1",
    '"used to" should reduce': "-answer:-0.1",
    "add positive phrases": "+positive:-0.1",
    "add negative phrases": "+negative:-0.1",
}
#: Tests without a label that take any answer but negative: where a card has no neutral that is positive.
NOT_NEGATIVE = (
    "simple negations: not negative",
    "simple negations: I thought x was negative, but it was not (should be neutral or positive)",
    "Hard: Negation of negative with neutral stuff in the middle (should be positive or neutral)",
)


def is_checklist(table: Table) -> bool:
    """Whether a table has CheckList's columns."""
    return set(table.columns) >= COLUMNS


def read_checklist(table: Table, known: Collection[str] = ()) -> Table:
    """One case a row, of a card with these labels."""
    rows: list[Row] = []
    left_out = Counter[str]()
    for row in table.rows:
        for values in _cases(table, row, known, left_out):
            rows.append(Row(row.place, len(rows) + 1, values))
    columns = ("text", "label", "pair", "phenomenon", "role", "expect", "direction", "domain")
    return replace(table, columns=columns, rows=rows, dropped={**table.dropped, **left_out})


def _cases(table: Table, row: Row, known: Collection[str], left_out: Counter[str]) -> Iterator[Mapping[str, Any]]:
    test, kind, data = str(row.values["test"]), str(row.values["type"]).upper(), row.values["data"]
    texts = data if isinstance(data, list) else [data]
    if kind not in ("MFT", "INV", "DIR") or not texts or not all(isinstance(text, str) for text in texts):
        raise Refused(
            f"{table.source}, {row.place}: a CheckList case has a type MFT, INV or DIR and a text, or several"
        )
    if kind == "DIR" and test not in DIRECTIONS:
        left_out["tests_of_unknown_direction"] += 1
        return
    label = _label(test, row.values["label"], known)
    about = {"label": label, "phenomenon": test, "domain": row.values.get("capability")}
    if kind == "MFT":
        yield from ({**about, "text": text, "expect": "mft"} for text in texts)
        return
    pair = {**about, "pair": f"{test}/{row.values['case']}"}
    direction = {"direction": DIRECTIONS[test]} if kind == "DIR" else {}
    yield {**pair, "text": texts[0], "role": ORIGINAL}
    for text in texts[1:]:
        yield {**pair, "text": text, "role": CHANGED, "expect": kind.lower(), **direction}


def _label(test: str, value: Any, known: Collection[str]) -> str:
    if value is None:
        return "positive" if test in NOT_NEGATIVE and known and "neutral" not in known else ""
    return LABELS.get(value, str(value)) if isinstance(value, int) else str(value)
