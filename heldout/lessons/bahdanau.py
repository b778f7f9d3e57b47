"""Bahdanau's attention against a fixed vector, on a task that only memory can solve: copy eight symbols.

An encoder's states h_1..h_T; a decoder with state s. Without attention it is given h_T alone, all there is to know in
one vector. With it, each step computes e_j = v · tanh(W s + U h_j), α = softmax(e), c = Σ α_j h_j (Bahdanau, Cho and
Bengio 2014) and reads c. Learning needs gradients, so the two models are trained with torch; ``align`` is the NumPy.
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import curves
from heldout.lessons.skip_gram import softmax

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SYMBOLS, LENGTH, SIZE, BATCH, STEPS, RATE = 8, 8, 32, 32, 200, 0.01


def align(s: Floats, h: Floats, w: Floats, u: Floats, v: Floats) -> tuple[Floats, Floats]:
    """The context (d,) and the weights (T,) of one decoder state s (d,) over h (T, d); w and u are (d, d), v (d,)."""
    weights = softmax(np.tanh(w @ s + h @ u.T) @ v)
    return weights @ h, weights


@dataclass(frozen=True)
class Trained:
    """The share of symbols copied right, every 20 steps; the weights over one text, (LENGTH, T)."""

    steps: list[int]
    right: list[float]
    alignment: Floats


def _model(attend: bool) -> Any:
    from torch import nn

    parts = {"embed": nn.Embedding(SYMBOLS + 1, SIZE), "read": nn.GRU(SIZE, SIZE, batch_first=True)}
    parts |= {"write": nn.GRUCell(2 * SIZE, SIZE), "answer": nn.Linear(2 * SIZE, SYMBOLS)}
    if attend:
        parts |= {"w": nn.Linear(SIZE, SIZE, bias=False), "u": nn.Linear(SIZE, SIZE, bias=False)}
        parts |= {"v": nn.Linear(SIZE, 1, bias=False)}
    return nn.ModuleDict(parts)


def _copy(model: Any, source: Any) -> tuple[Any, Any]:
    """Logits (batch, LENGTH, SYMBOLS) of copying ``source`` with the true prefix given, and α (batch, LENGTH, T)."""
    import torch

    h, last = model["read"](model["embed"](source))
    s, logits, alignment = last[0], [], []
    # Symbol number SYMBOLS begins every target.
    inputs = model["embed"](torch.cat([torch.full_like(source[:, :1], SYMBOLS), source[:, :-1]], dim=1))
    for step in range(source.shape[1]):
        if "v" in model:
            e = model["v"](torch.tanh(model["w"](s)[:, None] + model["u"](h)))[:, :, 0]
        else:
            e = torch.full(source.shape, -torch.inf)
            e[:, -1] = 0
        weights = e.softmax(dim=1)
        c = (weights[:, :, None] * h).sum(dim=1)
        s = model["write"](torch.cat([inputs[:, step], c], dim=1), s)
        logits.append(model["answer"](torch.cat([s, c], dim=1)))
        alignment.append(weights)
    return torch.stack(logits, dim=1), torch.stack(alignment, dim=1)


@cache
def train(attend: bool, seed: int = 0, steps: int = STEPS) -> Trained:
    """Adam on random texts; accuracy is measured on 256 that no step has seen."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model, held_out = _model(attend), torch.randint(SYMBOLS, (256, LENGTH))
        optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
        at, right = [], []
        for step in range(steps + 1):
            if step % 20 == 0:
                with torch.no_grad():
                    logits, alignment = _copy(model, held_out)
                at.append(step)
                right.append(float((logits.argmax(dim=-1) == held_out).float().mean()))
            source = torch.randint(SYMBOLS, (BATCH, LENGTH))
            loss: Any = torch.nn.functional.cross_entropy(_copy(model, source)[0].flatten(0, 1), source.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return Trained(at, right, alignment[0].numpy().astype(float))


def values() -> Values:
    """None of the seeds' entries: the lesson before attention asks for no number here."""
    return {}


def show() -> str:
    """Accuracy by step of both models; the weights over one text."""
    fixed, attending = train(False), train(True)
    chosen = range(0, len(fixed.steps), 3)
    rows = [[fixed.steps[at], fixed.right[at], attending.right[at]] for at in chosen]
    learning = table(["step", "fixed vector", "attention"], rows, digits=3)
    head = ["writes", *(f"h_{j}" for j in range(1, LENGTH + 1))]
    weights = table(head, [[at, *row] for at, row in enumerate(attending.alignment, 1)], digits=2)
    chance = f"share of {LENGTH} symbols copied right, the prefix given; by chance {1 / SYMBOLS:.3f}"
    return f"{chance}\n{learning}\n\nattention's weights, one held-out text\n{weights}"


def picture(axes: "Axes") -> None:
    """Accuracy by step."""
    found = {"fixed vector": train(False), "attention": train(True)}
    curves(axes, {name: (t.steps, t.right) for name, t in found.items()}, x="step", y="symbols copied right")


LESSON = Lesson(
    name="bahdanau",
    title="Bahdanau's attention against one fixed vector: who copies eight symbols",
    where="lesson 7 and 8; chapter 23.6",
    values=values,
    show=show,
    picture=picture,
    answers="""\
What is the bottleneck? A fixed vector must hold the whole source for every later step; attention lets each step look up
the state it needs, and the weights find the diagonal that copying asks for.
Is it a theorem that a fixed vector fails? No: it learns too, only slower (0.74 of the symbols against 0.96 after 200
steps here). It is a matter of capacity and of training.
Do the weights sit on the state of the very symbol? Nearly: h_j has read what stands before it as well, so a state
beside it holds the symbol too.""",
)
