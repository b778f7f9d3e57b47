"""What is shown to word2vec: frequent words are thinned out, near words come more often, the rate goes down.

P(discard w) = max(0, 1 − √(t / f(w))). The window's radius is drawn from 1..m, so a word at distance d is in it with
probability (m − d + 1) / m. The learning rate falls on a line.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Lesson, Values, table
from heldout.lessons._pictures import curves
from heldout.lessons.cbow import MAT, around
from heldout.lessons.skip_gram import pairs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FREQUENCIES = [(0.05, 1e-5), (0.01, 1e-5), (0.001, 1e-5), (4e-5, 1e-5), (1e-5, 1e-5), (1e-6, 1e-5)]
FREQUENCIES += [(0.07, 1e-3), (0.01, 1e-3)]


def discard(frequency: float, threshold: float) -> float:
    """The chapter's P(discard), ``frequency`` relative; 0 for words rarer than the threshold."""
    return max(0.0, 1 - sqrt(threshold / frequency))


def gensim_keep(frequency: float, threshold: float) -> float:
    """What word2vec.c and gensim keep instead: (√(f/t) + 1) t/f, at most 1."""
    return min(1.0, (sqrt(frequency / threshold) + 1) * threshold / frequency)


def inclusion(window: int) -> list[float]:
    """P(a word at distance d is used), d = 1..window, with the radius uniform on 1..window."""
    return [(window - d + 1) / window for d in range(1, window + 1)]


def expected_sizes(words: Sequence[str], window: int) -> dict[str, Fraction]:
    """The mean number of context words of each position, keyed by word and position."""
    radii = range(1, window + 1)
    places = range(len(words))
    return {
        f"{words[at]}{at}": Fraction(sum(0 < abs(at - other) <= r for r in radii for other in places), window)
        for at in places
    }


def rate(progress: float, start: float = 0.025, end: float = 0.0001) -> float:
    """The learning rate after a share of the training, from ``start`` down to ``end``."""
    return start * (1 - progress) + end * progress


def values() -> Values:
    """Discard probabilities, gensim's rule, windows, the rate."""
    the = discard(2 / 6, 1 / 6)
    shares = {"a": 0.90, "b": 0.09, "c": 0.01}
    sizes = expected_sizes(MAT, 2)
    sat = MAT.index("sat")
    return {
        "ch.w2v.subsample": {
            "table": {f"f={f},t={t}": discard(f, t) for f, t in FREQUENCIES},
            "discard_at_threshold": discard(1e-5, 1e-5),
            "rare": discard(1e-6, 1e-5),
            "f4t": discard(4e-5, 1e-5),
            "the_in_toy": the,
            "expected_kept_tokens_toy": sum(1 - discard(MAT.count(word) / 6, 1 / 6) for word in MAT),
        },
        "ch.w2v.subsample.gensim": {
            "keep": {word: gensim_keep(f, 0.01) for word, f in shares.items()},
            "chapter_rule_keep": {word: 1 - discard(f, 0.01) for word, f in shares.items()},
        },
        "ch.window.radius": {
            **{f"radius{r}": around(MAT, sat, r) for r in (1, 2)},
            **{f"inclusion_m{m}": inclusion(m) for m in (2, 5)},
            "expected_context_size_m2": {place: str(size) for place, size in sizes.items()},
            **{f"pairs_r{r}": len(pairs(MAT, r)) for r in (1, 2)},
            "expected_pairs_m2": float(sum(sizes.values())),
        },
        "ch.w2v.lr": {"gensim": {"alpha": rate(0), "min_alpha": rate(1)}, "half_way": rate(0.5)},
    }


def show() -> str:
    """The two rules side by side, and the windows."""
    rules = table(
        ["frequency", "threshold", "chapter discards", "gensim discards"],
        [[f"{f:g}", f"{t:g}", discard(f, t), 1 - gensim_keep(f, t)] for f, t in FREQUENCIES],
    )
    used = table(["distance", "m = 5"], enumerate(inclusion(5), 1))
    sizes = table(["position", "mean context words, m = 2"], expected_sizes(MAT, 2).items())
    rates = f"learning rate: {rate(0):.4f} at first, {rate(0.5):.5f} half way, {rate(1):.4f} at the end"
    return "\n\n".join([rules, f"P(a word at a distance is used)\n{used}", sizes, rates])


def picture(axes: "Axes") -> None:
    """Share discarded by frequency, by the chapter's rule and by gensim's."""
    f = np.logspace(-6, -1, 200)
    chapter = [discard(x, 1e-3) for x in f]
    library = [1 - gensim_keep(x, 1e-3) for x in f]
    curves(
        axes, {"chapter": (f, chapter), "word2vec.c, gensim": (f, library)}, x="frequency", y="P(discard), t = 0.001"
    )
    axes.set_xscale("log")


LESSON = Lesson(
    name="subsampling",
    title="what word2vec is shown: subsampled words, windows of random radius, a falling rate",
    where="chapter 23.2",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Is it the chapter's rule that libraries use? No: they keep (√(f/t) + 1) t/f. The two are close for frequent words
(0.985858 and 0.985658 discarded at f = 0.05, t = 0.00001) and differ most in between (0.5 and 0.25 at f = 4t).
Which words does a radius count? Positions, not types: in 'the cat sat on the mat' the second 'the' is in the context
of the first at radius 4.
When are windows built? After the discarding, in word2vec.c and gensim, so distances shrink.""",
)
