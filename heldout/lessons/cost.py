"""What attention costs, and how a large batch is taken in small parts.

n tokens have n² scores, n² d multiplications; linear attention with a fixed feature map φ regroups the product,
φ(Q) (φ(K)ᵀ V), and costs n d². Gradients of micro-batches add up to the batch's if each counts by its size.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import curves
from heldout.lessons.attention import attention

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = (4, 4, 2)


def feature(x: Floats) -> Floats:
    """φ = elu + 1, positive everywhere."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_attention(q: Floats, k: Floats, v: Floats) -> Floats:
    """φ(q) (φ(k)ᵀ v), each row over φ(q) · Σ φ(k); no (n, n) table is formed."""
    fq, fk = feature(q), feature(k)
    return np.asarray(fq @ (fk.T @ v) / (fq @ fk.sum(axis=0))[:, None])


def by_table(q: Floats, k: Floats, v: Floats) -> Floats:
    """The same through the table φ(q) φ(k)ᵀ, its rows normalised."""
    weights = feature(q) @ feature(k).T
    return np.asarray(weights / weights.sum(axis=1, keepdims=True) @ v)


def gradient(x: Floats, y: Floats, w: Floats) -> Floats:
    """The gradient of the mean squared error of x w."""
    return np.asarray(2 * x.T @ (x @ w - y) / len(y))


def accumulated(x: Floats, y: Floats, w: Floats, sizes: tuple[int, ...] = SIZES, *, weighted: bool = True) -> Floats:
    """Micro-batches' gradients added: each weighted by its share of the rows, or (wrongly) all alike."""
    edges = np.cumsum([0, *sizes])
    total = np.zeros_like(w)
    for start, end in pairwise(edges):
        share = (end - start) / len(y) if weighted else 1 / len(sizes)
        total += share * gradient(x[start:end], y[start:end], w)
    return total


def _drawn() -> tuple[Floats, Floats, Floats]:
    generator = np.random.default_rng(0)
    return generator.normal(size=(10, 3)), generator.normal(size=10), generator.normal(size=3)


def values() -> Values:
    """Costs at n = 512 and head dimension 64; both identities."""
    n, d = 512, 64
    q, k, v = np.random.default_rng(1).normal(size=(3, 20, 4))
    x, y, w = _drawn()
    return {
        "ch.complexity": {
            **{"scores": {f"n={m}": m**2 for m in (n, 2 * n)}, "full_n2d": n**2 * d, "linear_nd2": n * d**2},
            **{"ratio": n / d, "linear_dev": abs(linear_attention(q, k, v) - by_table(q, k, v)).max()},
        },
        "ch.grad_accum": {"dev": abs(accumulated(x, y, w) - gradient(x, y, w)).max()},
    }


def show() -> str:
    """Costs by length; the two deviations."""
    d = 64
    rows = [[n, n**2, n**2 * d, n * d**2] for n in (64, 512, 1024, 4096)]
    costs = table(["n", "scores n²", "n² d, d = 64", "n d²"], rows)
    q, k, v = np.random.default_rng(1).normal(size=(3, 20, 4))
    softmaxed = abs(linear_attention(q, k, v) - attention(q, k, v)[0]).max()
    x, y, w = _drawn()
    alike = abs(accumulated(x, y, w, weighted=False) - gradient(x, y, w)).max()
    return "\n\n".join(
        [
            costs,
            f"linear attention equals its own table to {values()['ch.complexity']['linear_dev']:.1e}, and differs from"
            f" softmax attention by {softmaxed:.3f}",
            f"10 rows as 4 + 4 + 2: weighted by size off by {values()['ch.grad_accum']['dev']:.1e}; all alike by"
            f" {alike:.3f}",
        ]
    )


def picture(axes: "Axes") -> None:
    """Multiplications by length, full and linear."""
    n = np.arange(16, 513)
    curves(axes, {"n² d": (n, n**2 * 64), "n d²": (n, n * 64**2)}, x="n, with d = 64", y="multiplications")


LESSON = Lesson(
    name="cost",
    title="what attention costs in n and d, and gradients that add up",
    where="chapter 23.6",
    values=values,
    show=show,
    picture=picture,
    answers="""\
What does doubling n do? Four times as many scores.
Is linear attention softmax attention, only faster? No: it is another function, with another kernel.
Where do the two costs meet? At n = d.
When is accumulation exact? When each micro-batch's mean is weighted by its size; for token-level losses by its number
of target tokens. The mean of unequal means is another gradient.""",
)
