"""What a check is, what it is given (a Patient) and what it says (a Finding)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from heldout.records import Card, Example, Prediction
from heldout.train.predict import TOKEN_BUDGET, predict
from heldout.train.system import System, pad_id
from heldout.train.task import Encoded, Logits, Task
from heldout.train.windows import Window

Outcome = Literal["pass", "fail", "not applicable"]
#: The groups in the order they are shown.
GROUPS = ("answers", "data", "arithmetic", "files")
#: How far logits and probabilities in fp32 may lie apart where only the order of additions differs, for each unit of
#: the largest logit. Measured on MiniLM between batches of 1 and of 32: 4e-7 on IMDb, 2e-6 on SQuAD (256 tokens).
TOLERANCE = 1e-4
#: The share of answers that another number format may change. Measured in bf16 on MiniLM: of 80 answers (IMDb, SNLI,
#: WNUT-17, SQuAD 2.0) one, in SNLI.
CHANGED = 0.02


@dataclass(frozen=True)
class Finding:
    """How a check ended: its figure in words, what would be tolerated, what to do; ``value`` is the figure's number."""

    outcome: Outcome
    figure: str
    tolerance: str = ""
    advice: str = ""
    value: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The finding's part of a check's row in checks.json."""
        said = {"outcome": self.outcome, "figure": self.figure, "tolerance": self.tolerance, "advice": self.advice}
        return said | {"value": self.value}


def not_applicable(why: str) -> Finding:
    """There was nothing to check, and why."""
    return Finding("not applicable", why)


def judged(holds: bool, figure: str, *, tolerance: str = "", advice: str = "", value: float | None = None) -> Finding:
    """Pass or fail; what to do is only said where it fails."""
    return Finding("pass" if holds else "fail", figure, tolerance, "" if holds else advice, value)


@dataclass(frozen=True)
class Patient:
    """A run as the checks see it: its folder and card, its system in fp32, and ``examples`` of the set named ``data``.

    ``kept`` is whether that set is one of the run's own, with predictions on file.
    """

    folder: Path
    card: Card
    task: Task
    system: System
    options: Mapping[str, Any]
    data: str
    examples: Sequence[Example]
    kept: bool = True

    @cached_property
    def encoded(self) -> Encoded:
        """The examples' windows."""
        return self.task.encode(self.examples, self.system.encoding)

    @cached_property
    def windows(self) -> Sequence[Window]:
        """All windows in a row."""
        return self.encoded.flat()

    @cached_property
    def whole(self) -> Logits:
        """The logits of all windows, as ``heldout predict`` computes them in fp32."""
        return self.logits()

    @cached_property
    def predictions(self) -> list[Prediction]:
        """The answers to the examples in fp32."""
        return self.system.answer(self.examples, self.encoded, "checking")

    def logits(
        self,
        windows: Sequence[Window] | None = None,
        system: System | None = None,
        *,
        token_budget: int = TOKEN_BUDGET,
        pad_to: int = 0,
    ) -> Logits:
        """The logits of these windows (all, by default) by this system (the run's own)."""
        by = system or self.system
        return predict(
            by.model,
            self.windows if windows is None else windows,
            by.accelerator,
            pad_id=pad_id(by.encoding),
            pad_type=by.encoding.tokenizer.pad_token_type_id,
            logits=self.task.logits,
            token_budget=token_budget,
            pad_to=pad_to,
        )


@dataclass(frozen=True)
class Check:
    """A check: ``kinds`` are the kinds of card that it is for, none named for all."""

    title: str
    group: str
    why: str
    examine: Callable[[Patient], Finding]
    kinds: tuple[str, ...] = ()


def apart(one: Logits, other: Logits) -> float:
    """The largest difference between two lists of logits, for each unit of the largest of the first (1 at least)."""
    largest = max(float(np.abs(a.astype(np.float64) - b).max(initial=0)) for a, b in zip(one, other, strict=True))
    return largest / max(1.0, max(float(np.abs(a).max(initial=0)) for a in one))


def small(number: float) -> str:
    """A difference as people read it.

    >>> small(0.0), small(4.32e-7)
    ('0', '4.3e-07')
    """
    return f"{number:.1e}" if number else "0"


def within(found: float, what: str, n: int, advice: str) -> Finding:
    """The finding on a difference between logits that should be none."""
    figure = f"{what}: logits of {n} windows differ by {small(found)} at most"
    return judged(found <= TOLERANCE, figure, tolerance=f"{TOLERANCE:.0e}", advice=advice, value=found)


def numbers(prediction: Prediction) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """The probabilities of a prediction in a row; of a span, that of the best one."""
    scores = prediction.scores
    return np.ravel(np.array([scores["best"]["p"]] if isinstance(scores, Mapping) else scores, np.float64))


def moved(one: Sequence[Prediction], other: Sequence[Prediction]) -> tuple[int, float]:
    """Of predictions of the same examples: how many answers differ, and the largest difference of probabilities."""
    pairs = list(zip(one, other, strict=True))
    differ = sum(a.answer != b.answer for a, b in pairs)
    return differ, max(float(np.abs(numbers(a) - numbers(b)).max(initial=0)) for a, b in pairs)


def tolerated(n: int) -> int:
    """How many of ``n`` answers another number format may change: CHANGED of them, and one of a few."""
    return max(1, round(CHANGED * n))
