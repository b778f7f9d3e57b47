"""Rows: what one sequence of a batch holds, before masks: a piece of a document, or several side by side (packed)."""

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.pretrain.frames import Frame
from heldout.pretrain.masking import BoolArray, IntArray
from heldout.pretrain.store import Corpus


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


def plain_rows(corpus: Corpus, documents: IntArray, frame: Frame, length: int, *, pack: bool, whole_end: bool) -> Rows:
    """Rows of at most ``length`` tokens: documents cut into pieces, one a row or, with ``pack``, as many as fit.

    ``whole_end``: the frame's last tokens stand only where a document ends, not where it was cut (causal models).
    """
    pieces = cut(corpus, documents, length - frame.length)
    sizes = pieces[:, 2] - pieces[:, 1] + frame.length
    if whole_end:
        sizes -= len(frame.after) * (pieces[:, 2] != corpus.bounds[pieces[:, 0] + 1])
    order, bounds = best_fit(sizes, length) if pack else (np.arange(len(pieces)), np.arange(len(pieces) + 1))

    def make(rows: Sequence[int], generator: np.random.Generator) -> list[Row]:
        return [_row(corpus, pieces[order[bounds[row] : bounds[row + 1]]], frame, whole_end) for row in rows]

    lengths = np.add.reduceat(sizes[order], bounds[:-1]) if len(order) else sizes
    return Rows(lengths, pieces[order[bounds[:-1]], 0], make, {})


def cut(corpus: Corpus, documents: IntArray, room: int) -> IntArray:
    """The pieces (document, start, stop) of at most ``room`` tokens, in the documents' order; shape (pieces, 3)."""
    counts = -(-corpus.lengths[documents] // room)
    document = np.repeat(documents, counts)
    number = np.arange(len(document)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = corpus.bounds[document] + number * room
    return np.column_stack([document, start, np.minimum(start + room, corpus.bounds[document + 1])])


def best_fit(sizes: IntArray, capacity: int) -> tuple[IntArray, IntArray]:
    """Pieces put together into rows of at most ``capacity``: longest first, each where the least room is left.

    The pieces row by row, and where each row begins among them; arrays, since 5 GB of text are ten million rows.

    >>> order, bounds = best_fit(np.array([3, 9, 4, 2, 6]), 10)
    >>> [order[a:b].tolist() for a, b in zip(bounds, bounds[1:])]
    [[1], [4, 2], [0, 3]]
    """
    longest_first = np.argsort(-sizes, kind="stable")
    row_of = np.empty(len(sizes), dtype=np.int64)
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
    return order, np.searchsorted(row_of[order], np.arange(rows + 1))


def _row(corpus: Corpus, pieces: IntArray, frame: Frame, whole_end: bool) -> Row:
    ids: list[Any] = []
    begins: list[Any] = []
    sizes = []
    for document, start, stop in pieces:
        ends = not whole_end or stop == corpus.bounds[document + 1]
        before, after = frame.before, frame.after if ends else ()
        ids += [before, corpus.tokens[start:stop], after]
        begins += [[True] * len(before), corpus.begins[start:stop], [True] * len(after)]
        sizes.append(len(before) + stop - start + len(after))
    return Row(joined(ids, np.int64), joined(begins, np.bool_), np.repeat(np.arange(len(sizes)), sizes))


def joined(parts: Sequence[Any], kind: Any) -> NDArray[Any]:
    """Lists and arrays of any type one after the other, as an array of one type."""
    return np.concatenate([np.asarray(part, dtype=kind) for part in parts])
