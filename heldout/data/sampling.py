"""Samples that depend on seed and text alone: not on the order of a file, its ids, nor the hash seed of the process."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

L = TypeVar("L")


def order(seed: int, text: str) -> int:
    """A text's place in the order of a seed: 64 bits of BLAKE2b."""
    content = f"{seed}\n{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big")


def quotas(counts: Mapping[L, int], size: int) -> dict[L, int]:
    """``size`` shared out in proportion to counts, by largest remainders; nobody gets more than its count.

    Ties go to the larger count, then to the one that stands first. Every key gets at least one where size allows it.

    >>> quotas({"negative": 30, "positive": 60, "neutral": 1}, 10)
    {'negative': 3, 'positive': 6, 'neutral': 1}
    """
    total = sum(counts.values())
    size = min(size, total)
    least = 1 if size >= len(counts) else 0
    shares = {key: max(least, count * size // total) if count else 0 for key, count in counts.items()}
    left = {key: (counts[key] * size % total, counts[key]) for key in counts}
    while sum(shares.values()) < size:
        open_ = [key for key in counts if shares[key] < counts[key]]
        key = max(open_, key=lambda key: left[key])
        shares[key] += 1
        left[key] = (left[key][0] - total, counts[key])
    while sum(shares.values()) > size:
        key = max(shares, key=lambda key: (shares[key], -left[key][0]))
        shares[key] -= 1
    return shares


def sample(keys: Sequence[int], labels: Sequence[str], size: int) -> list[int]:
    """The positions of ``size`` entries in file order, stratified by label: of each label those with the smallest keys.

    Equal keys (the same text twice) keep their order in the file.
    """
    by_label: dict[str, list[int]] = {}
    for position in sorted(range(len(keys)), key=lambda position: (keys[position], position)):
        by_label.setdefault(labels[position], []).append(position)
    share = quotas({label: len(positions) for label, positions in by_label.items()}, size)
    return sorted(position for label, positions in by_label.items() for position in positions[: share[label]])
