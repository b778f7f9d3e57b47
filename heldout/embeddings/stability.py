"""Before a neighbour is believed: do other seeds and windows find it too?"""

from collections.abc import Sequence

import numpy as np

from heldout.embeddings.neighbours import nearest
from heldout.embeddings.vectors import Ints, Vectors
from heldout.errors import Refused

#: Words whose neighbourhoods are compared: the most frequent that both have.
WORDS = 1000


def shared(first: Vectors, second: Vectors, top: int = 10, words: int = WORDS) -> tuple[float, int]:
    """The mean share of a word's ``top`` neighbours that two tables agree on, and over how many words.

    Looked at are the most frequent words that both have, and neighbours among words that both have. Refused where
    they share too few.
    """
    common = [word for word in first.words if word in second.index]
    if len(common) <= top:
        raise Refused(f"the two tables share {len(common)} words; neighbours need more than {top}")
    asked = min(words, len(common))
    sides = [_neighbours(table, common, asked, top) for table in (first, second)]
    same = [len({*a} & {*b}) / top for a, b in zip(sides[0].tolist(), sides[1].tolist(), strict=True)]
    return float(np.mean(same)), asked


def _neighbours(vectors: Vectors, common: Sequence[str], asked: int, top: int) -> Ints:
    rows = vectors.unit[[vectors.index[word] for word in common]]
    found = []
    for at in range(0, asked, 200):
        block = np.arange(at, min(at + 200, asked))
        cosines = rows[block] @ rows.T
        cosines[np.arange(len(block)), block] = -np.inf
        found.append(np.argpartition(-cosines, top, axis=1)[:, :top])
    return np.concatenate(found)


def found_in(others: dict[str, Vectors], word: str, neighbour: str, top: int) -> int | None:
    """In how many other tables a word's neighbour is among its ``top``; None where none of them has the word."""
    having = [other for other in others.values() if other.find(word) is not None]
    hits = sum(neighbour in {found for found, _ in nearest(other, word, top)} for other in having)
    return hits if having else None
