"""The folded texts of all splits of a run in one list: duplicates within and across them are found once."""

from collections.abc import Mapping, Sequence

import numpy as np

from heldout.data.duplicates import Match, Similar, find, fold_example, fold_field, matches, repeats
from heldout.data.shingles import Ints
from heldout.data.sources import Loaded
from heldout.records import Example


class Texts:
    """Where every example's text is. Split names here are those of the sources: a carved dev is part of "train".

    With a ``key`` (a task's premise or passage) whole texts tell what is exactly the same, and keys what belongs
    together: near duplicates are looked for among keys alone, as two questions about one passage always look alike.
    """

    def __init__(self, loaded: Mapping[str, Loaded], excluded: Sequence[str] = (), *, key: str = "") -> None:
        self.key = key
        self.folds = list(excluded)
        self.excluded = list(range(len(excluded)))
        self.at: dict[str, dict[str, int]] = {}
        keys = list(excluded)
        for name, split in loaded.items():
            self.at[name] = {example.id: len(self.folds) + n for n, example in enumerate(split.examples)}
            self.folds += [fold_example(example) for example in split.examples]
            keys += [fold_field(example, key) for example in split.examples] if key else []
        self.similar = find(keys if key else self.folds)
        self.same = _same(self.folds) if key else self.similar.same

    def positions(self, source: str, examples: Sequence[Example]) -> list[int]:
        """The places of these examples of a source in ``folds``."""
        return [self.at[source][example.id] for example in examples]

    def folds_of(self, source: str, examples: Sequence[Example]) -> list[str]:
        """Their folded texts."""
        return [self.folds[position] for position in self.positions(source, examples)]

    def clusters_of(self, source: str, examples: Sequence[Example]) -> list[int]:
        """Equal numbers where exact and near duplicates join texts (or their keys)."""
        clusters: list[int] = self.similar.cluster[self.positions(source, examples)].tolist()
        return clusters

    def repeats(self, positions: Sequence[int]) -> dict[str, int]:
        """The counts of exact and near duplicates among these places; with a key, of exact ones only."""
        similar = Similar(self.same, self.similar.pairs, self.same) if self.key else self.similar
        return repeats(similar, positions)

    def matches(self, of: Sequence[int], among: Sequence[int]) -> list[Match | None]:
        """For each place of ``of``: whether its text stands "exact" or "near" among the others, or its key ("shared").

        Excluded texts are keys: what shares one of them is told from what repeats it.
        """
        found = matches(self.similar, of, among)
        if not self.key or list(among) == self.excluded:
            return found
        there = set(self.same[np.asarray(among, np.int64)].tolist())
        whole = [text in there for text in self.same[np.asarray(of, np.int64)].tolist()]
        return ["exact" if same else "shared" if key else None for same, key in zip(whole, found, strict=True)]


def _same(folds: Sequence[str]) -> Ints:
    """The position of each text's first occurrence among the distinct texts."""
    first: dict[str, int] = {}
    return np.fromiter((first.setdefault(text, len(first)) for text in folds), np.int64, len(folds))
