"""The search for the best span of a passage, in NumPy: start logit + end logit, start ≤ end, a limit of length.

Devlin et al. (2019, section 4.2): "the score of a candidate span from position i to position j is S·T_i + E·T_j, and
the maximum scoring span where j ≥ i is used as a prediction". A passage that is read in several windows has one table
of scores, row i for the spans that begin at token i, column d for those of d + 1 tokens:

>>> table = pool([(0, np.array([5.0, 3.0, 1.0]), np.array([3.0, 4.0, 5.0]))], tokens=3, longest=2)
>>> table
array([[  8.,   9.],
       [  7.,   8.],
       [  6., -inf]])
>>> best(table, 2)
[(0, 1, 9.0), (0, 0, 8.0)]
"""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
#: First token, last token, score.
Span: TypeAlias = tuple[int, int, float]


def pool(windows: Iterable[tuple[int, Floats, Floats]], *, tokens: int, longest: int) -> Floats:
    """The scores of all spans of at most ``longest`` tokens, shape (tokens, longest); −inf where there is none.

    A window is (its first token's place in the passage, start logits, end logits), both of shape (its tokens,) and −inf
    where no answer may begin or end. Raw logits of all windows are compared with each other. A span that several
    windows hold counts once, with the highest of its scores, so that a probability does not depend on their number.
    """
    table = np.full((tokens, longest), -np.inf)
    for at, start, end in windows:
        rows = table[at : at + len(start)]
        np.maximum(rows, _band(start, end, longest), out=rows)
    return table


def _band(start: Floats, end: Floats, longest: int) -> Floats:
    """The sums start[i] + end[i + d] of one window, shape (tokens, longest)."""
    ends = sliding_window_view(np.concatenate([end, np.full(longest, -np.inf)]), longest)
    scores: Floats = start[:, None] + ends[: len(start)]
    return scores


def best(table: Floats, keep: int) -> list[Span]:
    """The ``keep`` best spans of a table, fewer where there are fewer; of equal ones the first, then the shortest."""
    flat = table.ravel()
    keep = min(keep, int(np.isfinite(flat).sum()))
    if keep == 0:
        return []
    least = np.partition(flat, len(flat) - keep)[len(flat) - keep]
    among = np.flatnonzero(flat >= least)
    chosen = among[np.argsort(-flat[among], kind="stable")][:keep]
    starts, lengths = np.divmod(chosen, table.shape[1])
    return list(zip(starts.tolist(), (starts + lengths).tolist(), flat[chosen].tolist(), strict=True))


def log_total(table: Floats, null: float) -> float:
    """The logarithm of the summed exp of all spans and of the null: a span's p is exp(score − log_total)."""
    top = max(float(table.max(initial=-np.inf)), null)
    return top + float(np.log(np.exp(table - top).sum() + np.exp(null - top)))
