"""When GloVe is an SVD: no weights, no biases, every count positive.

Then the best fit of rank r to log X is its truncated SVD (Eckart and Young 1936), and its error the sum of the squared
singular values left out. The weights h(X) destroy that: another fit of the same rank has a smaller weighted error.
"""

from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import heat
from heldout.lessons.glove import weight

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A table of counts without zeros.
FULL: Floats = np.array([[40.0, 12, 3, 1], [12, 30, 6, 2], [3, 6, 50, 9], [1, 2, 9, 20]])


def low_rank(matrix: Floats, rank: int) -> Floats:
    """The nearest matrix of that rank: the truncated SVD (Eckart and Young 1936)."""
    left, singular, right = np.linalg.svd(matrix)
    return np.asarray((left[:, :rank] * singular[:rank]) @ right[:rank])


def descend(logs: Floats, weights: Floats, a: Floats, b: Floats, steps: int = 3000) -> Floats:
    """a bᵀ after gradient descent on Σ weights (a bᵀ − logs)², from factors a and b of shape (words, rank)."""
    for _ in range(steps):
        error = weights * (a @ b.T - logs)
        a, b = a - 0.05 * error @ b, b - 0.05 * error.T @ a
    return np.asarray(a @ b.T)


def values() -> Values:
    """The SVD of log X, rank by rank."""
    logs = np.log(FULL)
    tails = {str(rank): ((logs - low_rank(logs, rank)) ** 2).sum() for rank in (1, 2, 3, 4)}
    return {
        "ch.glove.svd": {
            "singular_values": np.linalg.svd(logs)[1],
            "loss_rank": {rank: tails[rank] for rank in "123"},
            "best_rank2": low_rank(logs, 2),
            "loss_rank4": tails["4"],
            "weighted_loss_of_svd_rank2": (weight(FULL, 20) * (low_rank(logs, 2) - logs) ** 2).sum(),
        },
    }


def show() -> str:
    """Errors by rank, found by the SVD and by gradient descent; the weighted error."""
    logs, weights = np.log(FULL), weight(FULL, 20)
    draw = np.random.default_rng(0).normal
    rows = []
    for rank in (1, 2):
        found = descend(logs, np.ones((4, 4)), draw(size=(4, rank)) / 2, draw(size=(4, rank)) / 2)
        rows.append([rank, ((logs - low_rank(logs, rank)) ** 2).sum(), ((logs - found) ** 2).sum()])
    plain = table(["rank", "squared error of the SVD", "of gradient descent"], rows, digits=6)
    left, singular, right = np.linalg.svd(logs)
    found = descend(logs, weights, left[:, :2] * singular[:2], right[:2].T)
    errors = [(weights * (fit - logs) ** 2).sum() for fit in (low_rank(logs, 2), found)]
    return f"{plain}\n\nweighted error at rank 2: {errors[0]:.6f} by the SVD, {errors[1]:.6f} by gradient descent"


def picture(axes: "Axes") -> None:
    """What rank 2 leaves over of log X."""
    names = [f"word {at}" for at in range(1, 5)]
    heat(axes, np.log(FULL) - low_rank(np.log(FULL), 2), names, names)
    axes.set_title("log X less its best fit of rank 2")


LESSON = Lesson(
    name="low-rank",
    title="when GloVe is an SVD, and why its weights make it none",
    where="chapter 23.4",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Why is GloVe fitted by gradient descent? A weighted low-rank fit has no closed form: at rank 2 the SVD's weighted error
is 1.465, gradient descent finds 1.141.
What of zeros in X, or of a diagonal that is not fitted? Then entries are missing, and it is no SVD problem either.
Are the vectors the SVD's? Only their products are determined: any invertible matrix may stand between the factors, so
compare a bᵀ, never a.""",
)
