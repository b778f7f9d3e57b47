"""Texts of mistakes, bounded and folded: plain ones, and ones with gold and answer marked in them.

A mark is told without colour: gold has a solid line under it, the answer a dashed one over it, and behind each stands
in words what it is. Where both are the same a single mark stands for the two.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal

from markupsafe import Markup, escape

from heldout.eval.report.pieces import Field, Part
from heldout.eval.report.wording import visible
from heldout.eval.slices import words_of

#: Characters of a text that stand open; the rest is folded away, and past WHOLE it is left out and counted.
OPEN, WHOLE = 600, 6_000
#: A rest of so few characters is not worth folding.
REST = 120
#: Characters that stand open on both sides of what is wrong in a long text.
AROUND = 240
#: The longest that one character becomes once escaped and in UTF-8 (a quote is &#34;).
ESCAPED = 5
#: At most how many bytes of HTML one mark adds beside its label: it cuts the text at two places into pieces, each in
#: tags of its own, and its label stands in tags. LABEL: at most how many characters of a label are shown.
MARK, LABEL = 150, 40

Side = Literal["gold", "found", "both"]
Span = tuple[int, int]


@dataclass(frozen=True)
class Mark:
    """Characters from ``start`` to ``end`` of a text, on the side of gold, of the answer, or of both; what is written
    behind them; and whether it is one to look at first.
    """

    start: int
    end: int
    side: Side
    label: str
    wrong: bool = True


def plain(name: str, value: Any, room: int) -> Field:
    """A text without marks, cut so that it takes at most ``room`` bytes of HTML."""
    whole = visible(words_of(value))
    kept = whole[:WHOLE]
    if len(str(escape(kept)).encode("utf-8", "replace")) > room:
        kept = kept[: room // ESCAPED]
    # Fold at a space, so that no word is torn.
    fold = len(kept) if len(kept) <= OPEN + REST else max(kept.rfind(" ", 0, OPEN), OPEN // 2)
    parts = [Part(kept[:fold])] + ([Part(kept[fold:], len(kept) - fold)] if kept[fold:] else [])
    return Field(name, tuple(parts), len(whole) - len(kept))


def marked(name: str, text: str, marks: Sequence[Mark], room: int) -> Field:
    """A text with its marks, of a long one the parts around what is wrong open and the others folded away.

    It takes at most ``room`` bytes of HTML: of too many marks the first ones that are wrong are drawn, of too long a
    text what stands around them; both are counted.
    """
    drawn, cost = _affordable(marks, room // 2)
    low, high = _kept(text, drawn, room - cost)
    inside = [mark for mark in drawn if low <= mark.start and mark.end <= high]
    edges = _edges(text, inside, low, high)
    parts = [Part(_draw(text, a, b, inside), 0 if is_open else b - a) for a, b, is_open in edges]
    return Field(name, tuple(parts), len(text) - (high - low), len(marks) - len(inside))


def _affordable(marks: Sequence[Mark], room: int) -> tuple[list[Mark], int]:
    """The marks, those that are wrong first, as many as there is room for, and the bytes that they may take."""
    ordered = sorted(marks, key=lambda mark: (not mark.wrong, mark.start, mark.end))
    costs = [MARK + len(str(escape(_label(mark))).encode("utf-8", "replace")) for mark in ordered]
    sums = list(accumulate(costs, initial=0))
    most = bisect_right(sums, room) - 1
    return ordered[:most], sums[most]


def _label(mark: Mark) -> str:
    return visible(mark.label)[:LABEL]


def _kept(text: str, marks: Sequence[Mark], room: int) -> Span:
    """The part of a text that is shown: all of it, or as much as there is room for around the first mark."""
    size = min(len(text), WHOLE)
    low = _centred(text, marks, size)
    while (needed := len(str(escape(visible(text[low : low + size]))).encode("utf-8", "replace"))) > room:
        size = max(0, size * room // needed - 1)
        low = _centred(text, marks, size)
    return low, low + size


def _centred(text: str, marks: Sequence[Mark], size: int) -> int:
    if size == len(text) or not marks:
        return 0
    middle = (marks[0].start + marks[0].end) // 2
    return max(0, min(middle - size // 2, len(text) - size))


def _edges(text: str, marks: Sequence[Mark], low: int, high: int) -> list[tuple[int, int, bool]]:
    """(start, end, open) of the pieces from low to high: all open, or what is wrong with AROUND on both sides.

    No piece ends inside a mark; pieces end at spaces where there are some.
    """
    wanted = [mark for mark in marks if mark.wrong]
    if high - low <= OPEN + REST:
        return [(low, high, True)]
    spans = [(max(low, mark.start - AROUND), min(high, mark.end + AROUND)) for mark in wanted] or [(low, low + OPEN)]
    at_spaces = [(_space(text, a, low, -1), _space(text, b, high, 1)) for a, b in spans]
    opened = _merged([*at_spaces, *_cut_by(at_spaces, marks)], REST)
    if opened[0][0] - low <= REST:
        opened[0] = (low, opened[0][1])
    if high - opened[-1][1] <= REST:
        opened[-1] = (opened[-1][0], high)
    pieces, at = [], low
    for a, b in opened:
        pieces += [(at, a, False)] if a > at else []
        pieces.append((a, b, True))
        at = b
    return [*pieces, (at, high, False)] if at < high else pieces


def _cut_by(spans: Sequence[Span], marks: Sequence[Mark]) -> list[Span]:
    """The marks, those that overlap as one, that a border of these spans would cut in two."""
    borders = {border for span in spans for border in span}
    together = union([(mark.start, mark.end) for mark in marks])
    return [(start, end) for start, end in together if any(start < border < end for border in borders)]


def _space(text: str, at: int, limit: int, step: int) -> int:
    """The next place from ``at`` where a space stands, at most 30 characters off, else ``at``; never past ``limit``."""
    for place in range(at, at + 30 * step, step):
        if place == limit or (0 < place < len(text) and text[place - 1 if step < 0 else place].isspace()):
            return place
    return at


def _merged(spans: Sequence[Span], gap: int) -> list[Span]:
    """Spans in order, those that overlap or stand at most ``gap`` apart as one.

    >>> _merged([(5, 9), (0, 3), (20, 21)], 2)
    [(0, 9), (20, 21)]
    """
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start - merged[-1][1] <= gap:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _draw(text: str, low: int, high: int, marks: Sequence[Mark]) -> Markup:
    """The characters from low to high, cut at the borders of marks, each piece in the marks it stands in."""
    here = [mark for mark in marks if low <= mark.start < high]
    borders = sorted({low, high, *(mark.start for mark in here), *(mark.end for mark in here)})
    drawn = Markup("")
    for start, end in pairwise(borders):
        over = [mark for mark in here if mark.start <= start and end <= mark.end]
        # A space behind a label would be drawn as a stub of a line.
        bare = start + (len(text[start:end]) - len(text[start:end].lstrip()) if over else 0)
        drawn += escape(visible(text[start:bare]))
        sides, piece = " ".join(sorted({mark.side for mark in over})), escape(visible(text[bare:end]))
        drawn += Markup('<mark class="{}">{}</mark>').format(sides, piece) if over else piece
        for mark in (mark for mark in over if mark.end == end):
            drawn += Markup(' <small class="label {}">{}</small>').format(mark.side, _label(mark))
    return drawn


def union(spans: Sequence[Span]) -> list[Span]:
    """Spans in order, those that overlap as one.

    >>> union([(4, 9), (0, 5), (9, 12)])
    [(0, 9), (9, 12)]
    """
    return _merged(spans, -1)
