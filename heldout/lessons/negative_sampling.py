"""Negative sampling: tell a true pair from K drawn ones, instead of one word from all (Mikolov et al. 2013).

loss = −log σ(u_o · v_c) − Σ_k log σ(−u_k · v_c), the K words drawn from P_n(w) ∝ f(w)^(3/4). K + 1 scores a pair
instead of |V|; another objective than the softmax (see lesson shifted-pmi), not an approximation of it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import curves
from heldout.lessons.one_hot import E_IN, WORDS
from heldout.lessons.skip_gram import E_OUT

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def sigmoid(x: ArrayLike) -> Floats:
    """1 / (1 + exp(−x)), without overflow."""
    return np.asarray(np.exp(-np.logaddexp(0, -np.asarray(x, dtype=float))))


def sampled_loss(v: Floats, u: Floats) -> tuple[Floats, Floats, Floats]:
    """The loss of true pairs with their negatives, and its gradients by v and u.

    ``v`` is (…, d); ``u`` is (…, 1 + K, d): the true context's row first, then the K negatives'. Gives (…), the shape
    of v, the shape of u.
    """
    scores = np.einsum("...kd,...d->...k", u, v)
    sign = np.where(np.arange(u.shape[-2]) == 0, 1.0, -1.0)
    loss = np.logaddexp(0, -sign * scores).sum(axis=-1)
    by_score = -sign * sigmoid(-sign * scores)
    return loss, np.einsum("...k,...kd->...d", by_score, u), by_score[..., None] * v[..., None, :]


def noise(counts: ArrayLike, power: float = 0.75) -> Floats:
    """P_n(w) ∝ f(w)^power."""
    raised = np.asarray(counts, dtype=float) ** power
    return np.asarray(raised / raised.sum())


def sampled(context: str, negatives: Sequence[str]) -> tuple[float, Floats]:
    """The loss and its gradient by v for the centre 'cat' of the lesson's tables."""
    loss, by_v, _ = sampled_loss(E_IN[1], E_OUT[[WORDS.index(word) for word in (context, *negatives)]])
    return float(loss), by_v


def values() -> Values:
    """The sampled loss and the noise."""
    two, grad = sampled("drinks", ["the", "milk"])
    p = sigmoid(E_OUT @ E_IN[1])
    return {
        "lesson.negsampling": {
            "cat_drinks_neg_the_milk": two,
            "cat_drinks_neg_the": sampled("drinks", ["the"])[0],
            "sigmoids": p,
            "sigmoid_sum": p.sum(),
            "grad_v_neg_the_milk": grad,
        },
        "ch.noise": {
            "P": noise([1, 16, 81]),
            "raw": noise([1, 16, 81], power=1),
            "cost_scores": {f"K{k}": 1 + k for k in (5, 20)},
        },
    }


def show() -> str:
    """The sampled loss; the noise; the scores a pair."""
    found = values()
    loss = found["lesson.negsampling"]
    told = table(["context of cat", "σ(u · v)"], zip(WORDS, loss["sigmoids"], strict=True), digits=6)
    said = f"they sum to {loss['sigmoid_sum']:.4f}, not to 1; loss of cat, drinks with negatives the, milk: "
    counts = (1, 16, 81)
    drawn = table(["count", "share", "drawn as noise"], zip(counts, noise(counts, 1), noise(counts), strict=True))
    return f"{told}\n{said}{loss['cat_drinks_neg_the_milk']:.6f}\n\n{drawn}"


def picture(axes: "Axes") -> None:
    """How often a word is drawn as noise by how often it occurs."""
    share = np.linspace(0.01, 0.99, 99)
    lines = {f"f^{power:g}": (share, [noise([x, 1 - x], power)[0] for x in share]) for power in (1, 0.75, 0)}
    curves(axes, lines, x="share of one of two words", y="drawn as noise")


LESSON = Lesson(
    name="negative-sampling",
    title="negative sampling: a true pair against K drawn ones, another objective than the softmax",
    where="lesson 5; chapter 23.3",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Is it an approximation of the softmax? No: its sigmoids are K + 1 yes-or-no questions and sum to no probability
(2.4621 here).
What does the 3/4 power do? It draws frequent words less often than they occur and rare ones more often; it was found by
trying.
What does a pair cost? K + 1 scores: 6 for K = 5, 21 for K = 20, whatever the size of the vocabulary.
(The displayed formula of the lesson's section 5 is missing from its file; this is the chapter's.)""",
)
