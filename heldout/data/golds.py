"""What kind of gold an example has, for counting and for samples in proportion: a label, tags, or answers in a text."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from heldout.data.labels import in_order
from heldout.records import Example

#: What examples are counted as that have no gold (distillation learns from the teacher alone).
UNLABELLED = "unlabelled"


def stratum(example: Example) -> str:
    """What samples keep the proportions of: the label; whether there is an entity; whether there is an answer."""
    gold = example.gold
    if gold is None:
        return UNLABELLED
    if isinstance(gold, str):
        return gold
    if gold and isinstance(gold[0], str):
        return "with entities" if any(tag != "O" for tag in gold) else "without"
    return "answerable" if gold else "impossible"


def counted(examples: Iterable[Example]) -> dict[str, int]:
    """How often there is what: labels, entities by type (and sentences without any), questions with an answer."""
    counts = Counter[str]()
    for example in examples:
        counts.update(_of(example.gold))
    return {name: counts[name] for name in in_order(counts)}


def _of(gold: Any) -> list[str]:
    if gold is None:
        return [UNLABELLED]
    if isinstance(gold, str):
        return [gold]
    if gold and isinstance(gold[0], str):
        return [tag[2:] for tag in gold if tag.startswith("B-")] or ["no entity"]
    return ["answerable" if gold else "impossible"]
