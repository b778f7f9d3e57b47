"""Rows: what one sequence of a batch holds, before masks: a piece of a document, or several side by side (packed)."""

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.pretrain.frames import Frame
from heldout.pretrain.masking import BoolArray, IntArray
from heldout.pretrain.store import Corpus, small

#: Pieces that are measured at a time.
BLOCK = 1 << 20


@dataclass(frozen=True)
class Row:
    """A row's tokens with their special ones; arrays of its length.

    ``part`` numbers from 0 the pieces that must not see each other. Of a pair, ``second`` is where its second text
    begins and ``next`` 0 where that continues the first and 1 where it comes from another document (the convention
    of transformers' next_sentence_label).
    """

    ids: IntArray
    begins: BoolArray
    part: IntArray
    second: int | None = None
    next: int | None = None


@dataclass(frozen=True)
class Rows:
    """All rows of a split: their lengths in tokens, their first documents, and a function that makes some of them.

    ``make`` gets row numbers and a generator, for what is drawn anew each time (pairs).
    """

    lengths: IntArray
    document: IntArray
    make: Callable[[Sequence[int], np.random.Generator], list[Row]]
    notes: dict[str, int]

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True)
class Pieces:
    """Documents cut into pieces of at most ``room`` tokens: the document of each, and which of its pieces it is.

    Both (pieces,), in the documents' order; 5 bytes a piece, since 5 GB of text are some 30 million.
    """

    document: IntArray
    number: IntArray
    room: int

    def __len__(self) -> int:
        return len(self.document)

    def bounds(self, corpus: Corpus, some: Any) -> tuple[IntArray, IntArray]:
        """Where some pieces begin and end in the stream."""
        document = self.document[some]
        start = corpus.bounds[document] + self.number[some].astype(np.int64) * self.room
        return start, np.minimum(start + self.room, corpus.bounds[1:][document])


def plain_rows(corpus: Corpus, documents: IntArray, frame: Frame, length: int, *, pack: bool, whole_end: bool) -> Rows:
    """Rows of at most ``length`` tokens: documents cut into pieces, one a row or, with ``pack``, as many as fit.

    ``whole_end``: the frame's last tokens stand only where a document ends, not where it was cut (causal models).
    """
    pieces = cut(corpus, documents, length - frame.length)
    sizes = np.empty(len(pieces), dtype=np.int32)
    for first in range(0, len(pieces), BLOCK):
        some = slice(first, first + BLOCK)
        start, stop = pieces.bounds(corpus, some)
        sizes[some] = stop - start + frame.length
        if whole_end:
            sizes[some] -= len(frame.after) * (stop != corpus.bounds[1:][pieces.document[some]])
    order, bounds = (
        best_fit(sizes, length) if pack else (small(np.arange(len(sizes))), small(np.arange(len(sizes) + 1)))
    )

    def make(rows: Sequence[int], generator: np.random.Generator) -> list[Row]:
        return [_row(corpus, pieces, order[bounds[row] : bounds[row + 1]], frame, whole_end) for row in rows]

    lengths = np.add.reduceat(sizes[order], bounds[:-1], dtype=np.int32) if len(order) else sizes
    return Rows(lengths, pieces.document[order[bounds[:-1]]], make, {})


def cut(corpus: Corpus, documents: IntArray, room: int) -> Pieces:
    """The pieces of at most ``room`` tokens, in the documents' order."""
    counts = small(-(-corpus.lengths[documents] // room))
    ends = small(np.cumsum(counts, dtype=np.int64))
    number = np.arange(len(ends) and ends[-1], dtype=ends.dtype) - np.repeat(ends - counts, counts)
    return Pieces(np.repeat(documents, counts), small(number), room)


def best_fit(sizes: IntArray, capacity: int) -> tuple[IntArray, IntArray]:
    """Pieces put together into rows of at most ``capacity``: longest first, each where the least room is left.

    The pieces row by row, and where each row begins among them; arrays, since 5 GB of text are ten million rows.

    >>> order, bounds = best_fit(np.array([3, 9, 4, 2, 6]), 10)
    >>> [order[a:b].tolist() for a, b in zip(bounds, bounds[1:])]
    [[1], [4, 2], [0, 3]]
    """
    longest_first = small(np.argsort(-sizes, kind="stable"))
    row_of = np.empty(len(sizes), dtype=np.int32)
    rows = 0
    #: The rows that have some room left, by how much.
    waiting: dict[int, list[int]] = {}
    rooms: list[int] = []
    for piece in longest_first:
        size = int(sizes[piece])
        place = bisect_left(rooms, size)
        if place == len(rooms):
            row, room, rows = rows, capacity, rows + 1
        else:
            room = rooms[place]
            row = waiting[room].pop()
            if not waiting[room]:
                del waiting[room], rooms[place]
        row_of[piece] = row
        left = room - size
        if left:
            if left not in waiting:
                insort(rooms, left)
            waiting.setdefault(left, []).append(row)
    order = longest_first[np.argsort(row_of[longest_first], kind="stable")]
    return order, small(np.searchsorted(row_of[order], np.arange(rows + 1)))


def _each(count: int) -> tuple[IntArray, IntArray]:
    """What best_fit gives where every piece is a row of its own."""
    bounds = small(np.arange(count + 1))
    return bounds[:-1], bounds


def _row(corpus: Corpus, pieces: Pieces, some: IntArray, frame: Frame, whole_end: bool) -> Row:
    ids: list[Any] = []
    begins: list[Any] = []
    sizes = []
    for document, start, stop in zip(pieces.document[some], *pieces.bounds(corpus, some), strict=True):
        ends = not whole_end or stop == corpus.bounds[int(document) + 1]
        before, after = frame.before, frame.after if ends else ()
        ids += [before, corpus.tokens[start:stop], after]
        begins += [[True] * len(before), corpus.begins[start:stop], [True] * len(after)]
        sizes.append(len(before) + stop - start + len(after))
    return Row(joined(ids, np.int64), joined(begins, np.bool_), np.repeat(np.arange(len(sizes)), sizes))


def joined(parts: Sequence[Any], kind: Any) -> NDArray[Any]:
    """Lists and arrays of any type one after the other, as an array of one type."""
    return np.concatenate([np.asarray(part, dtype=kind) for part in parts])
