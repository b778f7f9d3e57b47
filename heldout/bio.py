"""Tags of words in IOB2 and the entities that they spell: what reading, decoding and scoring agree on.

B-X begins an entity of type X, I-X continues it, O is no entity. An entity is (first word, word behind its last, type):

>>> strict(["B-person", "I-person", "O", "B-creative-work"])
[(0, 2, 'person'), (3, 4, 'creative-work')]
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Entity: TypeAlias = tuple[int, int, str]
OUTSIDE = "O"
#: Probabilities are floored here before their logarithm is taken, as for nll (DESIGN: 1e-12).
FLOOR = 1e-12


def split(tag: str) -> tuple[str, str]:
    """A tag's prefix and its type; the type may hold hyphens, and "O" has none.

    >>> split("B-creative-work"), split("O")
    (('B', 'creative-work'), ('O', ''))
    """
    prefix, _, kind = tag.partition("-")
    return prefix, kind


def allowed(before: str, tag: str) -> bool:
    """Whether IOB2 lets ``tag`` follow ``before`` ("O" before the first word): I-X only stands behind B-X or I-X."""
    prefix, kind = split(tag)
    return prefix != "I" or (before != OUTSIDE and split(before)[1] == kind)


def strict(tags: Sequence[str]) -> list[Entity]:
    """The entities of IOB2 read strictly, as seqeval's strict mode: an I-X that nothing of type X precedes is none.

    >>> strict(["I-X", "I-X", "B-X", "I-Y"])
    [(2, 3, 'X')]
    """
    return _entities([tag if split(tag)[0] == "B" else "" for tag in tags], tags)


def lenient(tags: Sequence[str]) -> list[Entity]:
    """The entities as CoNLL-2003's conlleval reads them: an I-X that cannot continue anything begins one.

    >>> lenient(["I-X", "I-X", "B-X", "I-Y"])
    [(0, 2, 'X'), (2, 3, 'X'), (3, 4, 'Y')]
    """
    before = [OUTSIDE, *tags][: len(tags)]
    return _entities(
        [
            tag if split(tag)[0] == "B" or not allowed(earlier, tag) else ""
            for earlier, tag in zip(before, tags, strict=True)
        ],
        tags,
    )


def _entities(begins: Sequence[str], tags: Sequence[str]) -> list[Entity]:
    """Entities from where ``begins`` is not empty, each as far as I- of its type goes."""
    found = []
    for start, first in enumerate(begins):
        if first:
            end, inside = start + 1, f"I-{split(first)[1]}"
            while end < len(tags) and tags[end] == inside:
                end += 1
            found.append((start, end, split(first)[1]))
    return found


def tags_of(entities: Sequence[Entity], length: int) -> list[str]:
    """The IOB2 tags of ``length`` words that spell these entities, none of which overlap.

    >>> tags_of([(1, 3, "place")], 4)
    ['O', 'B-place', 'I-place', 'O']
    """
    tags = [OUTSIDE] * length
    for start, end, kind in entities:
        tags[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return tags


def best_valid(scores: NDArray[np.floating[Any]] | Sequence[Sequence[float]], labels: Sequence[str]) -> list[str]:
    """The valid IOB2 sequence of the highest probability, the product over words of ``scores``: Viterbi (1967).

    ``scores`` is (words, labels): a word's probabilities in the order of ``labels``, which hold "O" (so that there is
    a valid sequence). They are floored at 1e-12. Of equally good sequences the one whose last tags stand first in
    ``labels`` is given, so the answer is a function of the scores alone.

    >>> best_valid([[0.4, 0.0, 0.6], [0.1, 0.2, 0.7]], ["O", "B-X", "I-X"])
    ['O', 'B-X']
    """
    if not len(scores):
        return []
    logs = np.log(np.maximum(np.asarray(scores, dtype=np.float64), FLOOR))
    steps = np.array([[0.0 if allowed(before, tag) else -np.inf for tag in labels] for before in labels])
    best = logs[0] + np.array([0.0 if allowed(OUTSIDE, tag) else -np.inf for tag in labels])
    came_from = []
    for word in logs[1:]:
        ways = best[:, None] + steps
        came_from.append(ways.argmax(axis=0))
        best = ways.max(axis=0) + word
    path = [int(best.argmax())]
    for row in reversed(came_from):
        path.append(int(row[path[-1]]))
    return [labels[column] for column in reversed(path)]
