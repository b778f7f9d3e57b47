"""One sentence as BERT, GPT and T5 would learn from it: what is given, what is asked.

BERT predicts selected positions from both sides of a corrupted input, and the loss is summed over all of them: masked,
replaced and unchanged. GPT predicts each token from its prefix. T5 writes a target text after a source text.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Lesson, Values, table
from heldout.lessons._pictures import bars
from heldout.lessons.cbow import MAT
from heldout.lessons.shifted_decoder import SENTENCE, shifted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SELECTED, MASK, RANDOM, KEEP = 0.15, 0.8, 0.1, 0.1


def masked(words: Sequence[str], positions: Sequence[int]) -> tuple[list[str], dict[str, str]]:
    """The input with [MASK] at the positions (from 1), as long as before, and the targets there."""
    corrupted = ["[MASK]" if at in positions else word for at, word in enumerate(words, 1)]
    return corrupted, {str(at): words[at - 1] for at in positions}


def causal_examples(words: Sequence[str]) -> list[tuple[list[str], str]]:
    """(prefix, next word) of every position but the first."""
    return [([*words[:at]], words[at]) for at in range(1, len(words))]


def pair(first: Sequence[str], second: Sequence[str]) -> tuple[list[str], list[int]]:
    """BERT's input of two segments, and the segment of each position: [CLS] and the first [SEP] belong to A."""
    a, b = ["[CLS]", *first, "[SEP]"], [*second, "[SEP]"]
    return a + b, [0] * len(a) + [1] * len(b)


def mlm_loss(probabilities: Sequence[float]) -> float:
    """−Σ log P(true word) over the selected positions: the chapter's loss is a sum."""
    return float(-np.log(probabilities).sum())


def values() -> Values:
    """The examples, the loss of three positions, the size of BERT's corpus."""
    corrupted, targets = masked(MAT, [3])
    (tokens, segments), (inputs, _) = pair(MAT[:3], MAT[3:]), shifted(SENTENCE)
    examples, p = causal_examples(MAT), [1 / 2, 1 / 4, 1 / 8]
    t5 = {"source": "translate English to French: The cat sleeps", "target": " ".join(SENTENCE)}
    return {
        "ch.objectives": {
            **{"mlm_target": targets, "mlm_input": corrupted, "mlm_context_size": len(corrupted) - len(targets)},
            **{"gpt_examples": examples, "gpt_visible_for_sat": next(p for p, word in examples if word == "sat")},
            "cross_entropy_uniform": {"V=6": np.log(6)},
            **{"nsp_input": tokens, "nsp_segments": segments, "nsp_labels": {"consecutive": 0.5, "random": 0.5}},
            "t5": {**t5, "decoder_input": inputs, "loss_positions": len(inputs)},
            "masking_expectation": {
                "selected_per_100": round(100 * SELECTED),
                **{kind: 100 * SELECTED * p for kind, p in (("mask", MASK), ("random", RANDOM), ("keep", KEEP))},
            },
        },
        "ch.mlm.loss": {"sum": mlm_loss(p), "mean": mlm_loss(p) / len(p)},
        "ch.bert.corpus": {"bookcorpus": 800e6, "wikipedia": 2500e6, "total": 800e6 + 2500e6},
    }


def show() -> str:
    """The same words as three kinds of examples, and the loss."""
    found = values()
    made, loss = found["ch.objectives"], found["ch.mlm.loss"]
    bert = f"BERT  {' '.join(made['mlm_input'])}  ->  position 3: sat"
    gpt = [f"GPT   {' '.join(prefix)}  ->  {word}" for prefix, word in made["gpt_examples"]]
    t5 = f"T5    {made['t5']['source']}  |  {' '.join(made['t5']['decoder_input'])}  ->  {made['t5']['target']} <EOS>"
    segments = table(["position", "token", "segment"], [[at, *row] for at, row in enumerate(
        zip(made["nsp_input"], made["nsp_segments"], strict=True), 1)])  # fmt: skip
    said = f"P(true) = 1/2, 1/4, 1/8 at three positions: sum {loss['sum']:.6f}, mean {loss['mean']:.6f}"
    return "\n\n".join(["\n".join([bert, *gpt, t5]), segments, said])


def picture(axes: "Axes") -> None:
    """Of 100 tokens: how many are selected, and what becomes of them."""
    found = values()["ch.objectives"]["masking_expectation"]
    bars(axes, {"": [*found.values()]}, ["selected", "[MASK]", "random word", "unchanged"], y="of 100 tokens")


LESSON = Lesson(
    name="objectives",
    title="one sentence as BERT, GPT and T5 learn from it: what is given and what is asked",
    where="chapter 23.7 and 23.8",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Does x without M mean that the positions are deleted? No: it is the corrupted input, as long as before.
Is the loss a sum or a mean? The chapter writes a sum (6 log 2 here); libraries return the mean over selected positions.
Are 80/10/10 shares of all tokens? No, of the selected 15%: of 100 tokens 12 are masked, 1.5 replaced, 1.5 kept.
How large was BERT's corpus? 800 million and 2,500 million words, 3,300 million together.
Does masked prediction define P(text) from left to right? No; a causal model's objective does.""",
)
