"""What every lesson is: what it computes, what it prints, one picture, and the questions answered in words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats: TypeAlias = NDArray[np.float64]
#: What a lesson computes: the id of an entry of the seeds' values, its fields, their values.
Values: TypeAlias = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Lesson:
    """An idea of the seeds; ``where`` names the place in them: "lesson" is 004…, "chapter" and "exercise" are 000….

    ``values()`` holds the lesson's entries of seed_values.json; ``show()`` is what ``heldout lesson NAME`` prints;
    ``picture(axes)`` draws on one matplotlib Axes; ``answers`` are the seeds' questions, answered.
    """

    name: str
    title: str
    where: str
    values: Callable[[], Values]
    show: Callable[[], str]
    picture: Callable[["Axes"], None]
    answers: str

    @property
    def file(self) -> str:
        """The name of the lesson's file."""
        return f"{self.name.replace('-', '_')}.py"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, digits: int = 4) -> str:
    """Rows as aligned columns of text, numbers to the right, floats with so many digits behind the point.

    >>> print(table(["word", "p"], [["the", 0.75], ["drinks", 0.03125]]))
    word         p
    the     0.7500
    drinks  0.0312
    """
    cells = [list(row) for row in rows]
    right = [all(isinstance(row[at], (int, float, np.number)) for row in cells) for at in range(len(head))]
    texts = [list(head), *([_text(cell, digits) for cell in row] for row in cells)]
    widths = [max(len(row[at]) for row in texts) for at in range(len(head))]
    lines = (
        "  ".join(t.rjust(w) if r else t.ljust(w) for t, w, r in zip(row, widths, right, strict=True)) for row in texts
    )
    return "\n".join(line.rstrip() for line in lines)


def _text(cell: object, digits: int) -> str:
    if isinstance(cell, (bool, np.bool_)):
        return "yes" if cell else "no"
    return f"{cell:.{digits}f}" if isinstance(cell, (float, np.floating)) else str(cell)


def plain(value: Any) -> Any:
    """A value as JSON has it: arrays and tuples become lists, NumPy's numbers Python's."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
