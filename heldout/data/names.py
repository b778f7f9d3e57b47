"""What the options say about one source: ``[NAME:]VALUE``, where NAME limits a value to one split.

--column text=review --column yelp:label=stars --label 0=negative --label yelp:5=positive --encoding tweets:latin-1
"""

import codecs
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from heldout.errors import Refused
from heldout.options import nearest

#: What a column can be for; those from group to direction land in an example's ``about``.
FIELDS = (
    *("text", "label", "id", "group", "domain", "pair", "phenomenon", "role", "expect", "direction"),
    *("premise", "hypothesis", "words", "tags", "question", "context", "answers"),
)
DELIMITERS = {"comma": ",", "tab": "\t", "space": " ", "semicolon": ";", "pipe": "|"}
CLEAN = ("auto", "on", "off")


@dataclass(frozen=True)
class Reading:
    """How to read one source: the options with their split names resolved.

    ``unlabelled``: rows without a label are kept, their gold None (distillation that needs none); ``goldless``: those
    of changes that are judged by their originals alone.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    delimiter: str = ""
    encoding: str = "utf-8"
    clean: str = "auto"
    task: str = ""
    known: tuple[str, ...] = ()
    unlabelled: bool = False
    goldless: bool = False


def scoped(values: Sequence[str], name: str, names: Collection[str]) -> list[str]:
    """The values that hold for split ``name``, those meant for it alone last; ``names`` are all splits of the call."""
    everyone, own = [], []
    for value in values:
        scope, colon, rest = value.partition(":")
        if not colon or scope not in names:
            everyone.append(value)
        elif scope == name:
            own.append(rest)
    return everyone + own


def apart(names: Sequence[str]) -> list[str]:
    """The names, numbered from the second on where one comes again.

    >>> apart(["train", "test", "train"])
    ['train', 'test', 'train-2']
    """
    found: list[str] = []
    for base in names:
        name, number = base, 1
        while name in found:
            number += 1
            name = f"{base}-{number}"
        found.append(name)
    return found


def pairs(flag: str, values: Sequence[str], name: str, names: Collection[str]) -> dict[str, str]:
    """FROM=TO values as a mapping; Refused where the = or the FROM is missing."""
    found = {}
    for value in scoped(values, name, names):
        left, equals, right = value.rpartition("=") if flag == "--label" else value.partition("=")
        if not equals or not left or not right:
            raise Refused(f"{flag} {value}: write {flag} [NAME:]FROM=TO, such as {flag} {_EXAMPLE[flag]}")
        found[left] = right
    return found


_EXAMPLE = {"--column": "text=review", "--label": "0=negative"}


def columns(values: Sequence[str], name: str, names: Collection[str]) -> dict[str, str]:
    """--column FIELD=COLUMN values; Refused for a field that is not known, naming the nearest."""
    found = pairs("--column", values, name, names)
    for known in found:
        if known not in FIELDS:
            scopes = ", ".join(sorted(names))
            raise Refused(
                f"--column {known}={found[known]}: {known!r} is not one of {', '.join(FIELDS)}"
                f"{nearest(known.rpartition(':')[2], FIELDS)} (splits of this call: {scopes})"
            )
    return found


def delimiter(value: str) -> str:
    """A delimiter by name (tab, space, comma, semicolon, pipe) or as one character."""
    if value in DELIMITERS:
        return DELIMITERS[value]
    if len(value) != 1 or value in '"\r\n':
        raise Refused(f"--delimiter {value!r}: give one character or one of {', '.join(DELIMITERS)}")
    return value


def encoding(value: str) -> str:
    """An encoding that Python knows; Refused otherwise."""
    try:
        codecs.lookup(value)
    except (LookupError, ValueError):
        raise Refused(f"--encoding {value}: not an encoding that Python knows; utf-8, latin-1, cp1252 are") from None
    return value


def choice(flag: str, value: str, allowed: Sequence[str]) -> str:
    """A value that is one of the allowed; Refused otherwise."""
    if value not in allowed:
        raise Refused(f"{flag} {value}: use one of {', '.join(allowed)}{nearest(value, allowed)}")
    return value
