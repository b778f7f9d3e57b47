"""Self-attention on four words whose features and projections were set by hand.

dog, puppy, car, vehicle as (animal, filler, vehicle); W_Q = W_K drop the filler. Nothing names the two groups, and
still each word's strongest other word is its partner.
"""

from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import heat
from heldout.lessons.attention import attention

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOKENS = ("dog", "puppy", "car", "vehicle")
#: Exercise 23.9's features and projections.
X: Floats = np.array([[1.0, 0.5, 0.0], [0.9, 0.3, 0.0], [0.0, 0.4, 1.0], [0.0, 0.6, 0.9]])
W_QK: Floats = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
W_V: Floats = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])


def project(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Q, K and V, each (tokens, 2)."""
    return x @ W_QK, x @ W_QK, x @ W_V


def strongest(weights: Floats, *, other: bool) -> list[str]:
    """The token that each one weighs most, itself counted or not."""
    masked = np.where(np.eye(len(weights)) * other > 0, -1, weights)
    return [TOKENS[at] for at in masked.argmax(axis=1)]


def filler_effect() -> float:
    """The largest change of the weights when the filler feature is drawn anew."""
    other = X.copy()
    other[:, 1] = np.random.default_rng(0).normal(size=4)
    return float(abs(attention(*project(other))[1] - attention(*project(X))[1]).max())


def values() -> Values:
    """Exercise 23.9."""
    q, k, v = project(X)
    output, alpha = attention(q, k, v)
    groups = np.kron(np.eye(2), np.ones((2, 2)))
    partner = [1, 0, 3, 2]
    return {
        "ex23.9a": {
            **{"Q": q, "V": v, "shapes": [q.shape, k.shape, v.shape]},
            "filler_effect": filler_effect(),
        },
        "ex23.9b": {
            **{"scores": q @ k.T / np.sqrt(q.shape[1]), "alpha": alpha, "output": output},
            **{"row_sums": alpha.sum(axis=1), "col_sums": alpha.sum(axis=0)},
        },
        "ex23.9c": {
            **{"other": strongest(alpha, other=True), "argmax_with_self": strongest(alpha, other=False)},
            "within_weights": alpha[range(4), partner],
            "block_mass": (alpha * groups).sum(axis=1),
            # The first token of the other theme; both of its tokens have a score of 0.
            "cross_weight": alpha[range(4), [2, 2, 0, 0]],
        },
    }


def show() -> str:
    """The weights, the strongest other word, the mass on the own group."""
    found = values()
    alpha, c = found["ex23.9b"]["alpha"], found["ex23.9c"]
    rows = [
        [token, *row, other, mass]
        for token, row, other, mass in zip(TOKENS, alpha, c["other"], c["block_mass"], strict=True)
    ]
    weights = table(["query", *TOKENS, "strongest other", "mass on own theme"], rows)
    outputs = table(["token", "output"], zip(TOKENS, found["ex23.9b"]["output"].round(6), strict=True))
    return f"{weights}\n\n{outputs}\n\nnew filler features change the weights by {filler_effect():.0f}"


def picture(axes: "Axes") -> None:
    """The attention weights."""
    heat(axes, values()["ex23.9b"]["alpha"], TOKENS, TOKENS, digits=3)
    axes.set(xlabel="key", ylabel="query")


LESSON = Lesson(
    name="self-attention",
    title="self-attention on four words, whole: dog finds puppy, car finds vehicle",
    where="chapter 23.6; exercise 23.9",
    values=values,
    show=show,
    picture=picture,
    answers="""\
(a) W_Q and W_K have a zero row for the filler, so it has no part in the weights; it does reach the output, by W_V.
(b) d_k = 2, so scores are divided by √2. Every row of α sums to 1, the columns do not (1.022, 0.978, …).
(c) Yes: dog–puppy and car–vehicle are each other's strongest other word. Itself counted, puppy still looks most at dog
    (0.9 > 0.81): a long key draws attention, dot products are not cosines. And about a third of each row's mass goes to
    the other theme: its scores are 0, and a softmax of 0 is not 0.""",
)
