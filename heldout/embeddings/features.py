"""A text as one vector: the mean of its words' static vectors, plainly, weighted by idf, or SIF.

    mean  Σ v_w / n
    idf   Σ idf_w v_w / Σ idf_w,  idf_w = ln((1 + N) / (1 + df_w)) + 1 over the fitted texts
    sif   Σ a / (a + p_w) v_w / n with a = 0.001, less its projection on the first singular vector of the fitted
          texts' (Arora, Liang and Ma 2017: smooth inverse frequency, then the common component removed)

All that is estimated (document frequencies, p_w, the component) comes from the texts it is fitted on, never from those
it is applied to. Words without a vector count nothing; a text without any is zeros.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from heldout.embeddings.vectors import Floats, Vectors

How = Literal["mean", "idf", "sif"]
#: SIF's a; its authors found 0.0001 to 0.001 alike.
A = 0.001
Texts = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Features:
    """Fitted features: a weight for each row of the table, and the component that is taken off (zeros: none)."""

    vectors: Vectors
    how: How
    weights: npt.NDArray[np.float64]
    component: Floats

    def of(self, texts: Texts) -> Floats:
        """A vector for each text, (texts, d)."""
        pooled = _pooled(self.vectors, self.how, self.weights, texts)
        return np.asarray(pooled - np.outer(pooled @ self.component, self.component), np.float32)


def fit_features(vectors: Vectors, texts: Texts, how: How) -> Features:
    """Features whose weights and component come from these texts alone."""
    weights = {"mean": _ones, "idf": _idf, "sif": _sif}[how](vectors, texts)
    component = np.zeros(vectors.rows.shape[1], np.float32)
    if how == "sif" and len(texts):
        pooled = _pooled(vectors, how, weights, texts)
        component = np.linalg.svd(pooled, full_matrices=False)[2][0]
    return Features(vectors, how, weights, np.asarray(component, np.float32))


def _pooled(vectors: Vectors, how: How, weights: npt.NDArray[np.float64], texts: Texts) -> npt.NDArray[np.float64]:
    found = np.zeros((len(texts), vectors.rows.shape[1]))
    for at, text in enumerate(texts):
        rows = _rows(vectors, text)
        if rows:
            each = weights[rows]
            found[at] = each @ vectors.rows[rows] / (each.sum() if how == "idf" else len(rows))
    return found


def _rows(vectors: Vectors, text: Sequence[str]) -> list[int]:
    return [row for word in text if (row := vectors.find(word)) is not None]


def _ones(vectors: Vectors, texts: Texts) -> npt.NDArray[np.float64]:
    return np.ones(len(vectors.words))


def _idf(vectors: Vectors, texts: Texts) -> npt.NDArray[np.float64]:
    found = Counter(row for text in texts for row in set(_rows(vectors, text)))
    frequency = np.array([found[row] for row in range(len(vectors.words))])
    return np.asarray(np.log((1 + len(texts)) / (1 + frequency)) + 1)


def _sif(vectors: Vectors, texts: Texts) -> npt.NDArray[np.float64]:
    found = Counter(row for text in texts for row in _rows(vectors, text))
    share = np.array([found[row] for row in range(len(vectors.words))]) / max(1, found.total())
    return np.asarray(A / (A + share))
