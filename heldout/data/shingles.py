"""Near-duplicate texts: word triples in common, Jaccard ≥ 0.5, every such pair found and no other.

A pair at Jaccard t or more shares one of the rarest |A| − ⌈t|A|⌉ + 1 triples of A and of B, in any one order of all
triples (prefix filtering: Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007). So only texts that share a
rare triple are compared, and unlike MinHash with LSH nothing is left to chance. One bound: where over CROWD texts share
a rare triple (one template with a word changed), each is compared with the first HEADS of them only, not all pairs.

Three words and 0.5, measured: of cad_imdb's train pairs (a review and its revision to the opposite sentiment) 76% reach
0.5; of IMDb's 50,000 reviews 49 pairs of distinct texts do, all of them reposts or one author's template. It takes
about 8 s on one core. A text of fewer than three words, or of a script without spaces, has only exact duplicates.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
import numpy.typing as npt

#: Words in a shingle, and the Jaccard similarity of shingle sets from which two texts are near duplicates.
WORDS, THRESHOLD = 3, 0.5
WORD = re.compile(r"\w+")
MIX = np.uint64(0x9E3779B97F4A7C15)
#: Pairs compared at a time: bounds the memory where a set holds many texts made from one template.
CHUNK = 100_000
CROWD, HEADS = 1000, 50

Ints = npt.NDArray[np.int64]
Tokens = npt.NDArray[np.uint64]


def near_pairs(texts: Sequence[str], threshold: float = THRESHOLD) -> Ints:
    """All pairs (i, j), i < j, of texts with Jaccard of at least ``threshold``, shape (pairs, 2), sorted."""
    owner, token = _sets(texts)
    size = np.bincount(owner, minlength=len(texts))
    start = np.cumsum(size) - size
    rank = np.arange(len(owner)) - start[owner]
    prefix = size - np.ceil(threshold * size).astype(np.int64) + 1
    first = rank < prefix[owner]
    found = [np.zeros((0, 2), np.int64)]
    for pairs in _candidates(owner[first], token[first]):
        small, large = np.sort(size[pairs], axis=1).T
        pairs = pairs[small >= threshold * large]
        found += [chunk[_jaccard(chunk, token, start, size) >= threshold] for chunk in _chunks(pairs)]
    return np.unique(np.concatenate(found), axis=0)


def _sets(texts: Sequence[str]) -> tuple[Ints, Tokens]:
    """Every text's distinct shingles as (text, token), by text and within it the rarest first.

    A token is the shingle's count over all texts (in 8 bits, by buckets of its hash) above its hash, so that sorting
    sorts by rarity; two shingles of 11 million share a hash of 39 bits in about one text of 100.
    """
    owner, shingle = _hashes(texts)
    buckets = 1 << min(24, max(10, len(shingle).bit_length() + 1))
    bucket = (shingle >> np.uint64(40)).astype(np.int64) % buckets
    common = np.minimum(np.bincount(bucket, minlength=buckets)[bucket], 255).astype(np.uint64)
    bits = np.uint64(max(1, len(texts)).bit_length())
    below = np.uint64(64) - bits
    token = (common << (below - np.uint64(8))) | (shingle >> (bits + np.uint64(8)))
    key = (owner.astype(np.uint64) << below) | token
    key.sort()
    key = key[np.append(True, key[1:] != key[:-1])] if len(key) else key
    return (key >> below).astype(np.int64), key & ((np.uint64(1) << below) - np.uint64(1))


def _hashes(texts: Sequence[str]) -> tuple[Ints, Tokens]:
    """The owner and the 64-bit hash of every run of WORDS words."""
    ids: defaultdict[str, int] = defaultdict(count().__next__)
    flat, lengths = array("Q"), []
    for text in texts:
        words = WORD.findall(text)
        lengths.append(len(words))
        flat.extend(map(ids.__getitem__, words))
    words_ = np.frombuffer(flat, np.uint64) if flat else np.zeros(0, np.uint64)
    owner = np.repeat(np.arange(len(texts)), lengths)
    runs = max(0, len(words_) - WORDS + 1)
    hashed = np.zeros(runs, np.uint64)
    for offset in range(WORDS):
        hashed = (hashed ^ (words_[offset : offset + runs] + np.uint64(1))) * MIX
        hashed ^= hashed >> np.uint64(29)
    hashed *= MIX
    whole = owner[:runs] == owner[len(owner) - runs :]
    return owner[:runs][whole], hashed[whole]


def _candidates(owner: Ints, token: Tokens) -> Iterator[Ints]:
    """Pairs of texts that share a token, in blocks: all pairs inside each group of equal tokens, i < j."""
    by_token = np.lexsort((owner, token))
    owner, token = owner[by_token], token[by_token]
    starts = np.flatnonzero(np.append(True, token[1:] != token[:-1])) if len(token) else np.zeros(0, np.int64)
    sizes = np.diff(np.append(starts, len(token)))
    for size in np.unique(sizes[sizes > 1]):
        left, right = np.triu_indices(size, 1)
        if size > CROWD:
            left, right = left[left < HEADS], right[left < HEADS]
        groups = starts[sizes == size]
        for some in np.array_split(groups, max(1, len(groups) * len(left) // (10 * CHUNK))):
            members = owner[some[:, None] + np.arange(size)]
            pairs = np.stack([members[:, left].ravel(), members[:, right].ravel()], axis=1)
            yield np.unique(pairs, axis=0)


def _chunks(pairs: Ints) -> Iterator[Ints]:
    for start in range(0, len(pairs), CHUNK):
        yield pairs[start : start + CHUNK]


def _jaccard(pairs: Ints, token: Tokens, start: Ints, size: Ints) -> npt.NDArray[np.float64]:
    """|A ∩ B| / |A ∪ B| of each pair."""
    shared = np.empty(len(pairs), np.int64)
    for row, (i, j) in enumerate(pairs):
        a, b = token[start[i] : start[i] + size[i]], token[start[j] : start[j] + size[j]]
        shared[row] = len(np.intersect1d(a, b, assume_unique=True))
    total = size[pairs].sum(axis=1)
    ratio: npt.NDArray[np.float64] = shared / (total - shared)
    return ratio
