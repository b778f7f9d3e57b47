"""What test cases expect: of changed texts beside their originals (twins), and of answers that must hold or move.

    both_right        of changed texts, the share that is right together with its original
    twin_gap          how much less often the changed texts are right than their originals
    flip_rate         of changes that must not matter (inv), the share that changed the answer
    moved             of changes that must move a score (dir), the share that moved it as stated
    expectation_met   of all texts that expect something, the share that meets it: a minimum (mft) is gold's answer

Ribeiro et al. (2020), Beyond accuracy: behavioral testing of NLP models with CheckList. A text and its original are one
group and are resampled together.
"""

from collections.abc import Callable

import numpy as np

from heldout.eval.expected import Expected
from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric, ratio
from heldout.eval.spans import SpanTable
from heldout.eval.table import FloatArray
from heldout.eval.tags import TagTable

CaseTable = LabelTable | TagTable | SpanTable
#: (Expectations, whether each answer is right) → what is counted, and what it is a share of; both (n,).
Counted = Callable[[Expected, FloatArray], tuple[FloatArray, FloatArray]]


def _metric(
    name: str, counted: Counted, about: str, *, higher: bool = True, share: bool = True, scores: bool = False
) -> Metric:
    def columns(table: CaseTable) -> FloatArray:
        if table.expected is None:
            return np.zeros((len(table), 2))
        return np.column_stack(counted(table.expected, table.correct))

    def count(table: CaseTable) -> int:
        return int(columns(table)[:, 1].sum())

    return Metric(
        name=name,
        kinds=("label", "tags", "span"),
        needs_scores=scores,
        unit="share",
        higher_is_better=higher,
        columns=columns,
        value=ratio,
        share=share,
        about=about,
        count=count,
        missing=_unscored,
    )


def _unscored(table: CaseTable) -> int:
    return 0 if table.expected is None else int(table.expected.unscored.sum())


def _met(e: Expected, right: FloatArray) -> FloatArray:
    return e.mft * right + e.inv * e.same + e.dir * e.moved


TWINS = "changed texts with their original"
METRICS = (
    _metric("both_right", lambda e, right: (right * e.twin_right, e.twin), TWINS),
    _metric("twin_gap", lambda e, right: (e.twin * (e.twin_right - right), e.twin), TWINS, higher=False, share=False),
    _metric("flip_rate", lambda e, right: (e.inv * (1 - e.same), e.inv), "changes that must not matter", higher=False),
    _metric("moved", lambda e, right: (e.moved, e.dir), "changes that must move a score", scores=True),
    _metric("expectation_met", lambda e, right: (_met(e, right), e.mft + e.inv + e.dir), "expectations", scores=True),
)
