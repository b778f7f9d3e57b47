"""CBOW: the mean of the context's vectors predicts the word in the middle (Mikolov et al. 2013).

P(c | context) = softmax(U v̄)_c with v̄ = (1/2m) Σ v_o. Each context vector therefore gets 1/(2m) of the gradient, and
a word that stands twice in the context gets it twice.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import bars
from heldout.lessons.skip_gram import softmax
from heldout.lessons.skip_gram_objective import MAN, toy_tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")

MAT = ["the", "cat", "sat", "on", "the", "mat"]


def around(words: Sequence[T], at: int, window: int) -> list[T]:
    """The words at most ``window`` away from a position, within the sentence; a type may occur twice."""
    return [*words[max(0, at - window) : at], *words[at + 1 : at + window + 1]]


def contexts(ids: Sequence[int], window: int) -> list[tuple[int, list[int]]]:
    """(centre, the ids around it) for every position."""
    return [(center, around(ids, at, window)) for at, center in enumerate(ids)]


def probabilities(context: Sequence[int], v: Floats, u: Floats) -> Floats:
    """P of every word in the middle, shape (words,)."""
    return softmax(u @ v[[*context]].mean(axis=0))


def gradient(center: int, context: Sequence[int], v: Floats, u: Floats) -> Floats:
    """d log P(center | context) by the table v, shape of v: (u_c − Σ P_j u_j) / len(context) a mention."""
    signal = u[center] - probabilities(context, v, u) @ u
    by_v = np.zeros_like(v)
    # add.at, since v[[0, 0]] += x adds once only where an index stands twice.
    np.add.at(by_v, [*context], signal / len(context))
    return by_v


def objective(ids: Sequence[int], v: Floats, u: Floats, window: int) -> float:
    """The summed log P(centre | context) over all positions, as the chapter writes it: not divided by T."""
    return float(sum(np.log(probabilities(context, v, u)[center]) for center, context in contexts(ids, window)))


def add_at(indices: Sequence[int], rows: int) -> Floats:
    """Ones added at the indices: what a table's gradient must do with repeated words."""
    total = np.zeros(rows)
    np.add.at(total, [*indices], 1)
    return total


def values() -> Values:
    """The gradient on the tables made by a rule; a repeated word; a sentence's edge."""
    v, u = toy_tables()
    context = [0, 1, 3, 4]
    by_v = gradient(2, context, v, u)
    ids = [sorted(set(MAT), key=MAT.index).index(word) for word in MAT]
    center, twice = contexts(ids, 2)[MAT.index("sat")]
    return {
        "ch.cbow.grad": {
            "mean_context": v[context].mean(axis=0),
            "P_loves": probabilities(context, v, u)[2],
            "grad_v_context": by_v[0],
            "grad_sum_over_context": by_v.sum(axis=0),
            "repeated_word_grad": gradient(center, twice, v, u)[0],
            "boundary_factor": 1 / len(contexts(range(5), 2)[0][1]),
            "objective_m2": objective(range(5), v, u, 2),
        },
        "ch.w2v.numpyadd": {"correct": add_at([0, 0, 0, 1], 2)},
    }


def show() -> str:
    """The context's mean, P, the gradient of each context word."""
    v, u = toy_tables()
    found = values()["ch.cbow.grad"]
    by_v = gradient(2, [0, 1, 3, 4], v, u)
    rows = [[word, v[at], np.round(by_v[at], 6)] for at, word in enumerate(MAN) if word != "loves"]
    said = f"mean of the context {found['mean_context']}, P(loves | context) = {found['P_loves']:.6f}"
    twice = f"'the' stands twice around 'sat' in {' '.join(MAT)!r}: its row gets {found['repeated_word_grad'].round(6)}"
    collapsed = np.zeros(2)
    collapsed[[0, 0, 0, 1]] += 1
    trap = f"np.add.at(x, [0, 0, 0, 1], 1) gives {add_at([0, 0, 0, 1], 2)}; x[[0, 0, 0, 1]] += 1 gives {collapsed}"
    return "\n\n".join([f"{said}\n{table(['context', 'v', 'gradient'], rows)}", twice, trap])


def picture(axes: "Axes") -> None:
    """The gradient of one context word beside the whole signal: a quarter of it."""
    found = values()["ch.cbow.grad"]
    parts = {"one of 4 context words": [*found["grad_v_context"]], "all four": [*found["grad_sum_over_context"]]}
    bars(axes, parts, ["1st", "2nd", "3rd"], y="gradient by coordinate")


LESSON = Lesson(
    name="cbow",
    title="CBOW: the mean of the context predicts the middle, and each context vector gets 1/(2m) of the signal",
    where="chapter 23.2",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Is the factor always 1/(2m)? No: it is one over the number of context words that exist, 1/2 for a sentence's first
word at window 2.
Do libraries do this? Not quite: word2vec.c, and gensim with cbow_mean=1, add the whole signal to every context row, so
their CBOW is not the gradient of this objective (their steps are 2m times as long).
Which table is the context's? v here, u is the centre's: the other way round than in skip-gram.""",
)
