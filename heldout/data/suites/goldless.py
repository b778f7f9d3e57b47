"""Changes without a label, as a set of their own: whether an answer flipped, or a score moved, needs no gold.

    checklist          the cases of a source that have a label
    checklist-changes  its changes (inv, dir) that have none, and what they are compared with

A set has gold for every example or for none, so that no share is of examples that it cannot be about.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from heldout.cases import ORIGINAL, originals
from heldout.data.rows import Rows
from heldout.data.sources import Loaded
from heldout.errors import Refused
from heldout.records import Example

CHANGES = "-changes"


def by_gold(loaded: Mapping[str, Loaded]) -> dict[str, Loaded]:
    """The sets by name, what has no gold in one named NAME-changes; where nothing of a set has, it keeps its name.

    The original of a pair with gold stands in both, where its changes have none: in the latter without it.
    Refused where that name is taken.
    """
    found: dict[str, Loaded] = {}
    for name, split in loaded.items():
        if isinstance(split.examples, Rows):
            # A million rows are no test cases.
            found[name] = split
            continue
        with_gold = [example for example in split.examples if example.gold is not None]
        if len(with_gold) == len(split.examples):
            found[name] = split
            continue
        apart = split.keep(_changes(split.examples))
        if not with_gold:
            found[name] = apart
            continue
        other = name + CHANGES
        if other in loaded:
            raise Refused(f"--data {other}=…: this is what the changes of {name} without a label are called; rename it")
        found[name] = split.keep(with_gold).noting(
            {"scored_apart_without_a_label": len(split.examples) - len(with_gold)}
        )
        found[other] = apart
    return found


def _changes(examples: Sequence[Example]) -> list[Example]:
    """Those without gold, with the originals of their pairs, whose gold is left out.

    Refused, before a model is asked, for one whose pair has no other text.
    """
    rows = originals(example.about for example in examples)
    needed = dict[int, None]()
    for row, example in enumerate(examples):
        if example.gold is None:
            needed |= {row: None, rows[str(example.about["pair"])]: None}
        if example.gold is None and "expect" in example.about and rows[str(example.about["pair"])] == row:
            raise Refused(f"id {example.id!r}: the original of its pair {example.about['pair']!r} is not there; add it")
    return [
        examples[row]
        if examples[row].gold is None
        else replace(examples[row], gold=None, about=_as_original(examples[row].about))
        for row in sorted(needed)
    ]


def _as_original(about: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in about.items() if name != "expect"} | {"role": ORIGINAL}
