"""Quality against cost as an SVG: one mark a system, and a line along those that no other beats in both."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from heldout.eval.report.charts import Scale, mark, scale

WIDE, TALL, LEFT, TOP, BOTTOM = 420, 220, 52, 14, 44


@dataclass(frozen=True)
class Point:
    """A system: its name, its cost (smaller is better) and its quality (larger is better)."""

    name: str
    cost: float
    quality: float


def front(points: Sequence[Point]) -> list[Point]:
    """The points that no other beats (cheaper and no worse, or better and no dearer), by their cost.

    >>> [p.name for p in front([Point("a", 1, 0.5), Point("b", 2, 0.9), Point("c", 3, 0.8)])]
    ['a', 'b']
    """
    found: list[Point] = []
    for point in sorted(points, key=lambda point: (point.cost, -point.quality)):
        if not found or point.quality > found[-1].quality:
            found.append(point)
    return found


def pareto(points: Sequence[Point], across: str, up: str, words: str) -> Markup:
    """The drawing; the axis of cost begins at 0, so that lengths are shares."""
    x = scale([0.0, *(point.cost for point in points)], within=(0.0, float("inf")))
    y = scale([point.quality for point in points], room=0.25)
    body = [_grid(x, y), _line(front(points), x, y)]
    body += [_point(point, x, y) for point in points]
    axis = Markup('<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>')
    body.append(axis.format(LEFT + WIDE / 2, TOP + TALL + 36, "middle", across))
    body.append(axis.format(2, TOP - 3, "start", up))
    svg = Markup('<svg class="curves" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>')
    return svg.format(LEFT + WIDE + 24, TOP + TALL + BOTTOM, words, Markup("").join(body))


def _at(point: Point, x: Scale, y: Scale) -> tuple[float, float]:
    across, up = LEFT + WIDE * x.at(point.cost) / 100, TOP + TALL * (1 - y.at(point.quality) / 100)
    return round(across, 1), round(up, 1)


def _grid(x: Scale, y: Scale) -> Markup:
    parts = []
    text = Markup('<text class="tick" x="{}" y="{}" text-anchor="{}">{:g}</text>')
    line = Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>')
    for tick in x.ticks:
        at = _at(Point("", tick, y.low), x, y)[0]
        parts += [line.format(at, at, TOP, TOP + TALL), text.format(at, TOP + TALL + 16, "middle", tick)]
    for tick in y.ticks:
        at = _at(Point("", x.low, tick), x, y)[1]
        parts += [line.format(LEFT, LEFT + WIDE, at, at), text.format(LEFT - 6, at + 4, "end", tick)]
    return Markup("").join(parts)


def _line(points: Sequence[Point], x: Scale, y: Scale) -> Markup:
    places = " ".join(f"{across},{up}" for across, up in (_at(point, x, y) for point in points))
    return Markup('<polyline class="curve baseline" points="{}"/>').format(places)


def _point(point: Point, x: Scale, y: Scale) -> Markup:
    across, up = _at(point, x, y)
    # Names stand on the side where there is room.
    right = across < LEFT + WIDE * 0.6
    name = Markup('<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>')
    shape = Markup('<svg x="{}" y="{}" overflow="visible">{}</svg>').format(across, up, mark("model"))
    return shape + name.format(across + (10 if right else -10), up - 6, "start" if right else "end", point.name)
