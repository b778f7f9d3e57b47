"""Near-duplicate texts of sets too large to hold: MinHash of word triples, streamed, candidates verified exactly.

Of every text only BANDS keys are kept, 8 bytes each. A key is made of ROWS minima of random orders of its triples, so
two texts of Jaccard similarity J share one with probability 1 − (1 − J^ROWS)^BANDS (Broder 1997; Leskovec, Rajaraman
and Ullman 2014, chapter 3): 0.99 at J = 0.5, 0.9999 at 0.7. What shares a key is only a candidate: the texts are read a
second time and compared triple by triple, so no pair is reported that is none. Sets that fit are compared exactly
(heldout.data.shingles).
"""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from heldout.data.shingles import WORD, WORDS

BANDS, ROWS = 16, 2
#: Texts hashed at a time, which bounds the arrays of their triples.
BLOCK = 4096
#: A text of fewer than WORDS words has no triples, and only exact duplicates.
NO_KEY = np.uint64(0)

Keys = npt.NDArray[np.uint64]
Pairs = npt.NDArray[np.int64]
_RANDOM = np.random.default_rng(20260101)
_MULTIPLIERS: Keys = _RANDOM.integers(1, 2**63, BANDS * ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def fingerprint(folded: str) -> int:
    """A folded text as 64 bits: of a million texts no two different ones share them (chance 3e-8)."""
    return int.from_bytes(hashlib.blake2b(folded.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def triples(folded: str) -> Keys:
    """The distinct hashes of a text's runs of three words, sorted; the same text gives the same in every process."""
    words = [hash_word(word) for word in WORD.findall(folded)]
    return np.unique(_runs(np.array(words, np.uint64)))


_KNOWN: dict[str, int] = {}


def hash_word(word: str) -> int:
    """A word as 64 bits; those of half a million different words are remembered."""
    found = _KNOWN.get(word)
    if found is None:
        if len(_KNOWN) >= 500_000:
            _KNOWN.clear()
        found = _KNOWN[word] = fingerprint(word)
    return found


def _runs(words: Keys) -> Keys:
    n = max(0, len(words) - WORDS + 1)
    hashed = np.zeros(n, np.uint64)
    for offset in range(WORDS):
        hashed = (hashed ^ words[offset : offset + n]) * _MIX
        hashed ^= hashed >> np.uint64(29)
    return hashed


def keys(block: Sequence[str]) -> Keys:
    """The keys of a block of folded texts, shape (texts, BANDS); NO_KEY where a text has no triples."""
    flat: list[int] = []
    lengths = np.zeros(len(block), np.int64)
    for row, text in enumerate(block):
        words = WORD.findall(text)
        lengths[row] = len(words)
        flat.extend(map(hash_word, words))
    hashed = _runs(np.array(flat, np.uint64))
    owner = np.repeat(np.arange(len(block)), lengths)
    whole = owner[: len(hashed)] == owner[WORDS - 1 :][: len(hashed)]
    hashed, owner = hashed[whole], owner[: len(whole)][whole]
    found = np.zeros((len(block), BANDS), np.uint64)
    if not len(hashed):
        return found
    starts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    rows = owner[starts]
    for band in range(BANDS):
        key = np.zeros(len(starts), np.uint64)
        for row in range(ROWS):
            order = hashed * _MULTIPLIERS[band * ROWS + row]
            order ^= order >> np.uint64(31)
            key = (key ^ np.minimum.reduceat(order, starts)) * _MIX
        found[rows, band] = key | np.uint64(1)
    return found


def candidates(bands: Iterable[Keys]) -> Pairs:
    """Pairs (i, j), i < j, of rows that share a key, ``bands`` being the columns of keys.

    Of a crowd that shares one, each with the first and with the next.
    So a crowd of n made from one template gives 2n pairs, not n².
    """
    pairs = [np.zeros((0, 2), np.int64)]
    for column in bands:
        order = np.argsort(column, kind="stable")
        sorted_ = column[order]
        same = (sorted_[1:] == sorted_[:-1]) & (sorted_[1:] != NO_KEY)
        at = np.flatnonzero(same) + 1
        first = np.maximum.accumulate(np.where(np.append(True, sorted_[1:] != sorted_[:-1]), np.arange(len(order)), 0))
        for left in (at - 1, first[at]):
            pairs.append(np.stack([order[left], order[at]], axis=1))
    return np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)


def similar(pairs: Pairs, texts: Iterable[str], threshold: float) -> Pairs:
    """Those pairs whose Jaccard similarity of triples is ``threshold`` or more; ``texts`` are read again, in order."""
    wanted = set(np.unique(pairs).tolist())
    sets = {row: triples(text) for row, text in enumerate(texts) if row in wanted}
    kept = np.zeros(len(pairs), bool)
    for number, (i, j) in enumerate(pairs.tolist()):
        shared = len(np.intersect1d(sets[i], sets[j], assume_unique=True))
        total = len(sets[i]) + len(sets[j]) - shared
        kept[number] = total > 0 and shared >= threshold * total
    return pairs[kept]
