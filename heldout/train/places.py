"""Where the tokens of a text stand in it: offsets that index the original string, whatever the tokenizer made of it.

Tokenizers fold case, drop accents and control characters, and some count the space before a word as its own. So that
an answer is the text as it stands (FAULTS Q3, Q6, Q14), white space at the ends of a token is left out, and characters
that came to no token (a combining accent, a zero-width joiner) belong to the token that they touch.

>>> found = places("une cafe\\u0301 noir", [(0, 3), (3, 8), (9, 14)])
>>> found.starts.tolist(), found.ends.tolist()
([0, 4, 10], [3, 9, 14])
>>> found.locate(4, 14)
(1, 2)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Places:
    """For n tokens, all of shape (n,): where each starts and ends, and whether an answer may begin or close with it.

    Of the pieces of one character (bytes of an emoji) an answer begins with the first and closes with the last; with
    a token of nothing but white space it does neither. So two spans of tokens are never the same piece of text.
    """

    starts: Ints
    ends: Ints
    begins: Bools
    closes: Bools

    def __len__(self) -> int:
        """How many tokens there are."""
        return len(self.starts)

    def locate(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and the last token of the shortest span that holds text[start:end]; None where no token does."""
        real = np.flatnonzero(self.starts < self.ends)
        starts, ends = self.starts[real], self.ends[real]
        first = int(np.searchsorted(ends, start, "right"))
        if first == len(real) or starts[first] >= end:
            return None
        first = int(np.searchsorted(starts, starts[first], "left"))
        last = min(int(np.searchsorted(ends, end, "left")), len(real) - 1)
        if starts[last] >= end:
            last -= 1
        last = int(np.searchsorted(ends, ends[last], "right")) - 1
        return int(real[first]), int(real[last])


def places(text: str, offsets: Sequence[tuple[int, int]]) -> Places:
    """The places of the tokens with these offsets, in the order of the text."""
    bounds = np.array([_trimmed(text, start, end) for start, end in offsets], np.int64).reshape(-1, 2)
    starts, ends = bounds[:, 0].copy(), bounds[:, 1].copy()
    real = np.flatnonzero(starts < ends)
    begins, closes = np.zeros(len(starts), bool), np.zeros(len(starts), bool)
    if len(real):
        _take_in(text, starts, ends, real)
        begins[real] = np.diff(starts[real], prepend=-1) > 0
        closes[real] = np.diff(ends[real], append=len(text) + 1) > 0
    return Places(starts, ends, begins, closes)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _take_in(text: str, starts: Ints, ends: Ints, real: Ints) -> None:
    """Give each character between two tokens to the one that it touches, to the first of them where it touches both."""
    before = np.concatenate([[0], ends[real]])
    after = np.concatenate([starts[real], [len(text)]])
    for gap in np.flatnonzero(after > before):
        between = text[before[gap] : after[gap]]
        if between.isspace():
            continue
        spaces = [at for at, character in enumerate(between) if character.isspace()]
        if gap > 0:
            ends[real[gap - 1]] += spaces[0] if spaces else len(between)
        if gap < len(real) and (spaces or gap == 0):
            starts[real[gap]] -= len(between) - (spaces[-1] + 1 if spaces else 0)
