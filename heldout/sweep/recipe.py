"""Options as a file that ``--config`` takes."""

import json
from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import Any

from heldout.options import flag


def recipe(options: Any, *, without: Collection[str], comment: Sequence[str]) -> str:
    """The fields of ``options`` (a dataclass) that are not their defaults, as TOML under lines of comment."""
    # TOML takes no control characters in a comment; a folder's name may hold some.
    lines = [f"# {''.join(c if c.isprintable() else ' ' for c in line)}" for line in comment]
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name not in without and value is not None and value != field.default:
            lines.append(f"{flag(field.name)[2:]} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """A value as TOML has it; its basic strings are JSON's, whose only other letter is DEL.

    >>> _toml(("a\\tb", 'c"d')), _toml(1e-05), _toml(True)
    ('["a\\\\tb", "c\\\\"d"]', '1e-05', 'true')
    """
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower()
