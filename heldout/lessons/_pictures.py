"""The three kinds of picture that the lessons draw, each on one matplotlib Axes; matplotlib is an extra: pictures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from heldout.errors import Refused
from heldout.lessons._contract import Lesson
from heldout.runs import atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def heat(axes: "Axes", matrix: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, digits: int = 2) -> None:
    """A matrix as shades, each cell with its number; ``rows`` and ``columns`` name its sides."""
    cells = np.asarray(matrix, dtype=float)
    axes.imshow(cells, cmap="Blues", aspect="auto")
    for (row, column), value in np.ndenumerate(cells):
        dark = value - cells.min() > 0.6 * np.ptp(cells)
        axes.text(column, row, f"{value:.{digits}f}", ha="center", va="center", color="white" if dark else "black")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)


def bars(axes: "Axes", groups: Mapping[str, Sequence[float]], labels: Sequence[str], *, y: str) -> None:
    """Bars side by side: a group of each name over each label."""
    width = 0.8 / len(groups)
    for at, (name, heights) in enumerate(groups.items()):
        axes.bar(np.arange(len(labels)) + (at - (len(groups) - 1) / 2) * width, heights, width, label=name)
    axes.set_xticks(range(len(labels)), labels)
    axes.set_ylabel(y)
    if len(groups) > 1:
        axes.legend()


def curves(axes: "Axes", lines: Mapping[str, tuple[ArrayLike, ArrayLike]], *, x: str, y: str) -> None:
    """Lines of (x, y), each with its name."""
    for name, (across, up) in lines.items():
        axes.plot(across, up, label=name)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if len(lines) > 1:
        axes.legend()


def draw(lesson: Lesson, path: Path, formats: Sequence[str] = (".svg", ".png", ".pdf")) -> None:
    """Write a lesson's picture, the same bytes every time as svg; Refused without matplotlib or for another format."""
    if path.suffix not in formats:
        raise Refused(f"--picture {path}: the file must end in one of {', '.join(formats)}")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise Refused("--picture needs matplotlib; pip install 'heldout[pictures]'") from None
    # Text stays text, which keeps a picture at a few kB; the salt and the missing date make it repeatable.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": lesson.name, "figure.dpi": 100}):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        lesson.picture(figure.subplots())
        metadata = {"Date": None} if path.suffix == ".svg" else None
        with atomic(path) as temporary:
            figure.savefig(temporary, format=path.suffix[1:], metadata=metadata)
