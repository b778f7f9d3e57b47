"""A model's labels by name, never by number: as a card spells them, and what is said where they have no names."""

import re
from collections.abc import Mapping, Sequence

from heldout.errors import Refused

#: What transformers calls the labels of a model that was never told their names.
NAMELESS = re.compile(r"LABEL_\d+")


def matched(own: Sequence[str], labels: Sequence[str], renamed: Mapping[str, str] | None = None) -> list[str]:
    """The model's names, renamed where that was asked for, then spelt as the card's where only case differs.

    >>> matched(["CONTRADICTION", "LABEL_1"], ["neutral", "contradiction"], {"LABEL_1": "neutral"})
    ['contradiction', 'neutral']
    """
    named = [(renamed or {}).get(name, name) for name in own]
    spelt = {label.casefold(): label for label in labels}
    return [name if name in labels else spelt.get(name.casefold(), name) for name in named]


def nameless(own: Sequence[str]) -> bool:
    """Whether these are the names of labels without a name."""
    return all(NAMELESS.fullmatch(name) for name in own)


def mismatch(source: str, own: Sequence[str], labels: Sequence[str]) -> Refused:
    """The error for a model whose labels are not the card's."""
    what = "its labels have no names" if nameless(own) else "its labels are not the card's"
    return Refused(
        f"{source}: {what} ({', '.join(own)}; the card has {', '.join(labels)}); say which is which, such as "
        f"--label {own[0]}={labels[0]}"
    )
