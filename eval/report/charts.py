"""Inline SVG by small functions. Every value is escaped by Markup.format; positions are numbers made here.

A track is drawn in per cent of its width, so that it is as wide as its row and needs no text of its own: on a phone
the words beside it keep their size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log10

from markupsafe import Markup

from heldout.eval.report.wording import Bounded, count, percent

TRACK = 24
PLOT, LEFT, RIGHT, TOP, BARS = 220, 38, 18, 10, 74


@dataclass(frozen=True)
class Scale:
    """A span of values with round ticks inside it."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Where a value lies, in per cent of the span, held inside it."""
        return round(100 * min(1.0, max(0.0, (value - self.low) / (self.high - self.low))), 2)


@dataclass(frozen=True)
class Bin:
    """One bin of a reliability diagram: (low, high], answers, how many right, mean confidence, interval, and where the
    share right would lie were the confidence true.
    """

    low: float
    high: float
    n: int
    right: int
    confidence: float
    accuracy_low: float | None = None
    accuracy_high: float | None = None
    band: tuple[float, float] | None = None


def scale(
    values: Sequence[float], *, within: tuple[float, float] = (-inf, inf), room: float = 0.06, most: float = 7
) -> Scale:
    """A scale that holds the values with a little room at both ends, and at most ``most`` steps of round ticks."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    reach = (high - low) or max(abs(high), 0.02)
    low, high = max(within[0], low - room * reach), min(within[1], high + room * reach)
    step = _round_step((high - low) / most)
    ticks = tuple(round(k * step, 10) for k in range(ceil(low / step), floor(high / step) + 1))
    return Scale(low, high, ticks)


def _round_step(step: float) -> float:
    power = 10.0 ** floor(log10(step))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= step * 0.999)


def whisker(value: Bounded, span: Scale, kind: str, words: str, *, zero: bool = False) -> Markup:
    """One track: grid, interval as a line, value as a mark whose shape and colour tell the kind of system."""
    return track([(value, kind)], span, words, zero=zero)


def track(values: Sequence[tuple[Bounded, str]], span: Scale, words: str, *, zero: bool = False) -> Markup:
    """One track with several values and the kinds of their systems; later ones are drawn over earlier ones."""
    parts = [_grid(tick, span, "zero" if zero and tick == 0 else "grid") for tick in span.ticks]
    parts += [_value(value, kind, span) for value, kind in values]
    return Markup('<svg class="track" height="{}" role="img" aria-label="{}">{}</svg>').format(
        TRACK, words, Markup("").join(parts)
    )


def _value(value: Bounded, kind: str, span: Scale) -> Markup:
    parts, (middle, low, high) = [], value
    if low is not None and high is not None:
        y, a, b = TRACK // 2, span.at(low), span.at(high)
        parts.append(Markup('<line class="span {}" x1="{}%" x2="{}%" y1="{}" y2="{}"/>').format(kind, a, b, y, y))
    if middle is not None:
        shape = Markup('<svg x="{}%" y="{}" overflow="visible">{}</svg>')
        parts.append(shape.format(span.at(middle), TRACK // 2, mark(kind)))
    return Markup("").join(parts)


def key(kind: str) -> Markup:
    """The mark of a kind of system in a line of words."""
    return Markup('<svg class="key" viewBox="-8 -8 16 16" aria-hidden="true">{}</svg>').format(mark(kind))


def mark(kind: str) -> Markup:
    """The mark of a kind of system around the origin: shapes differ, so that colour is not needed to tell them."""
    shapes = {
        "model": '<circle class="mark model" r="6"/>',
        "best": '<path class="mark best" d="M0-7L7 0 0 7-7 0z"/>',
        "other": '<path class="mark other" d="M0-7L7 6-7 6z"/>',
    }
    return Markup(shapes.get(kind, '<rect class="mark baseline" x="-4.5" y="-4.5" width="9" height="9"/>'))


def _grid(tick: float, span: Scale, cls: str) -> Markup:
    x = span.at(tick)
    return Markup('<line class="{}" x1="{}%" x2="{}%" y1="0" y2="{}"/>').format(cls, x, x, TRACK)


def axis(span: Scale, labels: Sequence[str]) -> Markup:
    """The tick labels under a column of tracks; on a phone every second one goes, or they would meet."""
    text = Markup('<text class="tick{}" x="{}%" y="13" text-anchor="middle">{}</text>')
    parts = [
        text.format(" minor" if number % 2 else "", span.at(tick), label)
        for number, (tick, label) in enumerate(zip(span.ticks, labels, strict=True))
    ]
    return Markup('<svg class="track axis" height="18" aria-hidden="true">{}</svg>').format(Markup("").join(parts))


def reliability(bins: Sequence[Bin], words: str) -> Markup:
    """A reliability diagram (DeGroot and Fienberg 1983): share right against stated confidence, and counts below.

    A point below the line is overconfidence. The axis starts at the first bin with answers: two labels leave all
    below 0.5 empty. Whiskers are the intervals of the share right, where a bin has one.
    """
    used = [b for b in bins if b.n]
    start = min((b.low for b in used), default=0.0)
    width = PLOT / (1 - start)
    body = [_frame(start)]
    most = max((b.n for b in used), default=1)
    rotate = len([b for b in bins if b.high > start]) > 8
    for b in used:
        body.append(_point(b, start, width))
        body.append(_bar(b, start, width, most, rotate))
    height = TOP + PLOT + 28 + BARS
    return Markup('<svg class="reliability" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        LEFT + PLOT + RIGHT, height, words, Markup("").join(body)
    )


def _y(share: float) -> float:
    return round(TOP + PLOT * (1 - share), 1)


def _frame(start: float) -> Markup:
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = _y(share)
        parts.append(Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(LEFT, LEFT + PLOT, y, y))
        parts.append(
            Markup('<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>').format(
                LEFT - 6, y + 4, percent(share, 0)
            )
        )
    ticks = (0.5, 0.6, 0.7, 0.8, 0.9, 1) if start >= 0.4 else (0, 0.2, 0.4, 0.6, 0.8, 1)
    for share in ticks:
        x = round(LEFT + PLOT * (share - start) / (1 - start), 1)
        if share >= start:
            parts.append(
                Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>').format(
                    x, TOP + PLOT + 16, percent(share, 0)
                )
            )
    parts.append(
        Markup('<line class="perfect" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(LEFT, _y(start), LEFT + PLOT, _y(1))
    )
    return Markup("").join(parts)


def _point(b: Bin, start: float, width: float) -> Markup:
    x = round(LEFT + (b.confidence - start) * width, 1)
    line = Markup("")
    if b.accuracy_low is not None and b.accuracy_high is not None:
        ends = x, x, _y(b.accuracy_low), _y(b.accuracy_high)
        line = Markup('<line class="span model" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(*ends)
    if b.band is not None:
        band = Markup('<rect class="bar" x="{}" y="{}" width="12" height="{}"/>')
        top = _y(b.band[1])
        line = band.format(round(x - 6, 1), top, round(max(1.0, _y(b.band[0]) - top), 1)) + line
    dot = Markup('<circle class="mark model" cx="{}" cy="{}" r="4"><title>{}</title></circle>')
    words = f"{percent(b.low, 0)}–{percent(b.high, 0)}: {count(b.right)} of {count(b.n)} right"
    return line + dot.format(x, _y(b.right / b.n), words)


def _bar(b: Bin, start: float, width: float, most: int, rotate: bool) -> Markup:
    x, wide = LEFT + (b.low - start) * width, (b.high - b.low) * width
    # Numbers stand over the bars, on end where bins are narrow.
    base, tall = TOP + PLOT + 28 + BARS, (BARS - (36 if rotate else 16)) * b.n / most
    bar = Markup('<rect class="bar" x="{}" y="{}" width="{}" height="{}"/>').format(
        round(x + 1, 1), round(base - tall, 1), round(wide - 2, 1), round(tall, 1)
    )
    middle, above = round(x + wide / 2, 1), round(base - tall - 4, 1)
    turn = Markup(' transform="rotate(-90 {} {})"').format(middle, above) if rotate else Markup("")
    anchor = "start" if rotate else "middle"
    text = Markup('<text class="count" x="{}" y="{}" text-anchor="{}"{}>{}</text>')
    return bar + text.format(middle, above, anchor, turn, short(b.n))


def short(n: int) -> str:
    """A count that fits over a narrow bar: 12,345 → 12.3k."""
    return count(n) if n < 10_000 else f"{n / 1000:.1f}k"
