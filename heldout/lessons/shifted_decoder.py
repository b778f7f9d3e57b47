"""The decoder's shift and its mask: 'Le chat dort' predicted in one pass, no word of it seen too early.

Inputs are the targets moved by one place behind <BOS>; scores s_ij with j > i become −∞ before the softmax. So all
positions train in parallel, and the outputs are those of generating word by word with the same prefix.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import heat
from heldout.lessons.attention import attention
from heldout.lessons.multi_head import draw, multi_head
from heldout.lessons.skip_gram import softmax

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SENTENCE = ("Le", "chat", "dort")
#: Scores whose exponentials are easy numbers, row i for the query at position i.
SCORES: Floats = np.log(np.array([[1.0, 2, 3, 4], [1, 3, 5, 7], [2, 2, 4, 8], [1, 1, 1, 1]]))


def shifted(target: Sequence[str]) -> tuple[list[str], list[str]]:
    """Decoder inputs and prediction targets, one longer than the sentence."""
    return ["<BOS>", *target], [*target, "<EOS>"]


def causal(n: int) -> NDArray[np.bool_]:
    """(n, n), true where a position may look: at itself and at what stands before it."""
    return np.tril(np.ones((n, n), dtype=bool))


def masked_weights(scores: Floats) -> Floats:
    """The softmax of the scores that the causal mask lets through, row by row."""
    return softmax(np.where(causal(len(scores)), scores, -np.inf))


def parallel(x: Floats) -> Floats:
    """Causal self-attention of all positions at once, (n, d)."""
    return multi_head(x, x, draw(x.shape[1]), 2, causal(len(x)))


def step_by_step(x: Floats) -> Floats:
    """The last output of every prefix: what generation computes."""
    return np.stack([parallel(x[: n + 1])[-1] for n in range(len(x))])


def values() -> Values:
    """The shift, the mask, the weights."""
    inputs, targets = shifted(SENTENCE)
    mask = causal(len(inputs))
    return {
        "ch.causal": {
            **{"decoder_input": inputs, "target": targets, "allowed": int(mask.sum())},
            "uniform_rows": attention(np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((4, 1)), mask)[1],
            "weights": masked_weights(SCORES),
            "visible_at_2": [word for word, seen in zip(inputs, mask[1], strict=True) if seen],
        }
    }


def show() -> str:
    """The table of inputs and targets, what each position sees, parallel against step by step."""
    inputs, targets = shifted(SENTENCE)
    rows = [
        [at + 1, inputs[at], targets[at], " ".join(np.array(inputs)[causal(4)[at]]), row]
        for at, row in enumerate(masked_weights(SCORES).round(4))
    ]
    trained = table(["position", "input", "target", "sees", "weights"], rows)
    x = np.random.default_rng(5).normal(size=(6, 8))
    other = x.copy()
    other[4:] += 1
    early = abs(parallel(other)[:4] - parallel(x)[:4]).max()
    gap = abs(parallel(x) - step_by_step(x)).max()
    said = f"inputs 5 and 6 changed: outputs 1 to 4 move by {early:.0f}; parallel against step by step: {gap:.1e}"
    return f"{trained}\n\n{said}"


def picture(axes: "Axes") -> None:
    """The masked weights."""
    inputs, targets = shifted(SENTENCE)
    heat(axes, masked_weights(SCORES), [f"predict {word}" for word in targets], inputs)


LESSON = Lesson(
    name="shifted-decoder",
    title="the shifted decoder: 'Le chat dort' trained in one pass behind a causal mask",
    where="chapter 23.7",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Why the shift? Without it each position would find its own target among its inputs and learn to copy.
What may position 2 use to predict 'chat'? <BOS>, 'Le' and the encoded source; not 'chat', not 'dort'.
Why −∞ before the softmax? A weight set to 0 after it leaves rows that sum to less than 1; a score set to 0 before it
still gets a weight.
Why is generation not parallel? Its later inputs are its own earlier outputs.""",
)
