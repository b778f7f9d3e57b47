"""The whole original Transformer, encoder and decoder, in NumPy (Vaswani et al. 2017).

Weights are a mapping by the names of PyTorch's ``nn.Transformer``, so copied weights give PyTorch's numbers (tested in
float64 to 1e-10, post-norm and pre-norm, with a padded source).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import heat
from heldout.lessons.attention import attention
from heldout.lessons.blocks import Layer, feed_forward, layer_norm, post_norm, pre_norm
from heldout.lessons.multi_head import join, split
from heldout.lessons.positions import sinusoids
from heldout.lessons.shifted_decoder import causal, shifted
from heldout.lessons.skip_gram import softmax

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Weights = Mapping[str, Floats]
Mask = NDArray[np.bool_] | None


def attend(x: Floats, others: Floats, w: Weights, name: str, heads: int, mask: Mask) -> Floats:
    """Multi-head attention with biases: queries from ``x`` (n, d), keys and values from ``others`` (m, d)."""
    parts = zip(np.split(w[f"{name}.in_proj_weight"], 3), np.split(w[f"{name}.in_proj_bias"], 3), strict=True)
    q, k, v = (split(h @ m.T + b, heads) for h, (m, b) in zip((x, others, others), parts, strict=True))
    return np.asarray(join(attention(q, k, v, mask)[0]) @ w[f"{name}.out_proj.weight"].T + w[f"{name}.out_proj.bias"])


def _norm(w: Weights, name: str) -> Layer:
    return lambda x: layer_norm(x, w[f"{name}.weight"], w[f"{name}.bias"])


def _network(w: Weights, name: str) -> Layer:
    first, second = f"{name}.linear1", f"{name}.linear2"
    return lambda x: feed_forward(
        x, w[f"{first}.weight"].T, w[f"{first}.bias"], w[f"{second}.weight"].T, w[f"{second}.bias"]
    )


def _depth(w: Weights, side: str) -> int:
    return len({name.split(".")[2] for name in w if name.startswith(f"{side}.layers.")})


def encode(x: Floats, w: Weights, heads: int, mask: Mask = None, *, pre: bool = False) -> Floats:
    """The encoder: (n, d) to (n, d); ``mask`` (n,) is true at real tokens."""
    residual = pre_norm if pre else post_norm
    for at in range(_depth(w, "encoder")):
        name = f"encoder.layers.{at}"
        x = residual(x, lambda h, n=name: attend(h, h, w, f"{n}.self_attn", heads, mask), _norm(w, f"{name}.norm1"))  # type: ignore[misc]
        x = residual(x, _network(w, name), _norm(w, f"{name}.norm2"))
    return _norm(w, "encoder.norm")(x)


def decode(x: Floats, memory: Floats, w: Weights, heads: int, mask: Mask = None, *, pre: bool = False) -> Floats:
    """The decoder over target inputs (m, d) and the encoder's outputs (n, d); ``mask`` (n,) is the source's."""
    residual, early = pre_norm if pre else post_norm, causal(len(x))
    for at in range(_depth(w, "decoder")):
        name = f"decoder.layers.{at}"
        x = residual(x, lambda h, n=name: attend(h, h, w, f"{n}.self_attn", heads, early), _norm(w, f"{name}.norm1"))  # type: ignore[misc]
        x = residual(
            x,
            lambda h, n=name: attend(h, memory, w, f"{n}.multihead_attn", heads, mask),  # type: ignore[misc]
            _norm(w, f"{name}.norm2"),
        )
        x = residual(x, _network(w, name), _norm(w, f"{name}.norm3"))
    return _norm(w, "decoder.norm")(x)


def draw(d: int, ffn: int, layers: int, seed: int = 0) -> dict[str, Floats]:
    """Random weights by PyTorch's names; gains 1."""
    generator, found = np.random.default_rng(seed), dict[str, Floats]()

    def linear(name: str, rows: int, columns: int, kinds: tuple[str, str] = (".weight", ".bias")) -> None:
        found[name + kinds[0]] = generator.normal(size=(rows, columns)) / np.sqrt(columns)
        found[name + kinds[1]] = generator.normal(size=rows) * 0.1

    for side, attentions in {"encoder": ["self_attn"], "decoder": ["self_attn", "multihead_attn"]}.items():
        for name in (f"{side}.layers.{at}" for at in range(layers)):
            for kind in attentions:
                linear(f"{name}.{kind}", 3 * d, d, (".in_proj_weight", ".in_proj_bias"))
                linear(f"{name}.{kind}.out_proj", d, d)
            linear(f"{name}.linear1", ffn, d)
            linear(f"{name}.linear2", d, ffn)
            for at in range(len(attentions) + 1):
                found |= {f"{name}.norm{at + 1}.weight": np.ones(d), f"{name}.norm{at + 1}.bias": np.zeros(d)}
        found |= {f"{side}.norm.weight": np.ones(d), f"{side}.norm.bias": np.zeros(d)}
    return found


def counts(d: int = 512, ffn: int = 2048, layers: int = 6, vocabulary: int = 37000) -> dict[str, int]:
    """Parameters of the base model: no biases in attention, one table for source, target and output; and of a layer."""
    network, norm, attention_weights = 2 * d * ffn + ffn + d, 2 * d, 4 * d**2
    encoder, decoder = attention_weights + network + 2 * norm, 2 * attention_weights + network + 3 * norm
    return {
        "total": vocabulary * d + layers * (encoder + decoder),
        "encoder_layer_torch_with_bias": encoder + 4 * d,
        "decoder_layer_torch_with_bias": decoder + 8 * d,
    }


def translate() -> tuple[Floats, list[str], list[str]]:
    """P(target word | prefix, source), (4, words), of an untrained model on 'The cat sleeps' / 'Le chat dort'."""
    source, (inputs, targets) = ["The", "cat", "sleeps", "<EOS>"], shifted(["Le", "chat", "dort"])
    words, w = sorted({*source, *inputs, *targets}), draw(16, 32, 2)
    tables = np.random.default_rng(1).normal(size=(len(words), 16))

    def embed(tokens: list[str]) -> Floats:
        return np.asarray(tables[[words.index(token) for token in tokens]] + sinusoids(len(tokens), 16))

    memory = encode(embed(source), w, 2)
    return softmax(decode(embed(inputs), memory, w, 2) @ tables.T), words, inputs


def values() -> Values:
    """Counts, and the five statements of exercise 23.5."""
    # The fifth is contested: see the answers.
    return {"ch.transformer.params": counts(), "ex23.5": {"answers": [True, False, True, True, "contested"]}}


def show() -> str:
    """The distributions of an untrained model; what a change of the source or of a target input moves; counts."""
    p, words, inputs = translate()
    predicted = table(["input", *words], [[word, *row] for word, row in zip(inputs, p, strict=True)], digits=3)
    w, x, y = draw(8, 16, 2), *np.random.default_rng(2).normal(size=(2, 4, 8))
    changed_x, changed_y = x.copy(), y.copy()
    changed_x[3] += 1
    changed_y[2] += 1
    before = decode(y, encode(x, w, 2), w, 2)
    by_source = abs(decode(y, encode(changed_x, w, 2), w, 2) - before).max(axis=1)
    by_target = abs(decode(changed_y, encode(x, w, 2), w, 2) - before).max(axis=1)
    head = ["decoder position", "moves with source position 4", "with target input 3"]
    moves = table(head, zip(range(1, 5), by_source, by_target, strict=True))
    parameters = table(["parameters", ""], counts().items())
    return f"{predicted}\n(untrained; every row sums to 1)\n\n{moves}\n\n{parameters}"


def picture(axes: "Axes") -> None:
    """The untrained model's distributions, a row a decoder position."""
    p, words, inputs = translate()
    heat(axes, p, [f"after {word}" for word in inputs], words)


LESSON = Lesson(
    name="encoder-decoder",
    title="the whole Transformer, encoder and decoder, in NumPy: PyTorch's numbers with PyTorch's weights",
    where="chapter 23.7; exercise 23.5",
    values=values,
    show=show,
    picture=picture,
    answers="""\
1. Each position can attend to all others at once: true, for self-attention without a mask. (A decoder's may not.)
2. RNNs process sequences faster since they compute no attention: false. They go step by step; Transformers train on all
   positions in parallel.
3. BERT uses both sides: true.
4. The softmax makes the weights sum to 1: true.
5. Variable lengths without modification: contested, and the reasoning counts. The layers have no weight that depends on
   the length, so one sequence of any length passes (true). But a learnt table of positions ends (BERT's at 512), a
   batch needs padding and a mask, and nothing promises quality at lengths never trained.
The base model has 63.0 million parameters if counted as the paper describes it (attention without biases, one shared
table of 37,000 pieces).""",
)
