"""What a check of data found, one kind of it in one source: how many, where, what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: Characters of a text that a line shows.
WIDTH = 72


@dataclass(frozen=True)
class Finding:
    """``n`` of ``of`` texts of source ``name`` have ``kind``; ``rows`` are the first of them ({"id", "text" …}).

    ``serious``: whether training or scoring on it as it is goes wrong (--strict ends with status 1).
    """

    name: str
    kind: str
    n: int
    of: int
    said: str
    rows: Sequence[Mapping[str, Any]] = ()
    advice: str = ""
    serious: bool = True
    figures: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON."""
        keys = ("name", "kind", "n", "of", "said", "advice", "serious")
        return {key: getattr(self, key) for key in keys} | {"rows": list(self.rows), "figures": dict(self.figures)}


def shorten(text: str) -> str:
    """A text's beginning on one line, control characters shown as escapes.

    >>> shorten("a\\nb\\x07")
    'a b\\\\x07'
    """
    line = " ".join(text[: 4 * WIDTH].split())
    line = "".join(character if character.isprintable() else repr(character)[1:-1] for character in line)
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def lines(finding: Finding) -> list[str]:
    """A finding for the terminal: what, examples, what to do."""
    shown = [f"{finding.name}: {finding.said}"]
    for row in finding.rows:
        quoted = f'  "{shorten(str(row["text"]))}"' if "text" in row else ""
        shown.append(f"    {row['id']}  {row['what']}{quoted}" if "what" in row else f"    {row['id']}{quoted}")
    if finding.n > len(finding.rows) > 0:
        shown.append(f"    … and {finding.n - len(finding.rows)} more (--show {finding.n})")
    return [*shown, f"    do: {finding.advice}"] if finding.advice else shown
