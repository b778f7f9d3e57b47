"""The curve of the held-out loss over the steps, beside the lines of the n-grams, as inline SVG."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from heldout.eval.report.charts import Scale, scale

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 48, 96, 14, 34


def curve(points: Sequence[tuple[int, float]], lines: Mapping[str, float], words: str) -> Markup:
    """A line through (step, loss), a dashed level for each of ``lines``; ``words`` say the same to a screen reader."""
    across = scale([0.0, *(float(step) for step, _ in points)], within=(0, float("inf")))
    up = scale([*(loss for _, loss in points), *lines.values()])
    parts = [_level(tick, f"{tick:g}", up, "grid") for tick in up.ticks]
    parts += [_step(tick, across) for tick in across.ticks]
    parts += [_level(value, "", up, "baseline") for value in lines.values()]
    places = " ".join(f"{_x(step, across)},{_y(loss, up)}" for step, loss in points)
    parts.append(Markup('<polyline class="curve" points="{}"/>').format(places))
    ends = dict(lines)
    if points:
        step, ends["model"] = points[-1]
        dot = Markup('<circle class="mark model" cx="{}" cy="{}" r="4"/>')
        parts.append(dot.format(_x(step, across), _y(ends["model"], up)))
    named = sorted(ends.items(), key=lambda end: -end[1])
    for (name, value), y in zip(named, apart([_y(value, up) for _, value in named]), strict=True):
        parts.append(_text(WIDTH - RIGHT + 6, y + 4, f"{name} {value:.2f}", "start"))
    parts.append(_text(LEFT, HEIGHT - 2, "steps", "start"))
    svg = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>')
    return svg.format(WIDTH, HEIGHT, words, Markup("").join(parts))


def apart(heights: Sequence[float], gap: float = 14) -> list[float]:
    """Heights of labels from the top down, moved down where one would stand on the one above it.

    >>> apart([10, 15, 60])
    [10, 24, 60]
    """
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + gap) if placed else height)
    return placed


def _x(step: float, across: Scale) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * across.at(step) / 100, 1)


def _y(loss: float, up: Scale) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * up.at(loss) / 100, 1)


def _level(value: float, label: str, up: Scale, kind: str) -> Markup:
    line = Markup('<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>')
    drawn = line.format(kind, LEFT, WIDTH - RIGHT, _y(value, up), _y(value, up))
    return drawn + _text(LEFT - 6, _y(value, up) + 4, label, "end") if label else drawn


def _step(tick: float, across: Scale) -> Markup:
    return _text(_x(tick, across), HEIGHT - BOTTOM + 18, f"{tick:,.0f}", "middle")


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>').format(x, round(y, 1), anchor, text)
