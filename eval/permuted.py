"""Accuracy far below chance: most often a model whose labels stand in another order than it was scored by.

MNLI's order of labels differs between models, and by the wrong one they are right on 4 to 7% instead of 85 to 90%.
"""

from itertools import permutations

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.statistics import FEW, wilson
from heldout.eval.table import Table

#: How the note begins, by which the report knows it.
OPENING = "Far below chance:"
#: How much of the way from chance to 1 the other order must reach (its kappa). Edited sets put honest systems below
#: chance (hypothesis-only has 0.225 on 120 pairs whose premise was edited), but to no order in which they are good.
GOOD = 0.5
#: More labels than these have too many permutations to try them all (7 have 5,040).
MOST = 7


def below_chance(table: Table) -> str | None:
    """A sentence with the best permutation of the labels, where the upper end of accuracy's interval is below chance.

    Chance is what answers with these shares of labels have where they know nothing of gold (kappa's), so that a system
    that always gives a rare label is not below it. None for fewer examples than tell anything, and where no order of
    the labels makes it good.
    """
    if not isinstance(table, LabelTable) or table.goldless or len(table) < FEW or len(table.labels) > MOST:
        return None
    n, labels = len(table), range(len(table.labels))
    counts = np.zeros((len(labels), len(labels)), dtype=int)
    np.add.at(counts, (table.answer, table.gold), 1)
    chance = float(counts.sum(axis=0) @ counts.sum(axis=1)) / n**2
    right = int(np.trace(counts))
    best = max(permutations(labels), key=lambda order: int(counts[labels, order].sum()))
    reached = int(counts[labels, best].sum()) / n
    if wilson(right, n)[1] >= chance or reached - chance < GOOD * (1 - chance):
        return None
    meant = ", ".join(f"{table.labels[i]} as {table.labels[j]}" for i, j in enumerate(best) if i != j)
    return (
        f"{OPENING} accuracy is {right / n:.3f}, and answers that knew nothing of gold would have {chance:.3f}. "
        f"Reading {meant} it would be {reached:.3f}: does the model number its labels that way?"
    )
