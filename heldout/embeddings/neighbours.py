"""Who stands near whom, and whether that is near: a cosine is held against those of random pairs of frequent words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heldout.embeddings.vectors import Floats, Ints, Vectors, unit
from heldout.errors import Refused

#: With so many frequent words all pairs are looked at (1,201 in War and Peace); beyond, so many pairs are drawn.
ALL_PAIRS_OF, DRAWN = 3000, 1_000_000
FEWEST = 20
#: Words that are asked about where nobody names any: those at these ranks of frequency.
RANKS = (100, 200, 400, 800, 1600)


@dataclass(frozen=True)
class Crowding:
    """Cosines of random pairs of words seen ``min_count`` times or more: what any cosine is held against."""

    words: int
    pairs: int
    min_count: int | None
    mean: float
    p90: float


def crowding(vectors: Vectors, min_count: int, seed: int = 1) -> Crowding:
    """The cosines of random pairs of frequent words.

    Where fewer than ``FEWEST`` are so frequent, of the most frequent there are (and ``min_count`` says how rare those
    get); of the first 3,000 words where the file has no counts. Refused where there is one word only.
    """
    if vectors.counts is None:
        frequent = np.arange(min(ALL_PAIRS_OF, len(vectors.words)))
    else:
        frequent = np.flatnonzero(vectors.counts >= min_count)
        if len(frequent) < FEWEST:
            frequent = np.argsort(-vectors.counts, kind="stable")[:FEWEST]
            min_count = int(vectors.counts[frequent].min())
    if len(frequent) < 2:
        raise Refused("these vectors are of one word; there is nothing to compare")
    rows = vectors.unit[frequent]
    if len(rows) <= ALL_PAIRS_OF:
        cosines = (rows @ rows.T)[np.triu_indices(len(rows), 1)]
    else:
        generator = np.random.default_rng(seed)
        first = generator.integers(len(rows), size=DRAWN)
        # A shift of 1 or more: no word is paired with itself.
        second = (first + generator.integers(1, len(rows), size=DRAWN)) % len(rows)
        cosines = np.concatenate([_cosines(rows, a, b) for a, b in zip(_cut(first), _cut(second), strict=True)])
    return Crowding(
        len(rows),
        len(cosines),
        None if vectors.counts is None else min_count,
        float(cosines.mean(dtype=np.float64)),
        float(np.percentile(cosines, 90)),
    )


def _cut(rows: Ints) -> list[Ints]:
    return np.array_split(rows, 100)


def _cosines(rows: Floats, first: Ints, second: Ints) -> Floats:
    return np.asarray(np.einsum("nd,nd->n", rows[first], rows[second]))


def nearest(vectors: Vectors, word: str, top: int = 10) -> list[tuple[str, float]]:
    """The words with the highest cosine to a word, itself left out; Refused where it has no vector."""
    cosines = vectors.unit @ unit(known(vectors, word))
    row = vectors.find(word)
    if row is not None:
        cosines[row] = -np.inf
    best = np.argpartition(-cosines, min(top, len(cosines) - 1))[:top]
    best = best[np.argsort(-cosines[best], kind="stable")]
    return [(vectors.words[at], float(cosines[at])) for at in best if np.isfinite(cosines[at])]


def cosine(vectors: Vectors, first: str, second: str) -> float:
    """The cosine of two words; Refused where one has no vector."""
    return float(unit(known(vectors, first)) @ unit(known(vectors, second)))


def groups(vectors: Vectors, named: Mapping[str, Sequence[str]]) -> list[tuple[str, str, float]]:
    """The mean cosine of the words of each group among themselves, and with those of every other group.

    Refused where a word has no vector, or a group one word only.
    """
    rows = {name: unit(np.stack([known(vectors, word) for word in words])) for name, words in named.items()}
    small = next((name for name, words in named.items() if len(words) < 2), None)
    if small is not None:
        raise Refused(f"--group {small}: has one word; give two or more to compare")
    found, names = [], list(rows)
    for at, name in enumerate(names):
        within = (rows[name] @ rows[name].T)[np.triu_indices(len(rows[name]), 1)]
        found.append((name, name, float(within.mean())))
        found += [(name, other, float((rows[name] @ rows[other].T).mean())) for other in names[at + 1 :]]
    return found


def known(vectors: Vectors, word: str) -> Floats:
    """A word's vector; Refused naming the word where there is none."""
    found = vectors.vector(word)
    if found is None:
        raise Refused(f"{word!r} has no vector: it was not seen, or too rarely; ask about another word")
    return found


def some_words(vectors: Vectors) -> list[str]:
    """Words to look at where nobody names any: of falling frequency."""
    return [vectors.words[rank] for rank in RANKS if rank < len(vectors.words)] or list(vectors.words[:3])
