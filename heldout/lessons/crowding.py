"""Why cosines crowd together, and why a PCA does not show it.

Vectors that share a large offset point the same way, whatever they differ in: two opposite ones get a cosine near 1. A
PCA takes the mean off first, so its picture is the same with the offset and without.
"""

from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import curves
from heldout.lessons.one_hot import cosine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Four vectors, a cross about the origin: the first and the third are opposite.
CROSS: Floats = np.array([[3.0, 0], [0, 1], [-3, 0], [0, -1]])
OFFSET: Floats = np.array([100.0, 100.0])


def explained(vectors: Floats) -> Floats:
    """The share of the variance of each principal component, the largest first: PCA centres the vectors."""
    squares = np.linalg.svd(vectors - vectors.mean(axis=0))[1] ** 2
    return np.asarray(squares / squares.sum())


def opposite(size: float) -> float:
    """The cosine of the two opposite vectors, both moved along the diagonal."""
    return cosine(CROSS[0] + size, CROSS[2] + size)


def values() -> Values:
    """Cosine and explained variance, before and after the offset."""
    return {
        "ch.crowding": {
            **{"cos_before": opposite(0), "cos_after_offset": opposite(OFFSET[0])},
            **{"evr": explained(CROSS), "evr_after_offset": explained(CROSS + OFFSET)},
        }
    }


def show() -> str:
    """Both, by the size of the offset."""
    rows = [[int(size), opposite(size), *explained(CROSS + size)] for size in (0, 1, 10, 100)]
    return table(["offset", "cosine of two opposite vectors", "first component explains", "second"], rows)


def picture(axes: "Axes") -> None:
    """The cosine by the offset."""
    sizes = np.linspace(0, 30, 200)
    cosines = [opposite(size) for size in sizes]
    curves(axes, {"": (sizes, cosines)}, x="offset that all vectors share", y="cosine of two opposite vectors")


LESSON = Lesson(
    name="crowding",
    title="why cosines crowd together: a shared offset makes opposite vectors alike, and a PCA does not show it",
    where="chapter 23.4",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Is a cosine of 0.97 high? Compare it with random pairs of the same vectors: with a shared offset of 100 even two
opposite vectors have 0.9995.
Would the PCA's picture warn? No: it centres first, so its shares (0.9 and 0.1) do not move.
What helps? Taking the mean off before comparing, or comparing with random pairs: their mean, their 90th percentile.""",
)
