"""Skip-gram with the full softmax: one training step, calculated whole (Mikolov et al. 2013).

P(o | c) = exp(u_o · v_c) / Σ_i exp(u_i · v_c). Every word has two rows: v as a centre, u as a context. The gradient of
the loss −log P(o | c) with respect to the scores is p − y, and the two tables get it through the product.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import bars
from heldout.lessons.one_hot import E_IN, WORDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The output table of the lesson's worked step, a row a word.
E_OUT: Floats = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def softmax(scores: NDArray[np.floating], axis: int = -1) -> Floats:
    """exp(s) over its sum along an axis; the largest score is taken off first, which changes nothing but the range."""
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(weights / weights.sum(axis=axis, keepdims=True))


def pairs(words: Sequence[str], window: int) -> list[tuple[str, str]]:
    """(centre, context) for every other position at most ``window`` away, within the sentence."""
    return [
        (center, words[other])
        for at, center in enumerate(words)
        for other in range(max(0, at - window), min(len(words), at + window + 1))
        if other != at
    ]


@dataclass(frozen=True)
class Step:
    """One step: scores and p of shape (words,), the loss, its three gradients, and the tables after it."""

    logits: Floats
    probabilities: Floats
    loss: float
    grad_logits: Floats
    grad_v: Floats
    grad_out: Floats
    e_in: Floats
    e_out: Floats


def step(e_in: Floats, e_out: Floats, center: int, context: int, rate: float) -> Step:
    """Gradient descent on −log P(context | center); both gradients are of one forward pass. The tables are copied."""
    v = e_in[center].copy()
    logits = e_out @ v
    p = softmax(logits)
    grad_logits = p - np.eye(len(p))[context]
    grad_v, grad_out = e_out.T @ grad_logits, np.outer(grad_logits, v)
    new_in, new_out = e_in.copy(), e_out - rate * grad_out
    new_in[center] -= rate * grad_v
    return Step(logits, p, float(-np.log(p[context])), grad_logits, grad_v, grad_out, new_in, new_out)


def worked() -> tuple[Step, Step]:
    """The lesson's step, cat → drinks at a rate of 0.1, and the one after it."""
    cat, drinks = WORDS.index("cat"), WORDS.index("drinks")
    before = step(E_IN, E_OUT, cat, drinks, 0.1)
    return before, step(before.e_in, before.e_out, cat, drinks, 0.1)


def printed() -> str:
    """What the lesson's own listing prints, byte for byte."""
    before, after = worked()
    return "\n".join(
        [
            f"logits: {before.logits}",
            f"probabilities: {np.round(before.probabilities, 6)}",
            f"loss before: {before.loss:.6f}",
            f"new center vector: {np.round(before.e_in[1], 6)}",
            f"loss after: {after.loss:.6f}",
        ]
    )


def values() -> Values:
    """The worked step and its pairs."""
    before, after = worked()
    cat_pairs = pairs(WORDS, 1)
    return {
        "lesson.step": {
            **{"logits": before.logits, "probabilities": before.probabilities, "loss_before": before.loss},
            **{"grad_logits": before.grad_logits, "grad_v": before.grad_v, "grad_out": before.grad_out},
            **{"new_center": before.e_in[1], "new_E_out": before.e_out, "new_probabilities": after.probabilities},
            **{"loss_after": after.loss, "stdout": printed()},
        },
        "lesson.pairs": {"cat": [p for p in cat_pairs if p[0] == "cat"], "all": cat_pairs, "count": len(cat_pairs)},
    }


def show() -> str:
    """The worked step."""
    before, after = worked()
    moved = table(
        ["context", "score", "p", "p − y", "p after"],
        zip(WORDS, before.logits, before.probabilities, before.grad_logits, after.probabilities, strict=True),
        digits=6,
    )
    said = "pairs at window 1: " + ", ".join(f"{c} -> {o}" for c, o in pairs(WORDS, 1))
    return f"{printed()}\n\n{moved}\n\n{said}"


def picture(axes: "Axes") -> None:
    """P(context | cat) before and after the step."""
    before, after = worked()
    bars(axes, {"before": [*before.probabilities], "after": [*after.probabilities]}, WORDS, y="P(context | cat)")


LESSON = Lesson(
    name="skip-gram",
    title="one full-softmax skip-gram step, calculated whole: the loss goes from 2.006409 to 1.835051",
    where="lesson 3 and 4",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Why are both gradients computed before a table moves? They belong to one forward pass; moving the centre first gives
1.841598 instead of 1.835051.
Which rows move? The centre's in E_in, and all of E_out: every word is in the softmax's sum.
Does the lower loss show that the vectors are useful? No: it is one pair, one step.""",
)
