"""Self-attention does not know the order of its tokens; positions must be given to it.

Attn(P H) = P Attn(H) for every permutation P. Sinusoids, PE(pos, 2i) = sin(pos / 10000^(2i/d)) and PE(pos, 2i + 1) the
cosine, give each place a vector; moving by k places is the same rotation everywhere.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons.multi_head import draw, multi_head

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def frequencies(d: int) -> Floats:
    """10000^(−2i/d) for every pair of coordinates, (d / 2,)."""
    return np.asarray(10000.0 ** (-np.arange(0, d, 2) / d))


def sinusoids(positions: int, d: int) -> Floats:
    """PE, (positions, d), positions from 0; sine and cosine take turns along a row."""
    angles = np.arange(positions)[:, None] * frequencies(d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(positions, d)


def shift(k: int, d: int) -> Floats:
    """The matrix that turns PE(pos) into PE(pos + k), whatever pos: a rotation a pair of coordinates, (d, d)."""
    turn = np.zeros((d, d))
    for at, angle in enumerate(k * frequencies(d)):
        pair = slice(2 * at, 2 * at + 2)
        turn[pair, pair] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    return turn


def moved(add: bool = False, mask: NDArray[np.bool_] | None = None) -> float:
    """How far Attn(P H) is from P Attn(H) for random tokens, with positions added or a mask if asked for."""
    generator = np.random.default_rng(3)
    h, order, weights = generator.normal(size=(6, 8)), generator.permutation(6), draw(8)
    extra = sinusoids(6, 8) if add else np.zeros((6, 8))
    one, other = h + extra, h[order] + extra
    return float(abs(multi_head(other, other, weights, 2, mask) - multi_head(one, one, weights, 2, mask)[order]).max())


def twins() -> float:
    """How far the outputs of two equal tokens of one sequence are apart."""
    h = np.random.default_rng(4).normal(size=(6, 8))
    h[4] = h[0]
    out = multi_head(h, h, draw(8), 2)
    return float(abs(out[4] - out[0]).max())


def values() -> Values:
    """The encodings of d = 8, and what a permutation does."""
    pe = sinusoids(10, 8)
    return {
        "ch.pe8": {
            **{"frequencies": frequencies(8), "pe0": pe[0], "pe1": pe[1], "pe": pe},
            **{"norm_sq": pe[7] @ pe[7], "dot_0_3": pe[0] @ pe[3]},
        },
        "ch.equivariance": {"equivariance_dev": moved(), "identical_tokens_dev": twins()},
    }


def show() -> str:
    """The encodings; the three deviations."""
    pe = sinusoids(10, 8)
    rows = [[at, *row] for at, row in enumerate(pe[:4])]
    head = ["position", *(f"{kind} {w:g}·pos" for w in frequencies(8) for kind in ("sin", "cos"))]
    causal = np.tril(np.ones((6, 6), dtype=bool))
    kept = table(
        ["Attn(P H) against P Attn(H)", "largest difference"],
        [["as it is", moved()], ["with positions", moved(add=True)], ["with a causal mask", moved(mask=causal)]],
    )
    dots = f"PE(0) · PE(3) = {pe[0] @ pe[3]:.6f}, PE(6) · PE(9) = {pe[6] @ pe[9]:.6f}; ‖PE‖² = {pe[5] @ pe[5]:.1f}"
    return f"{table(head, rows)}\n{dots}\n\n{kept}"


def picture(axes: "Axes") -> None:
    """The encodings of 50 positions, d = 32."""
    shade = axes.imshow(sinusoids(50, 32).T, aspect="auto", cmap="RdBu")
    axes.set(xlabel="position", ylabel="coordinate")
    axes.figure.colorbar(shade)


LESSON = Lesson(
    name="positions",
    title="attention without positions is permutation-equivariant; sinusoids give it an order",
    where="chapter 23.6",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Is self-attention invariant to order? No, equivariant: outputs move with their tokens. Only a pooled output, a mean for
instance, is invariant.
What takes the property away? Positions that are added, or a causal mask.
Do norms or dot products check the encodings? Not the layout: all sines first and then all cosines gives the same ones.
Compare single rows.
The formula is defined beyond the trained lengths; that is no promise that a model works there.""",
)
