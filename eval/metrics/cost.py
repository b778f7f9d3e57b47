"""Cost: the mean of what the answers cost, by the costs of errors that a person gave (``heldout score --cost``)."""

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric, ratio
from heldout.eval.table import FloatArray


def _columns(table: LabelTable) -> FloatArray:
    if table.costs is None:
        return np.zeros((len(table), 2))
    return np.column_stack([table.costs[table.gold, table.answer], np.ones(len(table))])


def _count(table: LabelTable) -> int:
    return 0 if table.costs is None else len(table)


METRICS = (
    Metric("cost", ("label",), False, "cost an answer", False, _columns, ratio, about="costs given", count=_count),
)
