"""What negative sampling would learn if its scores were free: PMI − log K (Levy and Goldberg 2014).

With noise P_n the best score of a pair is log(P(o | c) / P_n(o)) − log K. For unigram noise P_n = P(o) that is the
pointwise mutual information less log K, so vectors of few dimensions factorise a shifted PMI table.
"""

from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import heat
from heldout.lessons.negative_sampling import noise, sigmoid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Pairs counted, rows o, columns c.
COUNTS: Floats = np.array([[10.0, 4, 1], [4, 6, 5], [1, 5, 14]])


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


def values() -> Values:
    """The optimum, and the scores that training finds."""
    unigram, power = COUNTS.sum(axis=1) / COUNTS.sum(), noise(COUNTS.sum(axis=1))
    best = optimum(COUNTS, unigram, 5)
    return {
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
    """The fitted scores beside PMI − log K."""
    found = values()["ch.pmi.optimum"]
    pmi, five, power = found["pmi"], found["unigram_K5"], found["f34_K5"]
    rows = [[o, c, pmi[o, c], pmi[o, c] - np.log(5), five[o, c], power[o, c]] for o in range(3) for c in range(3)]
    fitted = table(["o", "c", "PMI", "PMI − log 5", "fitted, unigram noise, K = 5", "fitted, f^0.75"], rows)
    losses = f"least expected loss {found['loss_at_optimum_unigram_K5']:.4f}, at scores of 0"
    return f"{fitted}\n{losses} {found['loss_at_zero_K5']:.4f} (6 log 2)"


def picture(axes: "Axes") -> None:
    """The fitted scores, K = 1: the PMI of each pair."""
    heat(axes, values()["ch.pmi.optimum"]["unigram_K1"], ["o = 0", "o = 1", "o = 2"], ["c = 0", "c = 1", "c = 2"])
    axes.set_title("fitted scores, K = 1: PMI(o, c)")


LESSON = Lesson(
    name="shifted-pmi",
    title="what negative sampling learns if its scores are free: PMI − log K",
    where="chapter 23.3",
    values=values,
    show=show,
    picture=picture,
    answers="""\
What does the 3/4 power do to the optimum? It puts P_n(o) in place of P(o), so 'PMI − log K' holds for unigram noise
only.
Must a negative be drawn anew when it equals the true context? The formula says no. With such a rule the noise depends
on o, and the optimum is no longer PMI − log K.
Can vectors reach it? Three words need three dimensions; with one, some score stays 1.79 away (tested).""",
)
