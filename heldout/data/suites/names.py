"""The labels of a suite by the names of a card: its own, or what data sets usually call the same."""

from collections.abc import Collection, Sequence
from typing import Any

from heldout.bio import OUTSIDE, split

#: What a suite calls a type of entity, and what cards may call it (compared in lower case).
TYPES = {"person": ("person", "per", "people"), "location": ("location", "loc", "place", "gpe", "geo-loc")}
#: What of three labels is one where a card has two.
TWO_WAY = {"neutral": "non-entailment", "contradiction": "non-entailment"}


def as_on_card(rows: Sequence[dict[str, Any]], task: str, known: Collection[str]) -> list[dict[str, Any]]:
    """The rows with the card's names where they are plain; others are left for --label to name."""
    if task == "ner":
        own = {split(tag)[1] for tag in known if tag != OUTSIDE}
        names = {ours: kind for ours, usual in TYPES.items() for kind in sorted(own) if kind.lower() in usual}
        return [{**row, "tags": [_tag(tag, names) for tag in row["tags"]]} for row in rows]
    if task == "nli" and "non-entailment" in known and "contradiction" not in known:
        return [{**row, "label": TWO_WAY.get(row["label"], row["label"])} for row in rows]
    return list(rows)


def _tag(tag: str, names: dict[str, str]) -> str:
    if tag == OUTSIDE:
        return tag
    prefix, kind = split(tag)
    return f"{prefix}-{names.get(kind, kind)}"
