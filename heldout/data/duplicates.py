"""The same text twice: exactly, once case, white space and markup are folded, or nearly (heldout.data.shingles)."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from heldout.cache import cached
from heldout.data import shingles
from heldout.data.cleaning import clean
from heldout.data.shingles import Ints, near_pairs
from heldout.records import Example

#: Fewer texts are compared in a tenth of a second.
KEPT_FROM = 2000
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,100}>")
#: "shared": another question about the same material (its premise, its passage).
Match = Literal["exact", "near", "shared"]


def fold(text: str) -> str:
    """A text with case, white space and markup (tags, character entities) folded: equal folds are the same text.

    >>> fold("A  <b>Fine</b> film.<br />Go &amp; see!")
    'a fine film. go & see!'
    """
    if "<" in text:
        text = TAG.sub(" ", text)
    return " ".join(clean(text).casefold().split())


def fold_example(example: Example) -> str:
    """The folded text of an example; several fields are folded one by one and stand on lines of their own."""
    return "\n".join(fold_field(example, field) for field in sorted(example.text))


def fold_field(example: Example, field: str) -> str:
    """One folded field of an example; a list of words is folded as they stand side by side."""
    value = example.text[field]
    return fold(" ".join(value) if isinstance(value, list | tuple) else str(value))


@dataclass(frozen=True)
class Similar:
    """For n texts: ``same``, shape (n,), equal for exact duplicates; ``pairs``, shape (m, 2), near duplicates among the
    values of ``same``; ``cluster``, shape (n,), equal for all that a chain of exact and near duplicates joins."""

    same: Ints
    pairs: Ints
    cluster: Ints


def find(folds: Sequence[str]) -> Similar:
    """Exact and near duplicates among folded texts; IMDb's 50,000 reviews take 9 s on one core."""
    first: dict[str, int] = {}
    same = np.fromiter((first.setdefault(text, len(first)) for text in folds), np.int64, len(folds))
    pairs = kept_pairs(list(first))
    joined = connect(len(first), pairs.tolist())
    return Similar(same, pairs, np.array(joined, np.int64)[same] if len(folds) else same)


def kept_pairs(texts: Sequence[str]) -> Ints:
    """``near_pairs``, which of KEPT_FROM texts or more are kept in the cache: a second start does not look again."""
    if len(texts) < KEPT_FROM:
        return near_pairs(texts)
    digest = hashlib.sha256(Path(shingles.__file__).read_bytes())
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        # With its length, so that no two lists are one string.
        digest.update(b"%d\n%s" % (len(content), content))
    found: Ints | None = cached(
        "near",
        digest.hexdigest(),
        lambda new: np.save(new / "pairs.npy", near_pairs(texts)),
        lambda folder: np.load(folder / "pairs.npy", allow_pickle=False),
    )
    return near_pairs(texts) if found is None else found


def connect(n: int, pairs: Iterable[Sequence[int]]) -> list[int]:
    """The connected components of 0…n−1 under pairs, each named by its smallest member (union-find)."""
    parent = list(range(n))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for left, right in pairs:
        a, b = root(left), root(right)
        parent[max(a, b)] = min(a, b)
    return [root(node) for node in range(n)]


def repeats(similar: Similar, members: Sequence[int] | Ints) -> dict[str, int]:
    """Among members: texts that repeat an earlier one exactly, distinct texts beyond the first of their near-cluster.

    So n − exact − near is the number of texts that have nothing to do with each other. Clusters are those of all
    texts: two members count as near where a chain joins them through a text outside.
    """
    chosen = np.asarray(members, np.int64)
    distinct = len(np.unique(similar.same[chosen]))
    clusters = len(np.unique(similar.cluster[chosen]))
    return {"exact_duplicates": len(chosen) - distinct, "near_duplicates": distinct - clusters}


def matches(similar: Similar, of: Sequence[int] | Ints, among: Sequence[int] | Ints) -> list[Match | None]:
    """For each of ``of``: whether its text stands exactly, or else nearly, among ``among``."""
    there = np.zeros(int(similar.same.max(initial=-1)) + 1, bool)
    there[similar.same[np.asarray(among, np.int64)]] = True
    near = np.zeros_like(there)
    left, right = similar.pairs.T
    near[right[there[left]]] = True
    near[left[there[right]]] = True
    return [
        "exact" if there[text] else "near" if near[text] else None for text in similar.same[np.asarray(of, np.int64)]
    ]


def counted(found: Iterable[Match | None]) -> dict[Match, int]:
    """How many matched exactly, how many nearly, and, where there are any, how many only share their material."""
    listed = list(found)
    shared = listed.count("shared")
    counts: dict[Match, int] = {"exact": listed.count("exact"), "near": listed.count("near")}
    return counts | ({"shared": shared} if shared else {})
