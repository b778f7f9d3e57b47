"""What stands around attention in a block: layer normalisation, the feed-forward network, the residual sum.

LayerNorm takes the features of one token to mean 0 and variance 1. The original block normalises after the sum,
LN(x + f(x)); GPT-2's before the sublayer, x + f(LN(x)). The feed-forward network treats every position alike and alone.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Layer: TypeAlias = Callable[[Floats], Floats]
#: A small network that can be followed by hand: x, W1, b1, W2, b2.
TOY: tuple[Floats, Floats, Floats, Floats, Floats] = (
    np.array([[1.0, -2], [0, 3]]),
    np.array([[1.0, 0, -1, 2], [0, 1, 1, -1]]),
    np.array([0.0, 0.5, 0, -1]),
    np.array([[1.0, 0], [0, 1], [1, 1], [0.5, -1]]),
    np.array([0.1, -0.1]),
)


def layer_norm(x: Floats, gain: Floats | float = 1.0, bias: Floats | float = 0.0, eps: float = 1e-5) -> Floats:
    """(x − μ) / √(σ² + ε) · gain + bias over the last axis; σ² divides by the number of features."""
    centered = x - x.mean(axis=-1, keepdims=True)
    return np.asarray(centered / np.sqrt(x.var(axis=-1, keepdims=True) + eps) * gain + bias)


def relu(x: Floats) -> Floats:
    """max(x, 0)."""
    return np.maximum(x, 0)


def gelu(x: Floats) -> Floats:
    """x Φ(x), as BERT has it."""
    return np.asarray(x * 0.5 * (1 + np.vectorize(math.erf)(np.asarray(x) / math.sqrt(2))))


def gelu_tanh(x: Floats) -> Floats:
    """GPT-2's form of it with a tanh."""
    return np.asarray(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


def feed_forward(x: Floats, w1: Floats, b1: Floats, w2: Floats, b2: Floats, activation: Layer = relu) -> Floats:
    """activation(x W1 + b1) W2 + b2, position by position."""
    return np.asarray(activation(x @ w1 + b1) @ w2 + b2)


def post_norm(x: Floats, sublayer: Layer, norm: Layer = layer_norm) -> Floats:
    """The original residual: LN(x + f(x))."""
    return norm(x + sublayer(x))


def pre_norm(x: Floats, sublayer: Layer, norm: Layer = layer_norm) -> Floats:
    """GPT-2's residual: x + f(LN(x))."""
    return x + sublayer(norm(x))


def layer_norms(layers: int) -> dict[str, int]:
    """Norms of an encoder-only stack: BERT's one at the embeddings and two a block, GPT-2's two a block and a last."""
    return {"bert": 1 + 2 * layers, "gpt2": 2 * layers + 1}


def _scale(residual: Callable[[Floats, Layer], Floats], depth: int) -> list[float]:
    """The root mean square of a token after 0..depth blocks of a random linear sublayer."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(4, 64))
    sizes = [float(np.sqrt((x**2).mean()))]
    for weights in generator.normal(size=(depth, 64, 64)) / 8:
        x = residual(x, lambda h, w=weights: h @ w)  # type: ignore[misc]
        sizes.append(float(np.sqrt((x**2).mean())))
    return sizes


def values() -> Values:
    """LayerNorm, the network, the activations."""
    x, one = np.array([1.0, 2, 3, 4]), np.array([1.0])
    norms = layer_norms(2)
    return {
        "ch.layernorm": {
            **{"value": layer_norm(x), "mean": layer_norm(x).mean(), "eps0": layer_norm(x, eps=0)},
            # Self-attention and network; self-attention, cross-attention and network.
            "norms_encoder_decoder": [2, 3],
        },
        "ch.ffn": {"output": feed_forward(*TOY)},
        "ch.activations": {
            **{"gpt2_activation": "gelu_new", "bert_activation": "gelu"},
            **{"gpt2_layernorms": norms["gpt2"], "bert_layernorms": norms["bert"]},
            **{"gelu_1": gelu(one)[0], "gelu_tanh_1": gelu_tanh(one)[0]},
        },
    }


def show() -> str:
    """LayerNorm of 1, 2, 3, 4; the network; activations; both residuals."""
    x = np.array([[1.0, 2, 3, 4], [5, 5, 5, 5]])
    normed = table(["x", "LayerNorm(x)"], zip(x, layer_norm(x).round(6) + 0.0, strict=True))
    points = np.array([-2.0, -1, 0, 1, 2])
    shapes = table(
        ["x", "ReLU", "GELU (BERT)", "GELU, tanh (GPT-2)"],
        zip(points, relu(points), gelu(points), gelu_tanh(points), strict=True),
        digits=6,
    )
    network = table(["token", "feed-forward"], zip(TOY[0], feed_forward(*TOY), strict=True))
    scales = zip((0, 6, 24), *([_scale(r, 24)[at] for at in (0, 6, 24)] for r in (post_norm, pre_norm)), strict=True)
    grown = table(["blocks", "root mean square, post-norm", "pre-norm"], scales)
    return "\n\n".join([normed, network, shapes, grown])


def picture(axes: "Axes") -> None:
    """The three activations."""
    x = np.linspace(-4, 4, 200)
    curves(axes, {f.__name__: (x, f(x)) for f in (relu, gelu, gelu_tanh)}, x="x", y="activation")


LESSON = Lesson(
    name="blocks",
    title="inside a block: layer normalisation, feed-forward, and a residual that is normed before or after",
    where="chapter 23.7; exercise 23.4",
    values=values,
    show=show,
    picture=picture,
    answers="""\
How many norms has a block? Two in the encoder, three in the decoder, one a sublayer.
Over what is the mean taken? The features of one token, not the batch or the positions; a token of equal features gives
the bias, not nan. The variance divides by n, not by n − 1, and ε stands under the root.
Can one tell post-norm from pre-norm? Yes: a post-norm block's output has mean 0 and variance 1 (gain 1), a pre-norm
one's grows with depth, which is why pre-norm stacks end in a norm of their own.
Do residuals guarantee that training works? No; they give gradients a short way to early layers.""",
)
