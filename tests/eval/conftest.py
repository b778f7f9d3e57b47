"""Tables made from arrays, for tests of metrics and intervals."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from heldout.eval.labels import LabelTable


def _table(scores: NDArray[np.floating], gold: NDArray[np.integer], bins: int = 15) -> LabelTable:
    """A table whose answers are the likeliest labels."""
    labels = tuple(f"label {i}" for i in range(scores.shape[1]))
    return LabelTable(labels, gold, scores.argmax(axis=1), scores, bins=bins)


@pytest.fixture(scope="session")
def make_table() -> Callable[..., LabelTable]:
    """``_table`` for tests."""
    return _table


@pytest.fixture(scope="session")
def random_table() -> Callable[..., LabelTable]:
    """A table of n examples and L labels with answers right about two times in three."""

    def draw(n: int, labels: int, seed: int = 0, bins: int = 15) -> LabelTable:
        rng = np.random.default_rng(seed)
        gold = rng.integers(0, labels, n)
        logits = rng.normal(size=(n, labels)) + 1.2 * np.eye(labels)[gold]
        weights = np.exp(logits)
        return _table(weights / weights.sum(axis=1, keepdims=True), gold, bins)

    return draw
