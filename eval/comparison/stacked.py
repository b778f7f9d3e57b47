"""Two systems' tables of the same examples as one table of twice as many, the first's rows before the second's.

So a metric counts both on one basis: the edges of bins, the labels that were ever answered.
"""

from dataclasses import replace

import numpy as np

from heldout.eval.entities import Entities, Reading
from heldout.eval.labels import LabelTable
from heldout.eval.lm import LmTable
from heldout.eval.spans import SpanTable
from heldout.eval.table import FloatArray, Table
from heldout.eval.tags import TagTable, Words


def stacked(first: Table, second: Table) -> Table:
    """One table of both; they are of the same kind, of one card."""
    if isinstance(first, LabelTable) and isinstance(second, LabelTable):
        return _labels(first, second)
    if isinstance(first, TagTable) and isinstance(second, TagTable):
        return _tags(first, second)
    if isinstance(first, SpanTable) and isinstance(second, SpanTable):
        return _spans(first, second)
    assert isinstance(first, LmTable) and isinstance(second, LmTable)
    columns = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in _LM}
    return LmTable(**columns, unscored=first.unscored + second.unscored, bins=first.bins)


_LM = ("nll", "n", "hits", "right")


def _labels(first: LabelTable, second: LabelTable) -> LabelTable:
    pairs = None
    if first.pairs is not None and second.pairs is not None:
        # The pairs of the second are others than those of the first; −1 is none.
        numbers = second.pairs[:, 0]
        apart = np.where(numbers < 0, numbers, numbers + 1 + max(first.pairs[:, 0].max(initial=-1), 0))
        pairs = np.concatenate([first.pairs, np.column_stack([apart, second.pairs[:, 1]])])
    return replace(
        first,
        gold=np.concatenate([first.gold, second.gold]),
        answer=np.concatenate([first.answer, second.answer]),
        scores=_both(first.scores, second.scores),
        unscored=first.unscored + second.unscored,
        pairs=pairs,
    )


def _spans(first: SpanTable, second: SpanTable) -> SpanTable:
    return SpanTable(
        np.concatenate([first.em, second.em]),
        np.concatenate([first.f1, second.f1]),
        np.concatenate([first.answerable, second.answerable]),
        _both(first.confidence, second.confidence),
        _both(first.best_right, second.best_right),
        first.unscored + second.unscored,
        first.bins,
    )


def _tags(first: TagTable, second: TagTable) -> TagTable:
    n, (a, b) = first.n, (first.words, second.words)
    words = Words(
        np.concatenate([a.owner, b.owner + n]),
        np.concatenate([a.place, b.place]),
        np.concatenate([a.gold, b.gold]),
        np.concatenate([a.answer, b.answer]),
        _both(a.scores, b.scores),
    )
    return replace(
        first,
        n=n + second.n,
        words=words,
        strict=_reading(first.strict, second.strict, n),
        lenient=_reading(first.lenient, second.lenient, n),
        unscored=first.unscored + second.unscored,
        unsure=first.unsure + second.unsure,
    )


def _reading(first: Reading, second: Reading, n: int) -> Reading:
    return Reading(_entities(first.gold, second.gold, n), _entities(first.answer, second.answer, n))


def _entities(first: Entities, second: Entities, n: int) -> Entities:
    return Entities(
        np.concatenate([first.owner, second.owner + n]),
        np.concatenate([first.span, second.span]),
        np.concatenate([first.met, second.met]),
        np.concatenate([first.p, second.p]),
    )


def _both(first: FloatArray | None, second: FloatArray | None) -> FloatArray | None:
    """Both, where both are there: one side without scores leaves none."""
    return None if first is None or second is None else np.concatenate([first, second])
