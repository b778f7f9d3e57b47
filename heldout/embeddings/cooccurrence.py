"""How often two words stand near each other, each time weighted 1/distance, counted in bounded memory.

Sentences stream by in blocks; a block's pairs are summed by key, the sums are merged, and what exceeds the memory
allowed goes to disk as a sorted shard. The shards are merged by ranges of keys, and the pairs dealt out at random into
files that training reads one at a time: a shuffle of more pairs than fit into memory (as GloVe's own tools do).

Counts are symmetric: X_ij gets 1/d for each two places d words apart, in either order; X_ii gets 2/d.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from heldout.embeddings.vectors import Ints
from heldout.runs import atomic

Doubles = npt.NDArray[np.float64]
#: One entry of the table: row, column, count.
ENTRY = np.dtype([("i", "<i4"), ("j", "<i4"), ("x", "<f8")])
#: Words of a block: with a window of 10 its pairs take about 160 MB while they are summed.
BLOCK = 500_000
#: Entries of a file that training reads at once.
PART = 1_000_000
Sums = tuple[Ints, Doubles]


@dataclass
class Counter:
    """Sums of pairs by key, low row * words + high row, sorted; ``limit`` of them in memory, the rest in shards."""

    folder: Path
    limit: int
    held: list[Sums] = field(default_factory=list)
    shards: list[Path] = field(default_factory=list)

    def add(self, keys: Ints, values: Doubles) -> None:
        """Add pairs, summed where a key stands more than once."""
        self.held.append(summed(keys, values))
        if sum(len(keys) for keys, _ in self.held) > self.limit:
            merged = merge(self.held)
            # Frequent pairs come in every block: merging alone may free enough.
            self.held = [merged]
            if 2 * len(merged[0]) > self.limit:
                self._spill(*merged)

    def _spill(self, keys: Ints, values: Doubles) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"shard-{len(self.shards):04}"
        for array, suffix in ((keys, ".keys.npy"), (values, ".values.npy")):
            np.save(path.with_suffix(suffix), array)
        self.shards.append(path)
        self.held = []

    def ranges(self) -> Iterator[Sums]:
        """All sums, in ranges of ascending keys of at most about ``limit`` entries."""
        kept = [merge(self.held)] if self.held else []
        kept += [(_mapped(path, ".keys.npy"), _mapped(path, ".values.npy")) for path in self.shards]
        total = sum(len(keys) for keys, _ in kept)
        ranges = -(-total // self.limit)
        # Quantiles of the largest shard's keys cut all of them into pieces of much the same size.
        largest = max((keys for keys, _ in kept), key=len)
        cuts = [largest[len(largest) * at // ranges] for at in range(1, ranges)]
        bounds = [np.array([0, *np.searchsorted(keys, cuts), len(keys)]) for keys, _ in kept]
        for at in range(ranges):
            pieces = zip(kept, (slice(b[at], b[at + 1]) for b in bounds), strict=True)
            yield merge([(keys[part], values[part]) for (keys, values), part in pieces])


def summed(keys: Ints, values: Doubles) -> Sums:
    """Distinct keys in order, and the sum of the values of each."""
    distinct, inverse = np.unique(keys, return_inverse=True)
    return distinct, np.asarray(np.bincount(inverse, values, len(distinct)), np.float64)


def merge(sums: list[Sums]) -> Sums:
    """Several sums as one."""
    if len(sums) == 1:
        return sums[0]
    return summed(np.concatenate([keys for keys, _ in sums]), np.concatenate([values for _, values in sums]))


def _mapped(path: Path, suffix: str) -> Any:
    return np.load(path.with_suffix(suffix), mmap_mode="r")


def count(sentences: Iterable[list[str]], index: Mapping[str, int], window: int, folder: Path, limit: int) -> Counter:
    """Count the pairs of a corpus; words without a row are taken out first, as GloVe's and word2vec's tools do."""
    counter = Counter(folder, limit)
    for rows, sentence in _blocks(sentences, index):
        for distance in range(1, window + 1):
            left, right = rows[:-distance], rows[distance:]
            inside = sentence[:-distance] == sentence[distance:]
            low, high = np.minimum(left, right)[inside], np.maximum(left, right)[inside]
            if len(low):
                counter.add(low * len(index) + high, np.full(len(low), 1 / distance))
    return counter


def _blocks(sentences: Iterable[list[str]], index: Mapping[str, int]) -> Iterator[tuple[Ints, Ints]]:
    """Rows of words, and the number of the sentence each stands in; a sentence is whole in one block."""
    rows, lengths, size = list[int](), list[int](), 0
    for sentence in sentences:
        found = [index[word] for word in sentence if word in index]
        rows += found
        lengths.append(len(found))
        size += len(found)
        if size >= BLOCK:
            yield np.array(rows, np.int64), np.repeat(np.arange(len(lengths)), lengths)
            rows, lengths, size = [], [], 0
    if rows:
        yield np.array(rows, np.int64), np.repeat(np.arange(len(lengths)), lengths)


def deal(counter: Counter, words: int, folder: Path, seed: int) -> int:
    """Write the whole symmetric table as part-N files of ENTRY records, at random; returns how many files."""
    generator = np.random.default_rng([seed, 0])
    known = sum(len(keys) for keys, _ in counter.held) + sum(len(_mapped(p, ".keys.npy")) for p in counter.shards)
    parts = max(1, -(-2 * known // PART))
    with atomic(folder) as temporary:
        temporary.mkdir()
        for keys, values in counter.ranges():
            table = _mirrored(keys, values, words)
            part = generator.integers(parts, size=len(table))
            for number in np.unique(part):
                with (temporary / f"part-{number:05}").open("ab") as file:
                    table[part == number].tofile(file)
    for shard in counter.shards:
        for suffix in (".keys.npy", ".values.npy"):
            shard.with_suffix(suffix).unlink()
    return parts


def _mirrored(keys: Ints, values: Doubles, words: int) -> npt.NDArray[np.void]:
    low, high = keys // words, keys % words
    apart = low != high
    table = np.empty(len(keys) + int(apart.sum()), ENTRY)
    table["i"] = np.concatenate([low, high[apart]])
    table["j"] = np.concatenate([high, low[apart]])
    table["x"] = np.concatenate([np.where(apart, values, 2 * values), values[apart]])
    return table


def parts(folder: Path) -> list[Path]:
    """The files that ``deal`` wrote, in order."""
    return sorted(folder.glob("part-*"))


def read_part(path: Path) -> npt.NDArray[np.void]:
    """The entries of one file."""
    return np.fromfile(path, ENTRY)
