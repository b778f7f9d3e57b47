"""BERT's masking one position after the other, as exercise 23.11 of the first text in seeds/ asks for it.

It draws in the order in which a person writes it down; heldout.pretrain.masking draws whole steps at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["masked", "random", "kept"]


@dataclass(frozen=True)
class Selected:
    """A selected position: where it is, its true word, what was done to it, and what the model sees there."""

    sentence: int
    position: int
    truth: int
    kind: Kind
    seen: int


def mask_corpus(
    sentences: Sequence[Sequence[int]], vocabulary: int, mask: int, generator: np.random.RandomState
) -> list[Selected]:
    """Visit every position: select it with probability 0.15, then draw the kind, then the word where it is random.

    ``generator`` is numpy's legacy one, as ``np.random.seed`` seeds it.
    """
    found = []
    for sentence, words in enumerate(sentences):
        for position, truth in enumerate(words):
            if generator.rand() < 0.15:
                kind, seen = _corrupted(truth, vocabulary, mask, generator)
                found.append(Selected(sentence, position, truth, kind, seen))
    return found


def _corrupted(truth: int, vocabulary: int, mask: int, generator: np.random.RandomState) -> tuple[Kind, int]:
    kind = generator.rand()
    if kind < 0.8:
        return "masked", mask
    if kind < 0.9:
        return "random", int(generator.randint(vocabulary))
    return "kept", truth
