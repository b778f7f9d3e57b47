"""Duplicates among all splits of a run where one is too large to be held: Texts over fingerprints instead of texts.

Near duplicates are candidates of MinHash, 99 of 100 at a Jaccard similarity of 0.5 (minhash.py), and were then compared
as those of Texts are: none is reported that is none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from heldout.data import carving, minhash
from heldout.data.duplicates import Similar, fold_example, fold_field
from heldout.data.rows import Array, Rows
from heldout.data.sampling import order
from heldout.data.shingles import THRESHOLD
from heldout.data.sources import Loaded
from heldout.data.texts import Texts
from heldout.records import Example

Keys = NDArray[np.uint64]


def orders(examples: Sequence[Example], seed: int) -> Keys:
    """The places of the examples' texts in the order of a seed; a million texts on disk take 20 s."""
    return np.fromiter((order(seed, fold_example(example)) for example in examples), np.uint64, len(examples))


class ManyTexts(Texts):
    """As Texts; the texts of splits on disk are read again where two are compared."""

    def __init__(self, loaded: Mapping[str, Loaded], excluded: Sequence[str] = (), *, key: str = "") -> None:
        self.key = key
        self.excluded = list(range(len(excluded)))
        self._excluded = excluded
        self._splits = {name: split.examples for name, split in loaded.items()}
        self._start: dict[str, int] = {}
        self.at = {}
        at = len(excluded)
        for name, examples in self._splits.items():
            self._start[name] = at
            if not isinstance(examples, Rows):
                self.at[name] = {example.id: at + n for n, example in enumerate(examples)}
            at += len(examples)
        keys = self._prints("key", key)
        self.similar = self._similar(keys)
        self.same = (
            np.unique(self._prints("print", ""), return_inverse=True)[1].astype(np.int64)
            if key
            else (self.similar.same)
        )

    def positions(self, source: str, examples: Sequence[Example]) -> list[int]:
        """The places of these examples of a source."""
        if isinstance(examples, Rows):
            # A sample of a test or dev is all that is compared of it: its rows have other numbers than places.
            whole = self._splits[source]
            assert isinstance(whole, Rows)
            places: list[int] = (self._start[source] + np.searchsorted(whole.rows, examples.rows)).tolist()
            return places
        return super().positions(source, examples)

    def folds_of(self, source: str, examples: Sequence[Example]) -> list[str]:
        """The folded texts of examples of a source."""
        return [fold_example(example) for example in examples]

    def _prints(self, name: str, key: str) -> Keys:
        """The fingerprints of all texts (or of the key's), excluded ones first."""
        parts: list[Array] = [_numbers(self._excluded)]
        for examples in self._splits.values():
            parts.append(examples.column(name) if isinstance(examples, Rows) else _numbers(_folds(examples, key)))
        return np.concatenate(parts)

    def _similar(self, keys: Keys) -> Similar:
        _, first, same = np.unique(keys, return_index=True, return_inverse=True)
        pairs = minhash.candidates(self._bands(first))
        if len(pairs):
            pairs = minhash.similar(pairs, self._wanted(first, np.unique(pairs)), THRESHOLD)
        cluster = carving.components(len(first), [], pairs)
        return Similar(same.astype(np.int64), pairs, cluster[same])

    def _bands(self, first: Array) -> Iterator[Keys]:
        """MinHash keys band by band, of the first text of each fingerprint; all at once they are 128 bytes a text."""
        held = {
            name: _keys(_folds(some, self.key)) for name, some in self._splits.items() if not isinstance(some, Rows)
        }
        excluded = _keys(self._excluded)
        for band in range(minhash.BANDS):
            parts: list[Array] = [excluded[:, band]]
            for name, examples in self._splits.items():
                parts.append(examples.column(f"band-{band:02}") if isinstance(examples, Rows) else held[name][:, band])
            yield np.concatenate(parts)[first]

    def _wanted(self, first: Array, wanted: Array) -> Iterator[str]:
        """The texts in the order of their fingerprints, "" where one is not compared."""
        asked = np.zeros(len(first), bool)
        asked[wanted] = True
        for number, place in enumerate(first.tolist()):
            yield self._text(place) if asked[number] else ""

    def _text(self, place: int) -> str:
        """The folded text (or key) at a place of all."""
        if place < len(self._excluded):
            return self._excluded[place]
        name = max((name for name, start in self._start.items() if start <= place), key=self._start.__getitem__)
        example = self._splits[name][place - self._start[name]]
        return fold_field(example, self.key) if self.key else fold_example(example)


def _folds(examples: Iterable[Example], key: str) -> list[str]:
    return [fold_field(example, key) if key else fold_example(example) for example in examples]


def _numbers(folds: Sequence[str]) -> Keys:
    return np.fromiter(map(minhash.fingerprint, folds), np.uint64, len(folds))


def _keys(folds: Sequence[str]) -> Keys:
    blocks = [minhash.keys(folds[start : start + minhash.BLOCK]) for start in range(0, len(folds), minhash.BLOCK)]
    return np.concatenate([np.zeros((0, minhash.BANDS), np.uint64), *blocks])
