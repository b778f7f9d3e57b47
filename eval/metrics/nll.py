"""Negative log-likelihood of gold: natural log, mean over examples (of tags: words), probabilities floored at 1e-12.

The floored rows are counted: each adds 27.6 nats where the truth would be without bound.
"""

from typing import Any

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric, ratio
from heldout.eval.table import FloatArray
from heldout.eval.tags import TagTable
from heldout.fits import FLOOR


def _of_gold(table: LabelTable | TagTable) -> FloatArray:
    """The probability of each gold label, or of each word's gold tag."""
    probabilities: FloatArray = table.probabilities[np.arange(len(table.gold)), table.gold]
    return probabilities


def _columns(table: LabelTable | TagTable) -> FloatArray:
    losses = -np.log(np.maximum(_of_gold(table), FLOOR))
    if isinstance(table, LabelTable):
        return np.column_stack([losses, np.ones(len(table))])
    owner = table.words.owner
    return np.column_stack([np.bincount(owner, losses, len(table)), np.bincount(owner, minlength=len(table))])


def _count(table: LabelTable | TagTable) -> int:
    return len(table.gold)


def _extras(table: LabelTable | TagTable, seed: int) -> dict[str, Any]:
    return {"floored": int((_of_gold(table) < FLOOR).sum())}


METRICS = (Metric("nll", ("label", "tags"), True, "nats", False, _columns, ratio, _extras, count=_count),)
