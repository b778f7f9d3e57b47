"""Markdown as GitHub and the hub read it: words from outside stay words, whatever they hold."""

import re
from collections.abc import Iterable, Sequence

from heldout.eval.report.wording import visible

#: Punctuation that means something; a backslash before it makes it stand for itself (CommonMark 2.4).
SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")
#: What means something at the start of a line alone: headings, lists, rules.
OPENING = re.compile(r"^(\d+)?([.)]|[-+=#])(?=\s|$|[-=#])")
#: What is made a link without any sign of one (GitHub's autolinks).
LINKED = re.compile(r"(?i)\b(https?|ftp)(:)(?=//)|\b(www)(\.)")


def escaped(text: str) -> str:
    """The text as one line of Markdown that shows its very characters; hidden ones are spelt out.

    >>> escaped("a_b <img> | c")
    'a\\\\_b \\\\<img\\\\> \\\\| c'
    """
    line = " ".join(visible(text).split())
    line = SPECIAL.sub(r"\\\1", line)
    line = LINKED.sub(lambda found: f"{found[1] or found[3]}\\{found[2] or found[4]}", line)
    return OPENING.sub(lambda found: f"{found[1] or ''}\\{found[2]}", line)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table of cells that are Markdown already; the first ``left`` columns stand flush left, the others right."""
    rules = [":--" if k < left else "--:" for k in range(len(heads))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, rules, *rows])
