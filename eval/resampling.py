"""The bootstrap over whole groups: one resampling serves every metric, slice and variant.

A replicate is a vector of counts: how often each unit (an example, or a whole group) was drawn. With metrics as sums
of columns, replicates @ columns gives the sums of all replicates at once; a slice's replicate is what falls into it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from heldout.eval.statistics import Sampling
from heldout.eval.table import FloatArray, IntArray

#: Random weights of so many replicates (rows) of units in chunks of these sizes: of each chunk (R, size) float32.
Draw = Callable[[np.random.Generator, int, Sequence[int]], Iterator[FloatArray]]
#: More units than WHOLE are drawn in chunks.
WHOLE, CHUNK = 65_536, 16_384
#: Counts held at once: 4M float32 are 16 MB, their drawing takes another 64.
BLOCK = 4_000_000
#: Columns are read so many at once (of float64 a cache line), and so many of their rows: 256 KB.
SLAB, ROWS = 8, 4096


@dataclass(frozen=True)
class Statistic:
    """One number to resample: its columns (m, k) for m examples, and its value from their sums (R, k) → (R,)."""

    columns: FloatArray
    value: Callable[[FloatArray], FloatArray]


class Bundle:
    """Statistics of the same rows: their columns side by side, summed by unit, so that one product serves them all.

    A column that is mostly 0 (one bin of many) is kept as the places of its other values.
    """

    def __init__(self, rows: IntArray, statistics: Iterable[Statistic], sampling: Sampling) -> None:
        owners = sampling.owners(rows)
        # Of units with one row each nothing is to be summed; that is most often so.
        alone = bool((np.diff(owners) > 0).all())
        self.units, owner = (owners, owners) if alone else np.unique(owners, return_inverse=True)
        self.values: list[Callable[[FloatArray], FloatArray]] = []
        widths, holds = [], np.zeros(len(self.units), dtype=bool)
        # Equal columns (answers before and after a temperature, counts, empty bins) are kept once: of 1,400 columns
        # for 150 labels and a temperature half are left.
        kept: dict[bytes, int] = {}
        self.source: list[int] = []
        self._columns: list[tuple[IntArray | None, FloatArray]] = []
        self._all: FloatArray | None = None
        for statistic in statistics:
            self.values.append(statistic.value)
            widths.append(statistic.columns.shape[1])
            for summed in _alone(statistic.columns) if alone else _by_unit(statistic.columns, owner, len(self.units)):
                places, values = _packed(summed)
                digest = blake2b(values.tobytes(), digest_size=16)
                digest.update(b"" if places is None else places.tobytes())
                known = len(kept)
                self.source.append(kept.setdefault(digest.digest(), known))
                if len(kept) > known:
                    holds[slice(None) if places is None else places] |= values != 0
                    self._columns.append((places, values))
            del statistic  # 330 MB of a million rows of the AURC, while the next one's are made
        self.edges = np.cumsum(widths)
        #: How many units hold anything at all: of a part's entities many sentences have none.
        self.filled = int(holds.sum())

    @property
    def width(self) -> int:
        """How many columns are kept."""
        return len(self._columns)

    def sums(self, weights: FloatArray, first: int) -> FloatArray:
        """The kept columns summed under these weights (R, m) of the m units from ``first`` on: (R, columns)."""
        low, high = (int(place) for place in np.searchsorted(self.units, [first, first + weights.shape[1]]))
        mine = weights if high - low == weights.shape[1] else np.take(weights, self.units[low:high] - first, axis=1)
        product: FloatArray = mine @ self._unpacked(low, high).T
        return product

    def _unpacked(self, low: int, high: int) -> FloatArray:
        """The kept columns as rows (columns, high − low), of these places; those of all places are kept so.

        All may lie in one chunk of several: the others then ask for none.
        """
        if self._all is not None and high - low == len(self.units):
            return self._all
        block = np.zeros((self.width, high - low), dtype=np.float32)
        for row, (places, values) in zip(block, self._columns, strict=True):
            if places is None:
                row[:] = values[low:high]
            else:
                a, b = np.searchsorted(places, [low, high])
                row[places[a:b] - low] = values[a:b]
        if high - low == len(self.units):
            self._all = block
        return block

    def replicate(self, sums: FloatArray) -> list[FloatArray]:
        """The values of each statistic from sums of the kept columns (R, columns)."""
        parts = np.split(sums[:, self.source], self.edges[:-1], axis=1)
        return [value(part) for value, part in zip(self.values, parts, strict=True)]


def _alone(columns: FloatArray) -> Iterator[FloatArray]:
    """The columns of an array (m, k), each as float32 (m,).

    One by one they would be read a cache line a value: of a million rows 80 ms a column, in slabs a tenth.
    """
    rows, width = columns.shape
    for first in range(0, width, SLAB):
        slab = np.empty((min(SLAB, width - first), rows), dtype=np.float32)
        for start in range(0, rows, ROWS):
            slab[:, start : start + ROWS] = columns[start : start + ROWS, first : first + SLAB].T
        yield from slab


def _by_unit(columns: FloatArray, owner: IntArray, units: int) -> Iterator[FloatArray]:
    """The columns of an array (m, k), each summed by the unit that its rows are of, as float32 (units,)."""
    for column in columns.T:
        yield np.bincount(owner, column, units).astype(np.float32)


def _packed(column: FloatArray) -> tuple[IntArray | None, FloatArray]:
    """A column's own copy, or the places and values that are not 0 where these take less room."""
    places = np.flatnonzero(column)
    return (None, column.copy()) if 2 * len(places) >= len(column) else (places.astype(np.int32), column[places])


def bootstrap(bundles: Sequence[Bundle], sampling: Sampling) -> list[list[FloatArray]]:
    """The replicates (R,) of every statistic of every bundle, all from one and the same resampling."""
    return resample(bundles, sampling, _counts, sampling.stream)


def resample(bundles: Sequence[Bundle], sampling: Sampling, draw: Draw, stream: int) -> list[list[FloatArray]]:
    """The replicates (R,) of every statistic of every bundle under weights that ``draw`` gives to the units.

    Units are drawn all at once up to WHOLE of them, else in chunks: the columns of a million texts would not fit.
    """
    rng = np.random.default_rng([sampling.seed, stream])
    units = sampling.units
    sizes = [units] if units <= WHOLE else [min(CHUNK, units - start) for start in range(0, units, CHUNK)]
    rows = max(1, BLOCK // sizes[0])
    blocks: list[list[list[FloatArray]]] = []
    # numpy lets go of Python while it draws and multiplies, so threads are enough.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, sampling.replicates, rows):
            weights = draw(rng, min(rows, sampling.replicates - start), sizes)
            sums = _summed(pool, bundles, weights)
            blocks.append([bundle.replicate(found) for bundle, found in zip(bundles, sums, strict=True)])
    return [
        [np.concatenate([block[b][s] for block in blocks]) for s in range(len(bundle.values))]
        for b, bundle in enumerate(bundles)
    ]


def _summed(pool: ThreadPoolExecutor, bundles: Sequence[Bundle], chunks: Iterator[FloatArray]) -> list[FloatArray]:
    """Each bundle's columns summed under weights that come chunk by chunk; the next is drawn while one is summed.

    The chunks are added in their order, so that any number of threads gives the same to the last bit.
    """
    sums: list[FloatArray] = [np.zeros((1, bundle.width), dtype=np.float32) for bundle in bundles]
    first, running = 0, list[Future[FloatArray]]()
    for weights in chunks:
        # Nothing runs before the first chunk.
        sums = [before + job.result() for before, job in zip(sums, running, strict=True)] if running else sums
        running = [pool.submit(bundle.sums, weights, first) for bundle in bundles]
        first += weights.shape[1]
    return [before + job.result() for before, job in zip(sums, running, strict=True)]


def _counts(rng: np.random.Generator, rows: int, sizes: Sequence[int]) -> Iterator[FloatArray]:
    """How often each unit is drawn in each of ``rows`` replicates of as many draws, float32, chunk by chunk.

    How many draws fall into each chunk is multinomial, and inside one they are uniform: the same as all at once.
    """
    units = sum(sizes)
    shares = np.array(sizes) / units
    totals = np.full((rows, 1), units) if len(sizes) == 1 else rng.multinomial(units, shares, size=rows)
    for size, of_chunk in zip(sizes, totals.T, strict=True):
        counts = np.empty((rows, size), dtype=np.float32)
        for row, n in zip(counts, of_chunk, strict=True):
            # The same numbers as int64 would be, of which a block took six times as long (fresh pages).
            row[:] = np.bincount(rng.integers(0, size, size=n, dtype=np.int32), minlength=size)
        yield counts
