"""The folded texts of all splits of a run in one list: duplicates within and across them are found once."""

from collections.abc import Mapping, Sequence

from heldout.data.duplicates import Match, find, fold_example, matches, repeats
from heldout.data.sources import Loaded
from heldout.records import Example


class Texts:
    """Where every example's text is. Split names here are those of the sources: a carved dev is part of "train"."""

    def __init__(self, loaded: Mapping[str, Loaded], excluded: Sequence[str] = ()) -> None:
        self.folds = list(excluded)
        self.excluded = list(range(len(excluded)))
        self.at: dict[str, dict[str, int]] = {}
        for name, split in loaded.items():
            self.at[name] = {example.id: len(self.folds) + n for n, example in enumerate(split.examples)}
            self.folds += [fold_example(example) for example in split.examples]
        self.similar = find(self.folds)

    def positions(self, source: str, examples: Sequence[Example]) -> list[int]:
        """The places of these examples of a source in ``folds``."""
        return [self.at[source][example.id] for example in examples]

    def folds_of(self, source: str, examples: Sequence[Example]) -> list[str]:
        """Their folded texts."""
        return [self.folds[position] for position in self.positions(source, examples)]

    def clusters_of(self, source: str, examples: Sequence[Example]) -> list[int]:
        """Equal numbers where exact and near duplicates join texts."""
        clusters: list[int] = self.similar.cluster[self.positions(source, examples)].tolist()
        return clusters

    def repeats(self, positions: Sequence[int]) -> dict[str, int]:
        """The counts of exact and near duplicates among these places."""
        return repeats(self.similar, positions)

    def matches(self, of: Sequence[int], among: Sequence[int]) -> list[Match | None]:
        """For each place of ``of``: whether its text stands "exact" or "near" among the others."""
        return matches(self.similar, of, among)
