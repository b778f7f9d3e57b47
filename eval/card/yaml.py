"""YAML enough for the front matter of a model card: mappings, lists, numbers, and strings that are always quoted.

Control characters are spelt out, as everywhere else: YAML refuses some of them even when quoted.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from heldout.eval.report.wording import visible

#: Keys that need no quotes.
PLAIN = re.compile(r"(?!no|yes|on|off|true|false|null)[a-z]{2,}(?:[_-][a-z]+)*")


def dump(value: Mapping[str, Any]) -> str:
    """A mapping of strings, numbers, lists and mappings, none of them empty, in block style.

    >>> print(dump({"tags": ["a: b"], "n": 3}), end="")
    tags:
    - "a: b"
    "n": 3
    """
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [line for key, found in value.items() for line in _entry(f"{_key(key)}:", found)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        lines = []
        for item in value:
            first, *rest = _lines(item)
            lines += [f"- {first}", *(f"  {line}" for line in rest)]
        return lines
    return [_scalar(value)]


def _entry(head: str, value: Any) -> list[str]:
    lines = _lines(value)
    if isinstance(value, Mapping):
        return [head, *(f"  {line}" for line in lines)]
    return [head, *lines] if isinstance(value, list | tuple) else [f"{head} {lines[0]}"]


def _key(name: str) -> str:
    """A key, bare where it is one of the hub's plain words."""
    return name if PLAIN.fullmatch(name) else _scalar(name)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return '"' + "".join(map(_quoted, visible(value))) + '"'
    # YAML 1.1 reads 1e-05 as a string: a float has a point.
    return str(value) if "e" not in str(value) or "." in str(value) else str(value).replace("e", ".0e")


def _quoted(character: str) -> str:
    """A character inside double quotes: those that YAML reads as something else or refuses by their number."""
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"
