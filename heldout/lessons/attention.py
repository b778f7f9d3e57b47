"""Scaled dot-product attention: every query takes a weighted mean of the values (Vaswani et al. 2017).

Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V, the softmax along each row. q · k of coordinates with variance 1 has
variance d_k; the root keeps it at 1, so that the softmax does not saturate.
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import curves
from heldout.lessons.skip_gram import softmax

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = (1, 4, 64, 512)


def attention(
    q: Floats, k: Floats, v: Floats, mask: NDArray[np.bool_] | None = None, scale: float | None = None
) -> tuple[Floats, Floats]:
    """The outputs (…, n, d_v) and the weights (…, n, m) of queries (…, n, d_k) over keys (…, m, d_k) and values.

    ``mask`` is true where a query may look at a key; every query must be allowed one. ``scale`` is 1/√d_k by default.
    """
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


@cache
def saturation(d: int, draws: int = 1000, keys: int = 10) -> dict[str, float]:
    """Variance of q · k and the mean largest weight over ten keys, unscaled and scaled by 1/√d."""
    generator = np.random.default_rng(d)
    q, k = generator.normal(size=(draws, 1, d)), generator.normal(size=(draws, keys, d))
    scores = (q @ np.swapaxes(k, 1, 2))[:, 0]
    return {
        "var_unscaled": scores.var(),
        "var_scaled": (scores / d**0.5).var(),
        "max_weight_unscaled": softmax(scores).max(axis=1).mean(),
        "max_weight_scaled": softmax(scores / d**0.5).max(axis=1).mean(),
    }


def values() -> Values:
    """The chapter's head of three words, exercise 23.3, and what the scale does."""
    q, k = np.array([[1.0]]), np.array([[0.0], [np.log(2)], [0.0]])
    out, weights = attention(q, k, np.array([[1.0, 0], [0, 2], [2, 0]]))
    query, keys = np.array([[1.0, 0]]), np.array([[1.0, 0], [0, 1], [1, 1]])
    third, third_weights = attention(query, keys, np.array([[10.0], [20], [30]]), scale=1)
    return {
        "ch.attention.toy": {"scores": (q @ k.T)[0], "weights": weights[0], "output": out[0]},
        "ex23.3": {
            **{"scores": (query @ keys.T)[0], "weights": third_weights[0], "output": third[0, 0]},
            "output_V60": attention(query, keys, np.array([[10.0], [20], [60]]), scale=1)[0][0, 0],
        },
        "ch.scale": {
            "theory_var": {str(d): d for d in SIZES},
            "scaled_var": {str(d): saturation(d)["var_scaled"] for d in SIZES},
            "scale_512_8heads": (512 / 8) ** 0.5,
        },
    }


def show() -> str:
    """The head over 'The cat sat', exercise 23.3, the scale."""
    found = values()
    toy, third = found["ch.attention.toy"], found["ex23.3"]
    head = table(["word", "score", "weight"], zip(("The", "cat", "sat"), toy["scores"], toy["weights"], strict=True))
    names = ("1, 0", "0, 1", "1, 1")
    keys = table(["key", "score", "weight"], zip(names, third["scores"], third["weights"], strict=True))
    blind = f"output {third['output']:.4f}; with 60 as the third value {third['output_V60']:.4f}"
    rows = [[d, *saturation(d).values()] for d in SIZES]
    scales = ["d_k", "var(q · k)", "var(q · k / √d_k)", "largest weight of ten", "… scaled"]
    return "\n\n".join([f"{head}\noutput at cat: {toy['output']}", f"{keys}\n{blind}", table(scales, rows, digits=3)])


def picture(axes: "Axes") -> None:
    """The mean largest weight over ten keys by d_k, with and without the scale."""
    found = [saturation(d) for d in SIZES]
    lines = {kind: (SIZES, [each[f"max_weight_{kind}"] for each in found]) for kind in ("unscaled", "scaled")}
    curves(axes, lines, x="d_k", y="mean largest weight over 10 keys")
    axes.set_xscale("log", base=2)
    axes.set_ylim(0, 1)


LESSON = Lesson(
    name="attention",
    title="scaled dot-product attention, by hand: (0.75, 1) at 'cat', and why 1/√d_k",
    where="chapter 23.6; exercise 23.3",
    values=values,
    show=show,
    picture=picture,
    answers="""\
23.3 (a) scores 1, 0, 1. (b) weights 0.4223, 0.1554, 0.4223. (c) 20. (d) Keys 1 and 3 alike, which share q's first
coordinate; their second coordinate is invisible to q. Key 2, at a right angle, still gets 15.5%.
Is 20 a good check? No: any weights (a, 1 − 2a, a) give it, scaled or uniform ones too. Look at the weights, or put 60
in place of 30: 32.67 unscaled, 32.03 scaled.
Does the chapter's small head show the scale? No: d_k = 1 there.
With 8 heads at d_model = 512 the scores are divided by √64 = 8, not by √512.""",
)
