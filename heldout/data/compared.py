"""Splits held against each other: what of a test stands in train, what repeats, and the ledger that says so."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from heldout.data.duplicates import Match, counted
from heldout.data.many import ManyTexts
from heldout.data.row_writer import marks_of
from heldout.data.rows import Rows
from heldout.data.sources import Loaded
from heldout.data.texts import Texts
from heldout.ledger import Ledger
from heldout.records import Example


def compared(loaded: Mapping[str, Loaded], texts: Texts, *, carved: bool) -> tuple[dict[str, Loaded], Ledger]:
    """Mark the texts that also stand in train, count duplicates within splits and between every two of them."""
    at = {
        name: texts.positions("train" if name == "dev" and carved else name, split.examples)
        for name, split in loaded.items()
    }
    splits, ledger = {}, Ledger()
    groups = marks_of(loaded["train"].examples)
    groups = np.unique(groups[groups > 0])
    for name, split in loaded.items():
        if name != "train":
            split = replace(split, examples=_marked(split.examples, texts.matches(at[name], at["train"])))
            shared = int(np.isin(marks_of(split.examples), groups).sum())
            split = split.noting({"of_a_group_that_is_in_train": shared})
        by_chance = {"near_duplicates_looked_for_by_minhash": len(at[name]) if isinstance(texts, ManyTexts) else 0}
        splits[name] = split.noting(texts.repeats(at[name]) | by_chance)
        ledger = ledger.with_split(name, splits[name].split())
    for first, second in combinations(loaded, 2):
        pairs = counted(texts.matches(at[second], at[first]))
        # That nothing of train or dev stands in a test is worth a line; that two tests share nothing is not.
        shown = {f"{first}/{second} {match}": n for match, n in pairs.items() if n or first in ("train", "dev")}
        ledger = ledger.with_overlap(shown)
    return splits, ledger


def _marked(examples: Sequence[Example], found: Sequence[Match | None]) -> Sequence[Example]:
    if isinstance(examples, Rows):
        return examples.marked(found)
    return tuple(
        example if match is None else replace(example, about={**example.about, "overlap": match})
        for example, match in zip(examples, found, strict=True)
    )
