"""What every metric reads: gold and predictions of one system as arrays, one row an example (eval/tabulate.py)."""

from collections.abc import Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.floating]
IntArray: TypeAlias = NDArray[np.integer]
#: Equal-width and equal-mass bins of an ECE where nothing else is asked for (DESIGN: 15).
BINS = 15


@dataclass(frozen=True)
class Events:
    """What calibration is about: m answers, each with its confidence, whether it came true, and the row it is of.

    An answer is an example's label or span, or one of the entities that were found in a sentence. Shapes (m,).
    """

    confidence: FloatArray
    event: FloatArray
    owner: IntArray

    @cached_property
    def ranked(self) -> tuple[FloatArray, IntArray, IntArray]:
        """The distinct confidences, falling (k,), which of them each answer has (m,), and how many have each (k,).

        Four metrics and what stands beside them ask for it: of a million answers it is sorted once, not 14 times.
        """
        negative, place, counts = np.unique(-self.confidence, return_inverse=True, return_counts=True)
        return -negative, place, counts


class Table(Sized, Protocol):
    """n examples in gold's order; what it holds of them is its kind's affair (labels, tags, spans)."""

    @property
    def bins(self) -> int:
        """The bins of an ECE."""

    @property
    def unscored(self) -> int:
        """How many rows have no scores; one is enough for ``scored`` to be false: nothing is made up."""

    @property
    def scored(self) -> bool:
        """Whether every row has scores."""

    @property
    def correct(self) -> FloatArray:
        """1.0 where the whole answer is right, else 0.0; shape (n,)."""

    @property
    def events(self) -> Events:
        """The answers with their confidences; Refused where a row has no scores."""

    def take(self, rows: IntArray) -> Self:
        """The table of these rows only."""
