"""One row for 'bank', whatever the sentence; and a state that depends on it.

A static table is read by the word alone. A recurrent state h_t = tanh(W h_{t−1} + U x_t) has read what came before,
in a vector of the same size for 3 words and for 300; attention mixes the states anew at every step of a decoder.
"""

from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import bars
from heldout.lessons.skip_gram import softmax

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RIVER = ["she", "sat", "by", "the", "river", "bank"]
CENTRAL = ["she", "called", "the", "central", "bank"]
WORDS = sorted({*RIVER, *CENTRAL, "today"})
SIZE = 6
_GENERATOR = np.random.default_rng(0)
#: An untrained table and recurrent weights: what they let through does not depend on training.
E_IN: Floats = _GENERATOR.normal(size=(len(WORDS), SIZE))
W, U = _GENERATOR.normal(size=(2, SIZE, SIZE)) / np.sqrt(SIZE)


def static(words: list[str]) -> Floats:
    """The rows of the table, (words, SIZE)."""
    return E_IN[[WORDS.index(word) for word in words]]


def recurrent(words: list[str]) -> Floats:
    """The state after each word, (words, SIZE)."""
    state, states = np.zeros(SIZE), []
    for row in static(words):
        state = np.tanh(W @ state + U @ row)
        states.append(state)
    return np.array(states)


def context(query: Floats, states: Floats) -> tuple[Floats, Floats]:
    """What attention reads for one query of shape (SIZE,): Σ α_t h_t, and the weights α over the states."""
    weights = softmax(states @ query)
    return weights @ states, weights


def apart(layer: str) -> float:
    """The largest difference of bank's vector between the two sentences, in the table or in the recurrent state."""
    read = {"table": static, "state": recurrent}[layer]
    return float(abs(read(RIVER)[-1] - read(CENTRAL)[-1]).max())


def values() -> Values:
    """How far bank's row moves between two sentences: not at all."""
    return {"lesson.static": {"static_difference": apart("table"), "contextual_difference": apart("state")}}


def show() -> str:
    """Bank in both sentences; two decoder steps over one sentence."""
    rows = [[layer, apart(layer)] for layer in ("table", "state")]
    bank = table(["bank's vector in the", "largest difference between the sentences"], rows)
    later = abs(recurrent([*RIVER, "today"])[: len(RIVER)] - recurrent(RIVER)).max()
    said = f"a word behind bank moves the state at bank by {later:.0f}: this model reads from left to right"
    queries = np.random.default_rng(1).normal(size=(2, SIZE))
    steps = [context(query, recurrent(RIVER))[1] for query in queries]
    weights = table(["word", "weight at step 1", "at step 2"], zip(RIVER, *steps, strict=True))
    sizes = f"state after 3 words {recurrent(RIVER[:3])[-1].shape}, after 300 {recurrent(RIVER * 50)[-1].shape}"
    return "\n\n".join([f"{bank}\n{said}", sizes, weights])


def picture(axes: "Axes") -> None:
    """Attention's weights over one sentence, at two steps of a decoder."""
    steps = [context(query, recurrent(RIVER))[1] for query in np.random.default_rng(1).normal(size=(2, SIZE))]
    bars(axes, {f"decoder step {at}": [*weights] for at, weights in enumerate(steps, 1)}, RIVER, y="weight")


LESSON = Lesson(
    name="static-contextual",
    title="one static row for 'bank' in every sentence, and states that tell the sentences apart",
    where="lesson 6 to 8; chapter 23.6",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Does 'static' mean untrained? No: it was trained on contexts, but is looked up by the word alone.
Does context need attention? No: a recurrent state differs between the two sentences (ELMo's did); attention is another
way to compute it, and a model may begin with a static table and still be contextual above it.
What may a causal model use at position i? Positions up to i: bank stands last in both sentences, so it can tell them
apart, and a word behind bank changes nothing at bank.
Must a state of fixed size fail on long sequences? It is a limit of capacity and a difficulty for training, no theorem.
(The displayed formulas of the recurrent update and the context vector are missing from the lesson's file.)""",
)
