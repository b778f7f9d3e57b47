"""SQuAD's metrics: exact match and F1 of the answers, over all questions and over those with and without an answer.

``em`` and ``f1`` are means over all questions, each question's the largest over its gold answers (eval/squad.py);
``has_ans_em`` and ``has_ans_f1`` are those of the questions that have an answer, and ``no_ans_acc`` is the share of
the others that were left unanswered. All are shares, where the official scorers say percent.
"""

from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heldout.eval.metrics import Metric, ratio
from heldout.eval.spans import SpanTable
from heldout.eval.table import FloatArray

About = Literal["questions", "answerable questions", "impossible questions"]


def _which(table: SpanTable, about: About) -> NDArray[np.bool_]:
    if about == "questions":
        return np.ones(len(table), dtype=np.bool_)
    return table.answerable if about == "answerable questions" else ~table.answerable


def _columns(table: SpanTable, of: Literal["em", "f1"], about: About) -> FloatArray:
    which = _which(table, about)
    return np.column_stack([(table.em if of == "em" else table.f1) * which, which])


def _count(table: SpanTable, about: About) -> int:
    return int(_which(table, about).sum())


def _metric(name: str, of: Literal["em", "f1"], about: About) -> Metric:
    columns, count = partial(_columns, of=of, about=about), partial(_count, about=about)
    unit, share = ("share", True) if of == "em" else ("F1", False)
    return Metric(name, ("span",), False, unit, True, columns, ratio, share=share, about=about, count=count)


METRICS = (
    _metric("em", "em", "questions"),
    _metric("f1", "f1", "questions"),
    _metric("has_ans_em", "em", "answerable questions"),
    _metric("has_ans_f1", "f1", "answerable questions"),
    _metric("no_ans_acc", "em", "impossible questions"),
)
