"""Edits of a text by place, and what they leave of other places in it: gold answers are found again behind them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """Characters from ``start`` to ``end`` become ``new``."""

    start: int
    end: int
    new: str


#: (start, end) of characters that must stay as they are.
Spans = Sequence[tuple[int, int]]


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits, none of which overlap.

    >>> edited("a dog ran", [Edit(2, 5, "cat"), Edit(9, 9, ".")])
    'a cat ran.'
    """
    parts, at = [], 0
    for start, end, new in sorted(edits):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def moved(place: int, edits: Iterable[Edit]) -> int:
    """Where the character at ``place`` stands after edits that don't touch it.

    >>> moved(6, [Edit(2, 5, "crow"), Edit(9, 9, ".")])
    7
    """
    return place + sum(len(new) - (end - start) for start, end, new in edits if end <= place)


def touches(start: int, end: int, spans: Spans) -> bool:
    """Whether characters from ``start`` to ``end`` overlap one of the spans, or stand inside where nothing is replaced.

    >>> touches(2, 4, [(4, 6)]), touches(2, 5, [(4, 6)]), touches(5, 5, [(4, 6)])
    (False, True, True)
    """
    return any(start < last and first < end for first, last in spans)
