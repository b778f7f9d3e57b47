"""Files whose rows hold several cases, or whose pairs are told by their place: unfolded to one case a row.

    becel          premise, hypothesis, label, hypothesis_neg, neg_label, tag   two rows: the text and its negation
                   sentence, label, sentence_paraphrase                         two rows with one label (expect: inv)
    negation_nli   Text, Hypothesis, gold_label in threes                       premise negated, hypothesis, both
    checklist      test, type, case, data, label                                checklist.py

BECEL: Jang, Kwon and Lukasiewicz (2022); negation_nli: Hossain et al. (2020). Any other table is left as it is.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from heldout.cases import CHANGED, ORIGINAL
from heldout.data.names import Reading
from heldout.data.suites.checklist import is_checklist, read_checklist
from heldout.data.table import Row, Table

NEGATED, NEGATED_LABEL, PARAPHRASE = "_neg", "neg_label", "_paraphrase"
#: negation_nli's columns, and what is negated in the three rows of a pair.
THREES = ("index", "Text", "Hypothesis", "gold_label")
WHERE = ("premise negated", "hypothesis negated", "both negated")


def unfolded(table: Table, reading: Reading) -> Table:
    """The table with one case a row, where it has one of the forms above; else, or where --column asks for one of the
    columns that would be unfolded, the table.
    """
    if is_checklist(table):
        return read_checklist(table, reading.known)
    if table.columns == THREES and _in_threes(table.rows):
        return _threes(table)
    for ending in (NEGATED, PARAPHRASE):
        changed = [name for name in table.columns if name.endswith(ending) and name != NEGATED_LABEL]
        plain = changed[0].removesuffix(ending) if len(changed) == 1 else ""
        if set(changed) & set(reading.columns.values()):
            return table
        if plain and plain in table.columns and (ending == PARAPHRASE or NEGATED_LABEL in table.columns):
            return _twofold(table, plain, changed[0])
    return table


def _in_threes(rows: Sequence[Row]) -> bool:
    """Whether every third row has the premise of the one before the last and the hypothesis of the last."""
    values = [(row.values["Text"], row.values["Hypothesis"]) for row in rows]
    threes = zip(values[::3], values[1::3], values[2::3], strict=False)
    return len(rows) % 3 == 0 and all(a[0] == c[0] and b[1] == c[1] for a, b, c in threes)


def _threes(table: Table) -> Table:
    """Each three is a pair (a bundle): all of it must be right; which text was negated is the phenomenon."""
    rows = [
        replace(row, values={**row.values, "pair": str(place // 3), "phenomenon": WHERE[place % 3]})
        for place, row in enumerate(table.rows)
    ]
    return replace(table, columns=(*table.columns, "pair", "phenomenon"), rows=rows)


def _twofold(table: Table, name: str, changed: str) -> Table:
    """Two rows of each: the text, and what became of it, with its own label or (a paraphrase) the same."""
    keeps = changed.endswith(PARAPHRASE)
    dropped = {changed, NEGATED_LABEL, "index", "tag"}
    kept = [column for column in table.columns if column not in dropped]
    rows: list[Row] = []
    for row in table.rows:
        plain: dict[str, Any] = {column: row.values.get(column) for column in kept}
        plain |= {"pair": str(row.number), "phenomenon": row.values.get("tag") or changed.removeprefix(name)[1:]}
        label = plain["label"] if keeps else row.values.get(NEGATED_LABEL)
        other = {name: row.values.get(changed), "label": label, "expect": "inv" if keeps else "mft"}
        for values in ({**plain, "role": ORIGINAL}, {**plain, **other, "role": CHANGED}):
            rows.append(Row(row.place, len(rows) + 1, values))
    columns = (*kept, "pair", "phenomenon", "role", "expect")
    return replace(table, columns=columns, rows=rows, notes={**table.notes, "rows_read_as_two": len(table.rows)})
