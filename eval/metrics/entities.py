"""Precision, recall and F1 of entities: counted over the whole set, never averaged over sentences (FAULTS N5).

An entity is right where gold has one of the very same words and type. Micro figures count over all types:
F1 = 2 right / (found + gold), precision = right / found (0 where none is found), recall = right / gold.

- ``entity_f1``, ``entity_precision``, ``entity_recall``: IOB2 read strictly, as seqeval's strict mode.
- ``entity_f1_lenient``: read as CoNLL-2003's conlleval, where an I- that continues nothing begins an entity.
- ``entity_macro_f1``: mean over the types that gold holds, fixed before resampling, of their strict F1.

Without an entity in gold none of them is defined. ``entity_f1`` also tells what became of the others:
"matches": gold entities are exact, of the wrong_type (right words), overlapping_in_gold (some words), or missed; those
found are exact, of the wrong_type, overlapping_found, or spurious. "confusion": {gold's type: {type found: n}} over
gold entities and the found ones that they share most words with; "" where there is none (missed, and spurious).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from heldout.eval.entities import Entities, Reading
from heldout.eval.metrics import Metric
from heldout.eval.table import FloatArray
from heldout.eval.tags import TagTable

#: Stands in a confusion for no entity.
NOTHING = ""


def _counts(both: Reading, n: int) -> FloatArray:
    """(n, 3): how many entities of each sentence are right, found, and gold."""
    gold, found = both
    counts = [gold.per_sentence(n, gold.hit), found.per_sentence(n), gold.per_sentence(n)]
    return np.column_stack(counts).astype(np.float64)


def _strict(table: TagTable) -> FloatArray:
    return _counts(table.strict, len(table))


def _lenient(table: TagTable) -> FloatArray:
    return _counts(table.lenient, len(table))


def _by_type(table: TagTable) -> FloatArray:
    """(n, 3 T): the same for each of the T types that gold holds."""
    gold, found = table.strict
    counts = [
        _counts(Reading(gold.at(gold.span[:, 2] == kind), found.at(found.span[:, 2] == kind)), len(table))
        for kind in np.unique(gold.span[:, 2])
    ]
    return np.hstack(counts) if counts else np.zeros((len(table), 3))


def _f1(sums: FloatArray) -> FloatArray:
    return _share(2 * sums[:, 0], sums[:, 1] + sums[:, 2], sums[:, 2])


def _precision(sums: FloatArray) -> FloatArray:
    return _share(sums[:, 0], sums[:, 1], sums[:, 2])


def _recall(sums: FloatArray) -> FloatArray:
    return _share(sums[:, 0], sums[:, 2], sums[:, 2])


def _macro_f1(sums: FloatArray) -> FloatArray:
    right, found, gold = sums[:, 0::3], sums[:, 1::3], sums[:, 2::3]
    f1 = np.divide(2 * right, found + gold, out=np.zeros_like(right), where=found + gold > 0)
    mean: FloatArray = np.where(gold.any(axis=1), f1.mean(axis=1), np.nan)
    return mean


def _share(part: FloatArray, whole: FloatArray, gold: FloatArray) -> FloatArray:
    """part / whole, 0 where the whole is, NaN where there is no gold."""
    share = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    share[gold == 0] = np.nan
    return share


def _extras(table: TagTable, seed: int) -> dict[str, Any]:
    return {"matches": _matches(*table.strict), "confusion": _confusion(*table.strict, table.types)}


def _confusion(gold: Entities, found: Entities, types: Sequence[str]) -> dict[str, dict[str, int]]:
    names = [*types, NOTHING]  # the type of none, -1, is the last
    alone = found.span[found.met[:, 0] < 0, 2]
    pairs = [*zip(gold.span[:, 2].tolist(), gold.met[:, 2].tolist(), strict=True), *((-1, kind) for kind in alone)]
    confusion: dict[str, dict[str, int]] = {}
    for (kind, other), n in sorted(Counter(pairs).items()):
        confusion.setdefault(names[kind], {})[names[other]] = n
    return confusion


def _matches(gold: Entities, found: Entities) -> dict[str, int]:
    exact, wrong_type, overlapping, missed = _fates(gold)
    *_, others, spurious = _fates(found)
    return {
        "exact": exact,
        "wrong_type": wrong_type,
        "overlapping_in_gold": overlapping,
        "missed": missed,
        "overlapping_found": others,
        "spurious": spurious,
    }


def _fates(side: Entities) -> tuple[int, int, int, int]:
    """How many are exact, right but for the type, overlapping otherwise, alone; they sum to all there are."""
    same = (side.span[:, :2] == side.met[:, :2]).all(axis=1)
    alone = side.met[:, 0] < 0
    exact = int(side.hit.sum())
    return exact, int(same.sum()) - exact, int((~same & ~alone).sum()), int(alone.sum())


def _in_gold(table: TagTable) -> int:
    return len(table.strict.gold)


def _metric(
    name: str, columns: Callable[[TagTable], FloatArray], value: Callable[[FloatArray], FloatArray], unit: str
) -> Metric:
    return Metric(name, ("tags",), False, unit, True, columns, value, about="gold entities", count=_in_gold)


METRICS = (
    Metric("entity_f1", ("tags",), False, "F1", True, _strict, _f1, _extras, about="gold entities", count=_in_gold),
    _metric("entity_precision", _strict, _precision, "share"),
    _metric("entity_recall", _strict, _recall, "share"),
    _metric("entity_f1_lenient", _lenient, _f1, "F1"),
    _metric("entity_macro_f1", _by_type, _macro_f1, "F1"),
)
