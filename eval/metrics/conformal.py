"""Conformal sets (eval/fits/conformal.py): how often they hold gold, and how many labels they hold.

``conformal_coverage``: the share of sets that hold gold, an empty one never. ``conformal_size``: labels a set, mean;
"sizes" counts the sets of each size. A system that is sure of itself and right has sets of one.
"""

from typing import Any

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric, ratio
from heldout.eval.table import FloatArray


def _coverage(table: LabelTable) -> FloatArray:
    if table.sets is None:
        return np.zeros((len(table), 2))
    return np.column_stack([table.sets[np.arange(len(table)), table.gold], np.ones(len(table))])


def _size(table: LabelTable) -> FloatArray:
    if table.sets is None:
        return np.zeros((len(table), 2))
    return np.column_stack([table.sets.sum(axis=1), np.ones(len(table))])


def _count(table: LabelTable) -> int:
    return 0 if table.sets is None else len(table)


def _sizes(table: LabelTable, seed: int) -> dict[str, Any]:
    assert table.sets is not None  # it has a value
    sizes, counts = np.unique(table.sets.sum(axis=1), return_counts=True)
    return {"sizes": {str(size): int(n) for size, n in zip(sizes, counts, strict=True)}}


COVERAGE = Metric(
    "conformal_coverage", ("label",), True, "share", True, _coverage, ratio, share=True, about="sets", count=_count
)
SIZE = Metric("conformal_size", ("label",), True, "labels", False, _size, ratio, _sizes, about="sets", count=_count)
METRICS = (COVERAGE, SIZE)
