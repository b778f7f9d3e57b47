"""Entities of many sentences as arrays, each with the entity of the other side that it meets."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.bio import Entity
from heldout.eval.table import FloatArray, IntArray

BoolArray: TypeAlias = NDArray[np.bool_]
#: Stands for the entity that is met where none is.
NONE = (-1, -1, -1)


@dataclass(frozen=True)
class Entities:
    """m entities of one side (gold or answers), those of a sentence together, in the order of sentences.

    owner (m,): the sentence of each. span (m, 3): its first word, the word behind its last, the number of its type.
    met (m, 3): the span of that entity of the other side which shares most words with it (of several the first), -1
    where none shares any. p (m,): its confidence, NaN where none is known.
    """

    owner: IntArray
    span: IntArray
    met: IntArray
    p: FloatArray

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def hit(self) -> BoolArray:
        """Whether the very same entity stands on the other side: words and type."""
        same: BoolArray = (self.span == self.met).all(axis=1)
        return same

    def at(self, which: BoolArray | IntArray) -> "Entities":
        """Those that a mask or indices choose."""
        return Entities(self.owner[which], self.span[which], self.met[which], self.p[which])

    def of(self, rows: IntArray) -> "Entities":
        """Those of these sentences, which are numbered anew in this order."""
        owner, kept = gathered(self.owner, rows)
        return replace(self.at(kept), owner=owner)

    def per_sentence(self, n: int, what: BoolArray | None = None) -> IntArray:
        """How many each of n sentences has, or how many for which ``what`` (m,) holds; shape (n,)."""
        counts: IntArray = np.bincount(self.owner if what is None else self.owner[what], minlength=n)
        return counts


class Reading(NamedTuple):
    """Both sides, read strictly or leniently."""

    gold: Entities
    answer: Entities

    def of(self, rows: IntArray) -> "Reading":
        """Both sides of these sentences."""
        return Reading(self.gold.of(rows), self.answer.of(rows))


def gathered(owner: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Of things that stand in the order of their owners those of these rows: their owners by row, and which they are.

    >>> [x.tolist() for x in gathered(np.array([0, 0, 2]), np.array([2, 1, 0]))]
    [[0, 2, 2], [2, 0, 1]]
    """
    first, last = (np.searchsorted(owner, rows, side) for side in ("left", "right"))
    kept = [place for start, end in zip(first, last, strict=True) for place in range(start, end)]
    return np.repeat(np.arange(len(rows)), last - first), np.array(kept, dtype=np.int64)


def met(mine: Sequence[Entity], others: Sequence[Entity], words: int) -> list[Entity | None]:
    """For each entity the one of ``others`` that shares most of its words, of several the first; None where none does.

    >>> met([(0, 3, "person"), (4, 5, "place")], [(1, 2, "person"), (2, 4, "place")], 5)
    [(1, 2, 'person'), None]
    """
    at: list[int | None] = [None] * words
    for number, (start, end, _) in enumerate(others):
        at[start:end] = [number] * (end - start)
    found: list[Entity | None] = []
    for start, end, _ in mine:
        shared = Counter(number for number in at[start:end] if number is not None)
        found.append(others[shared.most_common(1)[0][0]] if shared else None)
    return found


def read_both(
    read: Callable[[Sequence[str]], list[Entity]],
    gold: Sequence[Sequence[str]],
    answers: Sequence[Sequence[str]],
    types: Sequence[str],
    confidence: Callable[[int, Entity], float],
) -> Reading:
    """The entities of n sentences; ``confidence`` is that of an entity of the answer to a sentence (its row)."""
    golds, found = [read(tags) for tags in gold], [read(tags) for tags in answers]
    sure = [[confidence(row, entity) for entity in entities] for row, entities in enumerate(found)]
    lengths = [len(tags) for tags in gold]
    unknown = [[np.nan] * len(entities) for entities in golds]
    return Reading(_side(golds, found, unknown, lengths, types), _side(found, golds, sure, lengths, types))


def _side(
    mine: Sequence[list[Entity]],
    others: Sequence[list[Entity]],
    sure: Sequence[list[float]],
    lengths: Sequence[int],
    types: Sequence[str],
) -> Entities:
    number = {kind: position for position, kind in enumerate(types)}

    def spans(rows: Iterable[Sequence[Entity | None]]) -> IntArray:
        found = [NONE if one is None else (one[0], one[1], number[one[2]]) for row in rows for one in row]
        return np.array(found, dtype=np.int64).reshape(-1, 3)

    return Entities(
        np.repeat(np.arange(len(mine)), [len(entities) for entities in mine]),
        spans(mine),
        spans(map(met, mine, others, lengths)),
        np.array([p for row in sure for p in row], dtype=np.float64),
    )
