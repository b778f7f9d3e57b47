"""A table of words and their rows: what every way of training gives, and what everything that judges takes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: FNV-1a's offset and prime for 32 bits, as fastText hashes an n-gram's bytes to its bucket.
OFFSET, PRIME = 2166136261, 16777619


@dataclass(frozen=True)
class Grams:
    """fastText's rows of hashed character n-grams, (buckets, d), and the shortest and longest n-gram, in characters."""

    rows: Floats
    shortest: int
    longest: int


@dataclass(frozen=True)
class Vectors:
    """Words, most frequent first, with a row each, (n, d) float32; ``counts`` (n,) are occurrences where known."""

    words: tuple[str, ...]
    rows: Floats
    counts: Ints | None = None
    grams: Grams | None = None

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def unit(self) -> Floats:
        """The rows at length 1, so that a product is a cosine; a row of zeros stays one."""
        return unit(self.rows)

    def find(self, word: str) -> int | None:
        """The row of a word as it is written, else of its lower case, else None."""
        found = self.index.get(word)
        return self.index.get(word.lower()) if found is None else found

    def count(self, word: str) -> str:
        """A word's occurrences as people read them; "?" where the file does not tell."""
        return "?" if self.counts is None else str(int(self.counts[self.index[word]]))

    def vector(self, word: str) -> Floats | None:
        """A word's vector (d,); fastText makes one of an unseen word as the mean of its n-grams, others have None."""
        row = self.find(word)
        if row is not None:
            return np.asarray(self.rows[row])
        if self.grams is None:
            return None
        buckets = [bucket(gram, len(self.grams.rows)) for gram in ngrams(word, self.grams)]
        return np.asarray(self.grams.rows[buckets].mean(axis=0), np.float32) if buckets else None


def unit(rows: Floats) -> Floats:
    """Rows divided by their length; rows of zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def ngrams(word: str, grams: Grams) -> Iterable[str]:
    """The character n-grams of <word> (Bojanowski et al. 2017), repeated ones as often as they occur."""
    marked = f"<{word}>"
    for n in range(grams.shortest, grams.longest + 1):
        yield from (marked[at : at + n] for at in range(len(marked) - n + 1))


def bucket(gram: str, buckets: int) -> int:
    """The row of an n-gram: FNV-1a over its UTF-8 bytes, each taken as signed (fastText's own oddity).

    >>> bucket("<wh", 2000000)
    167652
    """
    found = OFFSET
    for byte in gram.encode("utf-8"):
        found = ((found ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * PRIME) & 0xFFFFFFFF
    return found % buckets
