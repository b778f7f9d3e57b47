"""Raw label values as label names: by --label first, then by name, then by a small table of synonyms of the task.

    neg, negative → negative    neu, neutral → neutral    pos, positive → positive        (case ignored; sentiment)
    0 → negative, 1 → positive  only where a source has no other value than 0 and 1, and only on a sentiment task
    CONTRADICTION → contradiction    not_entailment → non-entailment                      (case ignored; nli)

Anything else keeps its own name (SST-5's 0…4 stay "0"…"4" unless --label names them). "", "-", -1 and null are no
label: such rows are dropped and counted. ``--label plot=-`` says of any value that it is no label.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NO_LABEL = ("", "-", "-1")
SYNONYMS = {
    "neg": "negative",
    "negative": "negative",
    "neu": "neutral",
    "neutral": "neutral",
    "pos": "positive",
    "positive": "positive",
}
BINARY = {"0": "negative", "1": "positive"}
#: The order in which these names stand on a card, of every task's; other names are sorted.
NATURAL = ("entailment", "negative", "neutral", "positive", "contradiction", "non-entailment")


@dataclass(frozen=True)
class Naming:
    """A task's names for raw values: ``synonyms`` by the folded value, ``digits`` where a source has no other value."""

    synonyms: Mapping[str, str]
    digits: Mapping[str, str] = field(default_factory=dict)


SENTIMENT = Naming(SYNONYMS, BINARY)


def raw_label(value: Any, names: Sequence[str] = ()) -> str:
    """A raw value as text: an integer of a ClassLabel as its name, 1.0 as 1, null and NaN as no label ("")."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and 0 <= value < len(names):
        return names[value]
    return str(value).strip()


def with_numbers(mapping: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """A --label mapping that also holds for a ClassLabel's values by name where it was written by their number."""
    return {label: mapping[str(n)] for n, label in enumerate(names) if str(n) in mapping} | dict(mapping)


def label_names(
    raw: Collection[str], mapping: Mapping[str, str], known: Collection[str] = (), naming: Naming = SENTIMENT
) -> dict[str, str | None]:
    """The name of each raw value; None is no label. ``known`` are the labels that are fixed already (train's)."""
    unmapped = {value for value in raw if value not in mapping and value not in NO_LABEL}
    digits = unmapped <= set(naming.digits) and (not known or set(naming.digits.values()) <= set(known))
    named = naming if digits else Naming(naming.synonyms)
    return {value: _name(value, mapping, known, named) for value in raw}


def _name(value: str, mapping: Mapping[str, str], known: Collection[str], naming: Naming) -> str | None:
    if value in mapping:
        return None if mapping[value] in NO_LABEL else mapping[value]
    if value in NO_LABEL:
        return None
    if value in known:
        return value
    return naming.synonyms.get(value.casefold()) or naming.digits.get(value, value)


def in_order(labels: Collection[str]) -> tuple[str, ...]:
    """Labels in a natural order (NATURAL), then the others sorted (numbers by size)."""
    first = [name for name in NATURAL if name in labels]
    rest = sorted(set(labels) - set(first), key=lambda name: (not name.isdecimal(), len(name) * name.isdecimal(), name))
    return (*first, *rest)
