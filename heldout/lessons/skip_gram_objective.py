"""Skip-gram over a sentence: contexts as if independent, and the gradient that pulls a centre towards its context.

P(context | centre) is a product over the window, a simplification. d log P(o | c) / d v_c = u_o − Σ P(i | c) u_i:
towards the context that was seen, away from the mean of what the model expected. The objective is the sum over a text's
pairs, divided by its T centres.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import bars
from heldout.lessons.skip_gram import pairs, softmax

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAN = ["the", "man", "loves", "his", "son"]


def toy_tables(words: int = 5) -> tuple[Floats, Floats]:
    """V and U of shape (words, 3), made by a rule so that a gradient can be checked by hand."""
    i, k = np.arange(words)[:, None], np.arange(3)
    return ((3 * i + 2 * k) % 5 - 2) / 4, ((2 * i + 5 * k + 1) % 7 - 3) / 5


def gradients(v: Floats, u: Floats, context: int) -> tuple[Floats, Floats]:
    """d log P(context | v) by v and by the table u: u_o − Σ P_i u_i, and (y − p) v."""
    missing = np.eye(len(u))[context] - softmax(u @ v)
    return missing @ u, np.outer(missing, v)


def objective(words: Sequence[str], v: Floats, u: Floats, window: int) -> float:
    """The summed log P(context | centre) of a sentence of distinct words, over its number of centres."""
    ids = {word: row for row, word in enumerate(words)}
    logs = np.log(softmax(v @ u.T))
    return float(sum(logs[ids[c], ids[o]] for c, o in pairs(words, window)) / len(words))


def values() -> Values:
    """The gradient and the objective on the tables made by a rule."""
    v, u = toy_tables()
    loves, p = v[2], softmax(u @ v[2])
    by_v, by_u = gradients(loves, u, MAN.index("the"))
    joint = [np.log(p[MAN.index(word)]) for center, word in pairs(MAN, 2) if center == "loves"]
    return {
        "ch.softmax.grad": {
            **{"tables": {"V": v, "U": u}, "P": p, "grad_v_the": by_v, "grad_U_the": by_u},
            "expected_gradient": sum(p[word] * gradients(loves, u, word)[0] for word in range(5)),
            "logodds_the_man": (u[0] - u[1]) @ loves,
        },
        "ch.skipgram.objective": {
            **{"context_of_loves": [o for c, o in pairs(MAN, 2) if c == "loves"], "log_joint": sum(joint)},
            **{f"pairs_m{m}": len(pairs(MAN, m)) for m in (1, 2, 4)},
            **{f"objective_m{m}": objective(MAN, v, u, m) for m in (1, 2)},
        },
    }


def show() -> str:
    """P of every context of 'loves', the gradient, the objective by window."""
    v, u = toy_tables()
    found = values()["ch.skipgram.objective"]
    p = softmax(u @ v[2])
    rows = [[word, p[at], gradients(v[2], u, at)[0].round(6)] for at, word in enumerate(MAN)]
    contexts = table(["context", "P(context | loves)", "gradient by the centre"], rows, digits=6)
    joint = f"log P({', '.join(found['context_of_loves'])} | loves) = {found['log_joint']:.6f}"
    windows = [[m, found[f"pairs_m{m}"], found[f"objective_m{m}"]] for m in (1, 2)]
    return f"{contexts}\n{joint}\n\n{table(['window', 'pairs', 'objective, a centre'], windows, digits=6)}"


def picture(axes: "Axes") -> None:
    """P(context | loves) of every word, itself included: the softmax is over the whole vocabulary."""
    v, u = toy_tables()
    bars(axes, {"": [*softmax(u @ v[2])]}, MAN, y="P(context | loves)")


LESSON = Lesson(
    name="skip-gram-objective",
    title="skip-gram over a sentence: the gradient pulls a centre towards what it met, away from what it expected",
    where="chapter 23.2",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Is independence of the contexts true? No: it is a simplification of the model, not a property of language.
What does the objective divide by? The T centres, not the number of pairs (the chapter's CBOW objective is a plain sum).
What is the gradient's mean, if contexts come as the model expects them? 0: then there is nothing to learn.
What is a difference of two scores? The logarithm of the odds: (u_the − u_man) · v_loves = 0.55.""",
)
