"""Masks of masked language modelling (Devlin et al. 2019, section 3.1): drawn anew for every step, for a step at once.

15% of the tokens that are not special are selected and must be predicted; of those 80% are replaced by [MASK], 10% by
a token drawn uniformly from the ordinary vocabulary, 10% stay. With whole words the draw is one for all pieces of a
word, and the three kinds are still drawn a token (as Google's whole-word BERT does).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Masking:
    """How to mask: the id of [MASK], which ids are special (V,), the share selected, the shares of the kinds."""

    mask_id: int
    special: BoolArray
    whole_words: bool = False
    share: float = 0.15
    masked: float = 0.8
    random: float = 0.1

    @cached_property
    def ordinary(self) -> IntArray:
        """The ids that a random replacement is drawn from: every id of the vocabulary that is not special."""
        return np.flatnonzero(~self.special)


def corrupt(
    ids: IntArray, begins: BoolArray, masking: Masking, generator: np.random.Generator
) -> tuple[IntArray, BoolArray]:
    """The tokens as the model sees them and which of them it must predict; all arrays of shape (n,).

    ``ids`` are the rows of a step one after the other, ``begins`` marks tokens that begin a word (special ones too).
    """
    if masking.whole_words:
        word = np.cumsum(begins) - 1
        drawn = (generator.random(int(word[-1]) + 2) < masking.share)[word]
    else:
        drawn = generator.random(len(ids)) < masking.share
    selected = drawn & ~masking.special[ids]
    kind = generator.random(len(ids))
    seen = ids.copy()
    seen[selected & (kind < masking.masked)] = masking.mask_id
    replaced = selected & (kind >= masking.masked) & (kind < masking.masked + masking.random)
    seen[replaced] = generator.choice(masking.ordinary, int(replaced.sum()))
    return seen, selected
