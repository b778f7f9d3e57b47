"""Multi-head attention: several small heads side by side, joined by one more matrix (Vaswani et al. 2017).

head_i = Attention(H W_Q^i, H W_K^i, H W_V^i), d_k = d_model / h; their outputs are put beside each other and
multiplied by W_O. The h projections of one kind are the column blocks of one d × d matrix, so h changes no count.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import heat
from heldout.lessons.attention import attention

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def split(x: Floats, heads: int) -> Floats:
    """(n, d) as (heads, n, d / heads): reshape to (n, heads, …) first; (heads, n, …) at once would mix tokens."""
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def join(x: Floats) -> Floats:
    """(heads, n, d / heads) back to (n, d)."""
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


def multi_head(
    queries: Floats,
    others: Floats,
    weights: tuple[Floats, Floats, Floats, Floats],
    heads: int,
    mask: NDArray[np.bool_] | None = None,
) -> Floats:
    """(n, d) from queries (n, d) over keys and values made of ``others`` (m, d): the same tokens in self-attention.

    ``weights`` are W_Q, W_K, W_V, W_O, each (d, d); ``mask`` (n, m) is true where a query may look.
    """
    w_q, w_k, w_v, w_o = weights
    mixed, _ = attention(split(queries @ w_q, heads), split(others @ w_k, heads), split(others @ w_v, heads), mask)
    return join(mixed) @ w_o


def one_by_one(queries: Floats, others: Floats, weights: tuple[Floats, ...], heads: int) -> Floats:
    """The same, as the formula writes it: each head with its own column block of the projections."""
    blocks = [np.split(w, heads, axis=1) for w in weights[:3]]
    each = [attention(queries @ q, others @ k, others @ v)[0] for q, k, v in zip(*blocks, strict=True)]
    return np.asarray(np.concatenate(each, axis=1) @ weights[3])


def draw(d: int, seed: int = 0) -> tuple[Floats, Floats, Floats, Floats]:
    """Random W_Q, W_K, W_V, W_O."""
    q, k, v, o = np.random.default_rng(seed).normal(size=(4, d, d)) / np.sqrt(d)
    return q, k, v, o


def values() -> Values:
    """Counts at d_model = 512 with 8 heads; exercise 23.4."""
    d, heads, n = 512, 8, 512
    return {
        "ch.multihead": {
            **{"d_head": d // heads, "projection_weights": 4 * d**2, "torch_mha_with_bias": 4 * (d**2 + d)},
            "scores_n": {f"n={n}": n**2},
        },
        "ex23.4": {"head_dim": d // heads, "layer_norms_per_encoder_block": 2},
    }


def show() -> str:
    """Counts by the number of heads; both ways to compute it."""
    d = 512
    rows = [[h, d // h, 4 * d**2, h * 512**2] for h in (1, 8, 16)]
    counts = table(["heads", "d_k", "projection weights", "scores at n = 512"], rows)
    x, weights = np.random.default_rng(1).normal(size=(5, 12)), draw(12)
    gap = abs(multi_head(x, x, weights, 3) - one_by_one(x, x, weights, 3)).max()
    other = np.random.default_rng(2).normal(size=(7, 12))
    shape = multi_head(x, other, weights, 3).shape
    said = f"split at once against head by head: largest difference {gap:.1e}"
    return f"{counts}\n\n{said}\n5 queries over 7 keys: outputs of shape {shape}"


def picture(axes: "Axes") -> None:
    """The weights of two heads over the same five tokens, side by side."""
    x, (w_q, w_k, w_v, _) = np.random.default_rng(1).normal(size=(5, 12)), draw(12)
    _, weights = attention(split(x @ w_q, 2), split(x @ w_k, 2), split(x @ w_v, 2))
    keys = [f"{head}:{at}" for head in "ab" for at in range(1, 6)]
    heat(axes, np.concatenate([*weights], axis=1), [str(at) for at in range(1, 6)], keys)
    axes.set(xlabel="head:key", ylabel="query")


LESSON = Lesson(
    name="multi-head",
    title="multi-head attention: heads are column blocks, so their number changes no count",
    where="chapter 23.6; exercise 23.4",
    values=values,
    show=show,
    picture=picture,
    answers="""\
23.4 (a) Query: what a position looks for; key: what it offers to be found by; value: what is carried over.
(b) 512 / 8 = 64.
(c) Without positions self-attention is permutation-equivariant: it cannot tell orders apart (see lesson positions).
(d) It keeps each token's activations at one scale, which makes deep stacks trainable. The original normalises after the
    residual sum, GPT-2 before the sublayer (see lesson blocks).
Are roles of heads prescribed? No: what a head looks for is learnt, and need not have a name.""",
)
