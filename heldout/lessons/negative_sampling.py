"""Negative sampling: tell a true pair from K drawn ones, instead of one word from all (Mikolov et al. 2013).

loss = −log σ(u_o · v_c) − Σ_k log σ(−u_k · v_c). It is another objective than the softmax: with free scores its
optimum is log(P(o | c) / P_n(o)) − log K, which is PMI − log K for unigram noise (Levy and Goldberg 2014).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import heat
from heldout.lessons.one_hot import E_IN, WORDS
from heldout.lessons.skip_gram import E_OUT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Pairs counted, rows o, columns c.
COUNTS: Floats = np.array([[10.0, 4, 1], [4, 6, 5], [1, 5, 14]])


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


def optimum(counts: Floats, drawn: Floats, negatives: int) -> Floats:
    """The best free scores, shape of counts (rows o): log(P(o | c) / P_n(o)) − log K; −∞ where a pair never occurs."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(counts / counts.sum(axis=0) / drawn[:, None]) - np.log(negatives))


def expected_loss(scores: Floats, counts: Floats, drawn: Floats, negatives: int) -> float:
    """The mean loss a pair when pairs come as counted and negatives from ``drawn``; scores may be −∞ at no pairs."""
    pair = counts / counts.sum()
    positive = np.logaddexp(0, -scores, where=pair > 0, out=np.zeros_like(scores))
    negative = np.logaddexp(0, scores)
    return float((pair * positive).sum() + negatives * (drawn[:, None] * pair.sum(axis=0) * negative).sum())


def fit_scores(counts: Floats, drawn: Floats, negatives: int, steps: int = 4000) -> Floats:
    """Free scores by gradient descent on the expected loss; a step of 4 / (a + b) a cell, its curvature's bound."""
    true, false = counts / counts.sum(), negatives * drawn[:, None] * counts.sum(axis=0) / counts.sum()
    scores = np.zeros_like(counts)
    for _ in range(steps):
        scores -= 4 / (true + false) * ((true + false) * sigmoid(scores) - true)
    return scores


def sampled(context: str, negatives: Sequence[str]) -> tuple[float, Floats]:
    """The loss and its gradient by v for the centre 'cat' of the lesson's tables."""
    loss, by_v, _ = sampled_loss(E_IN[1], E_OUT[[WORDS.index(word) for word in (context, *negatives)]])
    return float(loss), by_v


def values() -> Values:
    """The sampled loss, the noise, and the scores that training finds."""
    two, grad = sampled("drinks", ["the", "milk"])
    unigram, power = COUNTS.sum(axis=1) / COUNTS.sum(), noise(COUNTS.sum(axis=1))
    p = sigmoid(E_OUT @ E_IN[1])
    best = optimum(COUNTS, unigram, 5)
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
        "ch.pmi.optimum": {
            "pmi": optimum(COUNTS, unigram, 1),
            **{f"unigram_K{k}": fit_scores(COUNTS, unigram, k) for k in (1, 5)},
            "noise34": power,
            "f34_K5": fit_scores(COUNTS, power, 5),
            "loss_at_optimum_unigram_K5": expected_loss(best, COUNTS, unigram, 5),
            "loss_at_zero_K5": expected_loss(np.zeros((3, 3)), COUNTS, unigram, 5),
        },
    }


def show() -> str:
    """The sampled loss; the fitted scores beside PMI − log K."""
    found = values()
    loss, pmi = found["lesson.negsampling"], found["ch.pmi.optimum"]
    told = table(["context of cat", "σ(u · v)"], zip(WORDS, loss["sigmoids"], strict=True), digits=6)
    said = f"they sum to {loss['sigmoid_sum']:.4f}, not to 1; loss of cat, drinks with negatives the, milk: "
    rows = [[o, c, pmi["pmi"][o, c], pmi["unigram_K5"][o, c], pmi["f34_K5"][o, c]] for o in range(3) for c in range(3)]
    head = ["o", "c", "PMI", "fitted, K = 5, unigram noise", "fitted, K = 5, f^0.75"]
    return f"{told}\n{said}{loss['cat_drinks_neg_the_milk']:.6f}\n\n{table(head, rows)}\nlog 5 = {np.log(5):.4f}"


def picture(axes: "Axes") -> None:
    """The fitted scores, K = 1: the PMI of each pair."""
    heat(axes, values()["ch.pmi.optimum"]["unigram_K1"], ["o = 0", "o = 1", "o = 2"], ["c = 0", "c = 1", "c = 2"])
    axes.set_title("fitted scores, K = 1: PMI(o, c)")


LESSON = Lesson(
    name="negative-sampling",
    title="negative sampling is another objective: its best scores are PMI − log K",
    where="lesson 5; chapter 23.3",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Is it an approximation of the softmax? No: its sigmoids are K + 1 yes-or-no questions and sum to no probability
(2.4621 here).
What does the 3/4 power do to the optimum? It puts P_n(o) in place of P(o), so 'PMI − log K' holds for unigram noise
only.
Must a negative be drawn anew when it equals the true context? The formula says no. With such a rule the noise depends
on o, and the optimum is no longer PMI − log K.
(The displayed formula of the lesson's section 5 is missing from its file; this is the chapter's.)""",
)
