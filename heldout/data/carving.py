"""Which rows become dev, over arrays: the rule of splits.py for a million rows, whose units are no lists of lists."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heldout.data.duplicates import Match
from heldout.data.sampling import quotas
from heldout.errors import Refused

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]


def components(n: int, columns: Sequence[Ints], pairs: Ints | None = None) -> Ints:
    """The smallest member that each of 0…n−1 is joined to: by equal numbers in a column (negative: none), or a pair."""
    found = np.arange(n)
    while True:
        before = found.copy()
        for column in columns:
            least = np.full(int(column.max(initial=-1)) + 1, n)
            some = column >= 0
            np.minimum.at(least, column[some], found[some])
            found[some] = least[column[some]]
        if pairs is not None and len(pairs):
            least = found[pairs].min(axis=1)
            for side in pairs.T:
                np.minimum.at(found, side, least)
        # To the one that the smallest member is joined to: long chains end after few rounds.
        found = found[found]
        if np.array_equal(found, before):
            return found


def numbered(marks: Keys) -> Ints:
    """Marks as small numbers, −1 where a mark is 0 (none)."""
    numbers = np.unique(marks, return_inverse=True)[1].astype(np.int64)
    numbers[marks == 0] = -1
    return numbers


def carved(keys: Keys, units: Ints, codes: Ints, size: int) -> NDArray[np.bool_]:
    """Which rows are dev's, about ``size`` of them, as ``splits.carve`` takes them; Refused where no unit fits.

    ``keys`` are the seed's order of texts, ``units`` the components that stay together, ``codes`` the labels.
    """
    first = np.full(len(keys), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(first, units, keys)
    order = np.lexsort((keys, units, first[units]))
    sorted_ = units[order]
    starts = np.flatnonzero(np.append(True, sorted_[1:] != sorted_[:-1]))
    taken = _take(codes[order], starts, min(size, len(keys) - 1))
    if not taken.any():
        largest = int(np.diff(np.append(starts, len(keys))).max())
        raise Refused(
            f"no dev split of {size} can be carved from {len(keys)} examples in {len(starts)} groups of texts that "
            f"belong together (the largest has {largest}); give --dev SOURCE or another --dev-size"
        )
    found = np.zeros(len(keys), bool)
    found[order[taken]] = True
    return found


def _take(codes: Ints, starts: Ints, size: int) -> NDArray[np.bool_]:
    rest = _counts(codes)
    room = Counter(quotas(rest, size))
    taken, left = np.zeros(len(codes), bool), size
    for stratified in (True, False):
        for start, end in zip(starts, np.append(starts[1:], len(codes)), strict=True):
            if left <= 0:
                return taken
            if taken[start] or end - start > left:
                continue
            wants = Counter(codes[start:end].tolist())
            fits = not stratified or all(room[label] >= n for label, n in wants.items())
            if fits and all(rest[label] > n for label, n in wants.items()):
                room.subtract(wants)
                rest.subtract(wants)
                taken[start:end] = True
                left -= int(end - start)
    return taken


def sampled(keys: Keys, codes: Ints, size: int) -> Ints:
    """The positions of ``size`` rows in file order, as ``sampling.sample`` takes them: of each label the first keys."""
    order = np.lexsort((np.arange(len(keys)), keys))
    share = quotas(_counts(codes[order]), size)
    kept = [order[codes[order] == label][:n] for label, n in share.items()]
    return np.sort(np.concatenate(kept))


def _counts(codes: Ints) -> Counter[int]:
    """How many of each, by first appearance: ties between labels are broken by text and not by name."""
    values, first, counts = np.unique(codes, return_index=True, return_counts=True)
    by_text = np.argsort(first)
    return Counter(dict(zip(values[by_text].tolist(), counts[by_text].tolist(), strict=True)))


def matched(there: NDArray[np.bool_], near: NDArray[np.bool_]) -> list[Match | None]:
    """What was found of each: exactly, or else nearly."""
    return ["exact" if exact else "near" if nearly else None for exact, nearly in zip(there, near, strict=True)]
