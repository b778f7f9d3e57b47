"""GloVe: word vectors from a table of co-occurrence counts (Pennington, Socher and Manning 2014).

L = Σ_{X_ij > 0} h(X_ij) (v_i · u_j + b_i + c_j − log X_ij)²,  h(x) = min(1, (x / x_max)^α). What it keeps are ratios:
P(solid | ice) / P(solid | steam) is large, of gas small, of water near 1.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import curves
from heldout.lessons.one_hot import cosine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORDS = ("gas", "ice", "solid", "steam", "water")
#: Exercise 23.8's symmetric counts, in the order of WORDS.
X: Floats = np.array([[0.0, 1, 1, 9, 3], [1, 0, 9, 3, 5], [1, 9, 0, 1, 3], [9, 3, 1, 0, 5], [3, 5, 3, 5, 0]])
PAIRS = ("ice-solid", "steam-solid", "ice-gas", "steam-gas")


@dataclass(frozen=True)
class Parameters:
    """v and u, (words, d); their biases b and c, (words,)."""

    v: Floats
    u: Floats
    b: Floats
    c: Floats


def weight(x: ArrayLike, x_max: float = 100, alpha: float = 0.75) -> Floats:
    """h(x): the share of x_max to the power α, at most 1."""
    return np.asarray(np.minimum(1, (np.asarray(x, dtype=float) / x_max) ** alpha))


def errors(counts: Floats, p: Parameters) -> Floats:
    """v_i · u_j + b_i + c_j − log X_ij, and 0 where X_ij is 0: log 0 is never formed."""
    logs = np.log(counts, where=counts > 0, out=np.zeros_like(counts))
    return np.where(counts > 0, p.v @ p.u.T + p.b[:, None] + p.c - logs, 0)


def loss(counts: Floats, p: Parameters, x_max: float = 100, alpha: float = 0.75) -> float:
    """The summed weighted squared error."""
    return float((weight(counts, x_max, alpha) * errors(counts, p) ** 2).sum())


def gradients(counts: Floats, p: Parameters, x_max: float = 100, alpha: float = 0.75) -> Parameters:
    """The gradients of ``loss`` by each parameter."""
    by_score = 2 * weight(counts, x_max, alpha) * errors(counts, p)
    return Parameters(by_score @ p.u, by_score.T @ p.v, by_score.sum(axis=1), by_score.sum(axis=0))


def start(seed: int, d: int = 3, scale: float = 0.1) -> Parameters:
    """v then u from NumPy's legacy generator, biases 0, as the exercise asks."""
    draw = np.random.RandomState(seed)
    v, u = draw.randn(len(WORDS), d) * scale, draw.randn(len(WORDS), d) * scale
    return Parameters(v, u, np.zeros(len(WORDS)), np.zeros(len(WORDS)))


def train(counts: Floats, p: Parameters, epochs: int = 800, rate: float = 0.05) -> tuple[Parameters, list[float]]:
    """Full-batch gradient descent, x_max 5; gives the parameters and the mean error a pair before each epoch and after.

    GloVe itself takes AdaGrad, pair by pair; 20 pairs do not need it.
    """
    pairs = int((counts > 0).sum())
    curve = [loss(counts, p, 5) / pairs]
    for _ in range(epochs):
        g = gradients(counts, p, 5)
        p = Parameters(p.v - rate * g.v, p.u - rate * g.u, p.b - rate * g.b, p.c - rate * g.c)
        curve.append(loss(counts, p, 5) / pairs)
    return p, curve


def asymmetry(p: Parameters) -> dict[str, float]:
    """Cosines of v + u for ice and steam with solid and gas."""
    rows = dict(zip(WORDS, p.v + p.u, strict=True))
    return {pair: cosine(*(rows[word] for word in pair.split("-"))) for pair in PAIRS}


def values() -> Values:
    """Ratios, weights, the trained vectors of exercise 23.8."""
    share = X / X.sum(axis=1, keepdims=True)
    gas, ice, solid = range(3)
    p = {w: {t: share[WORDS.index(w), WORDS.index(t)] for t in ("solid", "gas", "water")} for w in ("ice", "steam")}
    begun = start(26)
    trained, curve = train(X, begun)
    nothing = Parameters(np.zeros((5, 3)), np.zeros((5, 3)), np.zeros(5), np.zeros(5))
    return {
        "ch.glove.weight": {
            "xmax100": {str(x): weight(x) for x in (1, 10, 50, 99, 100, 150)},
            "xmax5": {str(x): weight(x, 5) for x in (1, 3, 5, 9)},
            "zero": weight(0),
        },
        # Of 6 billion words, as the chapter quotes them; these cannot be computed here.
        "ch.glove.ratios_text": {"solid": 8.9, "gas": 0.085, "water": 1.36},
        "ex23.8a": {
            **{"X": X, "row_sums": dict(zip(WORDS, X.sum(axis=1), strict=True)), "total": X.sum()},
            **{"positive_pairs": int((X > 0).sum()), "p_ice": p["ice"], "p_steam": p["steam"]},
            **{f"ratio_{t}": p["ice"][t] / p["steam"][t] for t in ("solid", "gas", "water")},
            **{"p_solid_ice": share[ice, solid], "columns": {"P(solid|gas)": share[gas, solid]}},
        },
        "ex23.8b": {
            "weights": {str(x): weight(x, 5) for x in (1, 3, 5, 9)},
            "loss_at_zero_vectors": loss(X, nothing, 5) / 20,
            "sum_at_zero": loss(X, nothing, 5),
            "first_draws_seed26": begun.v[0],
            **{"initial_seed26": curve[0], "epoch100_seed26": curve[100], "final_seed26": curve[800]},
            "cosines_seed26": asymmetry(trained),
        },
        "ex23.8c": {},
    }


def show() -> str:
    """Ratios of the toy counts beside the chapter's; the loss; the cosines."""
    found = values()
    a, b = found["ex23.8a"], found["ex23.8b"]
    words = ("solid", "gas", "water")
    rows = [[w, a["p_ice"][w], a["p_steam"][w], a[f"ratio_{w}"], found["ch.glove.ratios_text"][w]] for w in words]
    ratios = table(["word", "P(word | ice)", "P(word | steam)", "ratio", "the chapter's, 6B words"], rows)
    curve = (
        f"mean weighted squared error, seed 26: {b['initial_seed26']:.6f} at first, {b['epoch100_seed26']:.8f} after"
    )
    curve += f" 100 epochs, {b['final_seed26']:.8f} after 800"
    cosines = table(["pair", "cosine of v + u"], b["cosines_seed26"].items())
    return "\n\n".join([ratios, curve, cosines])


def picture(axes: "Axes") -> None:
    """The weight by the count, for the chapter's x_max and the exercise's."""
    x = np.linspace(0, 120, 400)
    curves(axes, {f"x_max = {m}": (x, weight(x, m)) for m in (5, 100)}, x="co-occurrence count", y="weight h(x)")


LESSON = Lesson(
    name="glove",
    title="GloVe: ratios 9, 1/9 and 1 from a table of counts, and vectors that keep them",
    where="chapter 23.4; exercise 23.8",
    values=values,
    show=show,
    picture=picture,
    answers="""\
(a) 9 for solid, 1/9 for gas, 1 for water: the chapter's pattern. The example is kind: ice and steam have the same
    total, so raw counts would give the same ratios; P(solid | ice) = 1/2 shows that the rows were normalised.
(b) It falls at every epoch, from 1.75 to below 0.000001. A rank of 3 with biases fits 20 logs almost exactly, so a
    small loss alone says nothing about the geometry.
(c) Yes: ice goes with solid (0.998) and steam with gas (0.998), the other two pairs point apart (−0.99). Starting from
    vectors of unit variance instead of 0.1 loses it for some seeds: what is fitted then hides behind the start.""",
)
