"""Twenty-five things that the other lessons lean on, each tried out here.

A property holds whatever numbers one chooses, so each is run on random ones: a softmax does not move when its scores
are shifted, padding needs a mask, a decoder that writes word by word says what the parallel one said.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from heldout.bio import strict, tags_of
from heldout.lessons import (
    analogy,
    blocks,
    distillation,
    encoder_decoder,
    fasttext,
    kernel_smoothing,
    multi_head,
    positions,
    shifted_decoder,
    static_contextual,
)
from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import bars
from heldout.lessons.skip_gram import softmax

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADS = 2


def near(a: Floats | float, b: Floats | float, tolerance: float = 1e-10) -> bool:
    """Whether two arrays differ by no more than the tolerance anywhere."""
    return bool(np.abs(np.asarray(a) - np.asarray(b)).max() <= tolerance)


def numbers(*shape: int, seed: int = 0) -> Floats:
    """Random normal numbers."""
    return np.random.default_rng(seed).normal(size=shape)


def kernels() -> Iterator[tuple[str, bool]]:
    """The smoother at its ends."""
    x, y = kernel_smoothing.observed()
    at = numbers(5, 2, seed=1) * 0.2 + 0.5
    nearest = y[kernel_smoothing.squared(at, x).argmin(axis=1)]
    far = np.array([[50.0, 50.0]])
    plain = np.exp(-kernel_smoothing.squared(far, x) / (2 * 0.1**2)).sum()
    shifted = kernel_smoothing.smooth(far, x, y, "gaussian")
    yield "ch.nadaraya: h->inf gives the mean", near(kernel_smoothing.smooth(at, x, y, "gaussian", 1e6), y.mean())
    yield (
        "ch.nadaraya: h->0 gives the nearest neighbour",
        near(kernel_smoothing.smooth(at, x, y, "gaussian", 1e-4), nearest),
    )
    yield (
        "ch.nadaraya: far query underflows in plain exp, not in shifted softmax",
        plain == 0 and bool(np.isfinite(shifted).all()),
    )


def sequences() -> Iterator[tuple[str, bool]]:
    """Masks, lengths, padding, permutations: the whole encoder of encoder_decoder."""
    w, x = encoder_decoder.draw(8, 16, 2), numbers(6, 8, seed=2)
    later = x.copy()
    later[4:] += 1
    before, after = shifted_decoder.parallel(x), shifted_decoder.parallel(later)
    yield "ch.causal: later inputs do not move earlier outputs", np.array_equal(before[:4], after[:4])
    yield "ch.causal: parallel == step by step", near(before, shifted_decoder.step_by_step(x))
    short, long = encoder_decoder.encode(x[:3], w, HEADS), encoder_decoder.encode(x, w, HEADS)
    yield "ex23.5: same layer, n=3 and n=6", short.shape == (3, 8) and long.shape == (6, 8)
    real = np.arange(6) < 4
    padded, masked = encoder_decoder.encode(x, w, HEADS)[:4], encoder_decoder.encode(x, w, HEADS, real)[:4]
    alone = encoder_decoder.encode(x[:4], w, HEADS)
    yield "ex23.5: padding without mask changes the real outputs", not near(padded, alone, 0.01)
    yield "ex23.5: with key mask it does not", near(masked, alone)
    order = np.random.default_rng(3).permutation(6)
    yield (
        "ch.equivariance: whole encoder layer (MHA+FFN+LN) equivariant",
        near(encoder_decoder.encode(x[order], w, HEADS), long[order]),
    )


def heads() -> Iterator[tuple[str, bool]]:
    """How heads are cut."""
    x, weights = numbers(5, 12, seed=4), multi_head.draw(12)
    single = multi_head.multi_head(x, x, weights, 1)
    q, k, v, o = weights
    by_hand = softmax(x @ q @ (x @ k).T / np.sqrt(12)) @ x @ v @ o
    yield "ch.multihead: h=1 is single-head attention", near(single, by_hand)
    explicit, at_once = multi_head.one_by_one(x, x, weights, 3), multi_head.multi_head(x, x, weights, 3)
    yield "ch.multihead: split by (n,h,dk) transpose == explicit heads", near(explicit, at_once)
    wrong = x.reshape(3, 5, 4)
    yield "ch.multihead: reshape(h,n,dk) is wrong", not near(wrong, multi_head.split(x, 3), 0.01)


def norms() -> Iterator[tuple[str, bool]]:
    """Layer normalisation, and where it stands."""
    x, w = numbers(3, 16, seed=5), numbers(16, 16, seed=6)
    yield (
        "ch.layernorm: invariant to a x + b up to eps",
        near(blocks.layer_norm(3 * x + 7), blocks.layer_norm(x), 1e-4),
    )
    yield "ch.layernorm: constant gives 0 (beta), not nan", near(blocks.layer_norm(np.full((1, 4), 5.0)), 0)
    post, pre = blocks.post_norm(x, lambda h: h @ w), blocks.pre_norm(x, lambda h: h @ w)
    yield (
        "ch.layernorm: post-norm output has mean 0, pre-norm not",
        near(post.mean(axis=1), 0) and not near(pre.mean(axis=1), 0, 0.01),
    )


def vectors() -> Iterator[tuple[str, bool]]:
    """Softmax, positions, rotations, n-grams."""
    scores = np.array([0.0, 1, 0, 1])
    yield "lesson.step: softmax(logits+1000) finite and equal", near(softmax(scores + 1000), softmax(scores))
    rows = positions.sinusoids(10000, 8)
    yield "ch.pe8: rows distinct below 10000", len(np.unique(rows.round(9), axis=0)) == 10000
    turned = analogy.rotated()
    yield (
        "ch.rotation: rotating one table only changes scores",
        turned["both_tables"] < 1e-12 and turned["center_table_only"] > 0.01,
    )
    yield (
        "ch.rotation: v->vA, u->uA^-T keeps u.v, not v.v",
        turned["scores_under_a"] < 1e-10 and turned["centers_under_a"] > 0.01,
    )
    grams = fasttext.ngrams("where")
    table = {gram: numbers(4, seed=at) for at, gram in enumerate(grams)}
    total, mean = fasttext.vector("where", table), np.mean([*table.values()], axis=0)
    word = numbers(4, seed=99)
    yield (
        "ch.fasttext: gensim OOV vector is the MEAN of the n-gram rows, not the chapter's sum",
        near(total, len(grams) * mean) and not near(total, mean, 0.01),
    )
    yield (
        "ch.fasttext: gensim in-vocabulary vector = (word row + 14 n-gram rows)/15",
        near((word + total) / 15, np.mean([word, *table.values()], axis=0)),
    )


def outputs() -> Iterator[tuple[str, bool]]:
    """Tags, divergences, contexts."""
    entities = [(0, 2, "PER"), (3, 5, "ORG"), (6, 7, "LOC")]
    yield "ex23.6a: decode(tags) round trip", strict(tags_of(entities, 7)) == entities
    yield "ex23.6a: B-PER B-PER gives two persons", len(strict(["B-PER", "B-PER"])) == 2
    pairs = softmax(numbers(1000, 2, 3, seed=7))
    yield "ch.distill: KL >= 0 on 1000 random pairs", all(distillation.kl(p, q) >= 0 for p, q in pairs)
    states = static_contextual.recurrent(static_contextual.RIVER)
    first, second = (static_contextual.context(numbers(6, seed=at), states)[0] for at in (8, 9))
    yield "lesson.static: attention contexts differ between decoder steps", not near(first, second, 0.01)


GROUPS: tuple[Callable[[], Iterator[tuple[str, bool]]], ...] = (kernels, sequences, heads, norms, vectors, outputs)


def every() -> dict[str, bool]:
    """Each claim, and whether it held."""
    return dict(claim for group in GROUPS for claim in group())


def values() -> Values:
    """The claims that were run."""
    return {"meta.property_checks": {"holds": every()}}


def show() -> str:
    """The claims, one a line."""
    found = every()
    listed = table(["claim", "holds"], found.items())
    return f"{listed}\n\n{sum(found.values())} of {len(found)} hold"


def picture(axes: "Axes") -> None:
    """How many claims of each group hold."""
    held = [sum(holds for _, holds in group()) for group in GROUPS]
    bars(axes, {"": held}, [group.__name__ for group in GROUPS], y="claims that hold")


LESSON = Lesson(
    name="claims",
    title="twenty-five properties that the lessons lean on, each tried out",
    where="the whole of both texts",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Why random numbers? A claim about all inputs is not shown by the one example of a book; a few random ones would break it
where it is wrong.
What do two of them say about gensim? Its fastText vectors are means of rows (the word's own row among them for a known
word), where the chapter sums; the tests hold gensim itself against these.""",
)
