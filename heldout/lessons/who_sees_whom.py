"""ELMo, GPT and BERT: which position may influence which, measured by gradients.

‖∂ output_i / ∂ input_j‖ of three untrained models of one size. GPT's is 0 above the diagonal. ELMo puts a model that
reads from the left beside one that reads from the right, so every position counts, but left and right never meet: the
mixed derivative of a left and a right input is 0. In BERT's layers they meet.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import heat
from heldout.lessons.multi_head import draw, multi_head
from heldout.lessons.shifted_decoder import causal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Model: TypeAlias = Callable[[Floats], Floats]
TOKENS, SIZE, STEP = 5, 6, 1e-4


def read(x: Floats, seed: int) -> Floats:
    """The states of a recurrent layer from left to right, (n, SIZE)."""
    w, u = np.random.default_rng(seed).normal(size=(2, SIZE, SIZE)) / np.sqrt(SIZE)
    state, states = np.zeros(SIZE), []
    for row in x:
        state = np.tanh(w @ state + u @ row)
        states.append(state)
    return np.array(states)


def elmo(x: Floats) -> Floats:
    """Two layers from the left beside two from the right, (n, 2 SIZE); ELMo's are LSTMs."""
    return np.concatenate([read(read(x, 1), 2), read(read(x[::-1], 3), 4)[::-1]], axis=1)


def gpt(x: Floats) -> Floats:
    """Two layers of causal self-attention with residuals."""
    for seed in (1, 2):
        x = x + multi_head(x, x, draw(SIZE, seed), 2, causal(len(x)))
    return x


def bert(x: Floats) -> Floats:
    """Two layers of self-attention over everything, with residuals."""
    for seed in (1, 2):
        x = x + multi_head(x, x, draw(SIZE, seed), 2)
    return x


MODELS: dict[str, Model] = {"ELMo": elmo, "GPT": gpt, "BERT": bert}


def inputs() -> Floats:
    """Five random tokens, (TOKENS, SIZE)."""
    return np.random.default_rng(0).normal(size=(TOKENS, SIZE))


def nudge(token: int, feature: int, step: float = STEP) -> Floats:
    """A small step of one feature of one token."""
    moved = np.zeros((TOKENS, SIZE))
    moved[token, feature] = step
    return moved


def influence(model: Model, x: Floats) -> Floats:
    """‖∂ output_i / ∂ input_j‖ (Frobenius), (tokens, tokens), by central differences."""
    total = np.zeros((TOKENS, TOKENS))
    for token in range(TOKENS):
        for feature in range(SIZE):
            moved = nudge(token, feature)
            slope = (model(x + moved) - model(x - moved)) / (2 * STEP)
            total[:, token] += (slope**2).sum(axis=1)
    return np.sqrt(total)


def joint(model: Model, x: Floats, position: int = 2) -> float:
    """The largest mixed second difference of the middle output by a first and a last input's feature."""
    most = 0.0
    for a in range(SIZE):
        for b in range(SIZE):
            left, right = nudge(0, a, 0.1), nudge(TOKENS - 1, b, 0.1)
            mixed = model(x + left + right) - model(x + left) - model(x + right) + model(x)
            most = max(most, float(abs(mixed[position]).max()))
    return most


def values() -> Values:
    """How far a change of the last token moves the outputs before it."""
    x, other = inputs(), inputs()
    other[-1] += 1
    moved = {name: abs(model(other)[:-1] - model(x)[:-1]).max() for name, model in MODELS.items()}
    return {"ch.families": {"gpt_prefix_change": moved["GPT"], "bert_prefix_change": moved["BERT"]}}


def show() -> str:
    """Three tables of influence; whether left and right meet."""
    x, names = inputs(), [str(at) for at in range(1, TOKENS + 1)]
    tables = [
        f"{name}: ‖∂ output / ∂ input‖\n"
        + table(
            ["output", *(f"input {n}" for n in names)], [[n, *r] for n, r in zip(names, influence(m, x), strict=True)]
        )
        for name, m in MODELS.items()
    ]
    met = [[name, joint(model, x)] for name, model in MODELS.items()]
    meet = table(["model", "mixed difference of output 3 by inputs 1 and 5"], met, digits=6)
    return "\n\n".join([*tables, meet])


def picture(axes: "Axes") -> None:
    """The three tables side by side."""
    tables = [influence(model, inputs()) for model in MODELS.values()]
    columns = [f"{name[0]}{at}" for name in MODELS for at in range(1, TOKENS + 1)]
    heat(axes, np.concatenate(tables, axis=1), [str(at) for at in range(1, TOKENS + 1)], columns, digits=1)
    axes.set(xlabel="input of ELMo (E), GPT (G), BERT (B)", ylabel="output")


LESSON = Lesson(
    name="who-sees-whom",
    title="ELMo, GPT and BERT: which position may influence which, measured by gradients",
    where="chapter 23.7 and 23.8",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Did attention bring contextual representations? No: ELMo's states depend on the whole sentence too.
Then what is joint about BERT's two directions? In ELMo each half has read one side only: the mixed difference of a left
and a right input is 0 up to rounding. In BERT it is not.
Is the zero of GPT's upper triangle approximate? No: the outputs are the same bits, whatever comes later. If they move
in a library's model, dropout is on: call eval().""",
)
