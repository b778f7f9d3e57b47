"""Directions between word vectors: king − man + woman lands on queen, by construction here.

Learned coordinates have no meaning of their own: turn all vectors together and no inner product moves.
"""

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons.one_hot import cosine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The vectors that exercise 23.2 gives.
VECTORS: dict[str, Floats] = {
    "king": np.array([0.5, 0.8, 0.3, 0.2]),
    "queen": np.array([0.5, 0.7, 0.35, 0.9]),
    "man": np.array([0.4, 0.9, 0.2, 0.1]),
    "woman": np.array([0.4, 0.8, 0.25, 0.8]),
}


def analogy(a: str, b: str, c: str) -> Floats:
    """The vector of a − b + c: what is to c as a is to b."""
    return VECTORS[a] - VECTORS[b] + VECTORS[c]


def nearest(vector: Floats) -> list[str]:
    """All words by their cosine with the vector, the nearest first; the words asked about are not left out."""
    return sorted(VECTORS, key=lambda word: -cosine(VECTORS[word], vector))


def rotation(size: int, seed: int = 0) -> Floats:
    """A random orthogonal matrix: the Q of a QR decomposition."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]


def rotated() -> dict[str, float]:
    """Largest change of the inner products when both tables turn, one of them turns, or A and its inverse are used."""
    generator = np.random.default_rng(1)
    v, u, q = generator.normal(size=(5, 3)), generator.normal(size=(5, 3)), rotation(3)
    a = generator.normal(size=(3, 3))
    pulled = v @ a, u @ np.linalg.inv(a).T
    return {
        "within_one_table": abs((v @ q) @ (v @ q).T - v @ v.T).max(),
        "both_tables": abs((v @ q) @ (u @ q).T - v @ u.T).max(),
        "center_table_only": abs((v @ q) @ u.T - v @ u.T).max(),
        "scores_under_a": abs(pulled[0] @ pulled[1].T - v @ u.T).max(),
        "centers_under_a": abs(pulled[0] @ pulled[0].T - v @ v.T).max(),
    }


def values() -> Values:
    """Exercise 23.2, and what a rotation leaves alone."""
    king, queen, man, woman = VECTORS.values()
    found = analogy("king", "man", "woman")
    return {
        "ex23.2": {
            "dot_king_queen": king @ queen,
            "norm_sq_king": king @ king,
            "norm_sq_queen": queen @ queen,
            "cos_king_queen": cosine(king, queen),
            "all_cosines": {f"{a}-{b}": cosine(VECTORS[a], VECTORS[b]) for a, b in combinations(VECTORS, 2)},
            "analogy": found,
            "cos_analogy_queen": cosine(found, queen),
            "float_equal": found == queen,
            "ranking": nearest(found),
            "gender_offset": woman - man,
        },
        "ch.rotation": rotated(),
    }


def show() -> str:
    """The cosines, the analogy, the rotation."""
    found = values()["ex23.2"]
    cosines = table(["pair", "cosine"], found["all_cosines"].items())
    landed = f"king − man + woman = {found['analogy']}, nearest first: {', '.join(found['ranking'])}"
    changes = [[name.replace("_", " "), change] for name, change in rotated().items()]
    turned = table(["largest change of an inner product", ""], changes, digits=12)
    return "\n\n".join([cosines, landed, turned])


def picture(axes: "Axes") -> None:
    """Two coordinates of the four words: the same step leads from man to woman and from king to queen."""
    for word, vector in VECTORS.items():
        axes.plot(vector[1], vector[3], "o", color="tab:blue")
        axes.annotate(word, (vector[1], vector[3]), xytext=(6, 4), textcoords="offset points")
    for man, woman in (("man", "woman"), ("king", "queen")):
        start, end = VECTORS[man], VECTORS[woman]
        axes.annotate("", (end[1], end[3]), (start[1], start[3]), arrowprops={"arrowstyle": "->"})
    axes.set(xlabel="second coordinate", ylabel="fourth coordinate", xlim=(0.65, 1.0), ylim=(0, 1))


LESSON = Lesson(
    name="analogy",
    title="king − man + woman is queen; and what a rotation of all vectors leaves alone",
    where="chapter 23.1; exercise 23.2",
    values=values,
    show=show,
    picture=picture,
    answers="""\
(a) cos(king, queen) = 1.095 / √(1.02 · 1.6725) = 0.8384.
(b) king − man + woman = (0.5, 0.7, 0.35, 0.9): queen exactly, in exact arithmetic; in floating point one of the four
    coordinates differs in its last bit, so compare with a tolerance.
(c) One direction, (0, −0.1, 0.05, 0.7), stands for the difference in both pairs. These vectors were made so; learned
    ones come near it at best. Note that man is nearer to king (0.980) than queen is (0.838), which is why libraries
    leave the words of the question out of the answer.
(d) One vector a word whatever the sentence (bank), none for unseen words, the corpus's prejudices, crowding; and an
    analogy must be checked, not assumed.""",
)
