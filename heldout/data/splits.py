"""Train and dev out of one set: stratified by label, seeded, whatever belongs together on one side.

What belongs together: one group (a movie), one pair, exact and near duplicates, and chains of these. Which unit goes
where is decided by seed, text and group; labels only say how many of each dev takes, and their names say nothing.
"""

from collections import Counter
from collections.abc import Sequence

from heldout.cases import CHANGED, EXPECT, ORIGINAL
from heldout.data.duplicates import connect, find, fold_example
from heldout.data.golds import stratum
from heldout.data.rows import Rows
from heldout.data.sampling import order, quotas, sample
from heldout.errors import Refused
from heldout.records import Example


def carve(
    examples: Sequence[Example],
    size: int,
    *,
    seed: int,
    folds: Sequence[str] | None = None,
    clusters: Sequence[int] | None = None,
) -> tuple[list[Example], list[Example]]:
    """Split examples into (the rest, about ``size``), both in their order; exactly ``size`` where units allow it.

    ``folds`` and ``clusters`` (heldout.data.duplicates) save finding them again. An example of every label stays in the
    rest; Refused where no unit fits.
    """
    folds = [fold_example(example) for example in examples] if folds is None else folds
    clusters = find(folds).cluster.tolist() if clusters is None else clusters
    keys = [order(seed, text) for text in folds]
    # A unit stands where the first of its texts does, so that rows and ids play no part.
    units = sorted(
        (sorted(unit, key=keys.__getitem__) for unit in _units(examples, clusters)), key=lambda unit: keys[unit[0]]
    )
    labels = [stratum(example) for example in examples]
    taken = _take(units, labels, min(size, len(examples) - 1))
    if not taken:
        largest = max(map(len, units), default=0)
        raise Refused(
            f"no dev split of {size} can be carved from {len(examples)} examples in {len(units)} groups of texts that "
            f"belong together (the largest has {largest}); give --dev SOURCE or another --dev-size"
        )
    rest = [example for position, example in enumerate(examples) if position not in taken]
    return rest, [examples[position] for position in sorted(taken)]


def limited(examples: Sequence[Example], size: int, *, seed: int, folds: Sequence[str] | None = None) -> list[Example]:
    """``size`` of the examples in their order: the first of each label in the seed's order of texts, in proportion.

    Test cases are taken by whole pairs, as many as fit (the smallest pair where none does): a change is nothing without
    its original.
    """
    if size < 1:
        raise Refused(f"a limit of {size} examples leaves nothing; give 1 or more")
    folds = [fold_example(example) for example in examples] if folds is None else folds
    keys = [order(seed, text) for text in folds]
    if are_cases(examples):
        return _whole_pairs(examples, keys, size)
    return [examples[position] for position in sample(keys, [stratum(example) for example in examples], size)]


def are_cases(examples: Sequence[Example]) -> bool:
    """Whether a set has test cases; a column role of one's own (agent, customer) makes none."""
    return not isinstance(examples, Rows) and any(
        example.about.get("role") in (ORIGINAL, CHANGED) or example.about.get("expect") in EXPECT
        for example in examples
    )


def _whole_pairs(examples: Sequence[Example], keys: Sequence[int], size: int) -> list[Example]:
    # As in carve, the place of a row says nothing.
    units = sorted(_units(examples, range(len(examples))), key=lambda unit: min(keys[position] for position in unit))
    smallest = min(units, key=len)
    taken: list[int] = []
    for unit in units:
        taken += unit if len(taken) + len(unit) <= size else []
    return [examples[position] for position in sorted(taken or smallest)]


def _units(examples: Sequence[Example], clusters: Sequence[int]) -> list[list[int]]:
    """Positions that belong together: joined by cluster, group or pair."""
    first: dict[tuple[str, str], int] = {}
    joins = []
    for position, example in enumerate(examples):
        marks = [("cluster", str(clusters[position]))]
        marks += [(field, str(example.about[field])) for field in ("group", "pair") if field in example.about]
        joins += [(first.setdefault(mark, position), position) for mark in marks]
    units: dict[int, list[int]] = {}
    for position, root in enumerate(connect(len(examples), joins)):
        units.setdefault(root, []).append(position)
    return list(units.values())


def _take(units: Sequence[Sequence[int]], labels: Sequence[str], size: int) -> set[int]:
    """Units in order while every label has room, then, where that falls short, those that fit by number alone.

    Either way an example of every label stays behind.
    """
    rest = _counts(units, labels)
    room = Counter(quotas(rest, size))
    taken: set[int] = set()
    for stratified in (True, False):
        for unit in units:
            wants = Counter(labels[position] for position in unit)
            fits = all(room[label] >= n for label, n in wants.items()) if stratified else len(taken) + len(unit) <= size
            if unit[0] not in taken and fits and all(rest[label] > n for label, n in wants.items()):
                room.subtract(wants)
                rest.subtract(wants)
                taken.update(unit)
    return taken


def _counts(units: Sequence[Sequence[int]], labels: Sequence[str]) -> Counter[str]:
    """Examples a label, in the units' order, so that ties between labels are broken by text and not by name."""
    return Counter(labels[position] for unit in units for position in unit)
