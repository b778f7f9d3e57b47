"""Area under the risk-coverage curve (Geifman, Uziel and El-Yaniv 2019): how well confidence tells right from wrong.

Answer only the k most confident of n: coverage is k/n, risk the share of the k that are wrong. AURC is the mean of
that risk over k = 1, …, n; 0 is best. Answers of equal confidence are covered in random order, of which the mean is
known: with a answers and E errors before m that share a confidence and hold e errors, their risks sum to

    e + (E − a e/m) (H(a + m) − H(a))          H(n) = 1 + 1/2 + … + 1/n

so no order of rows matters. Resampling would need a sort for each replicate; there the answers stand in groups of near
confidence, and inside one they count as equal. What that changes of the area of all answers is added to each replicate.
"""

import math
from typing import Any

import numpy as np

from heldout.eval.metrics import Metric, answers, unsure
from heldout.eval.table import Events, FloatArray, IntArray, Table

#: Groups of near confidence for resampling; of more than MANY answers FEW_STEPS, which take a fifth of the time.
STEPS, MANY, FEW_STEPS = 100, 2000, 20
#: Where the curve of scores.json has points: at 5%, 10%, … of the answers.
POINTS = 20


def _sums(events: Events, step: IntArray, steps: int) -> FloatArray:
    """(1, 2 steps): how many answers each step holds, then how many of them are wrong."""
    return np.concatenate([np.bincount(step, weights, steps) for weights in (None, 1 - events.event)])[None]


def _exact(table: Table) -> float:
    events = table.events
    if not len(events.confidence):
        return math.nan
    distinct, step, _ = events.ranked
    return float(_area(_sums(events, len(distinct) - 1 - step, len(distinct)))[0])


def _columns(table: Table) -> FloatArray:
    """(n, 2 steps + 1): the row's answers and its wrong answers in each group of near confidence, from the least on;
    then for each of its answers the exact area less that of the groups.
    """
    events = table.events
    if not len(events.confidence):
        return np.zeros((len(table), 3))
    wanted = STEPS if len(events.confidence) <= MANY else FEW_STEPS
    inner = np.unique(np.quantile(events.confidence, np.arange(1, wanted) / wanted, method="inverted_cdf"))
    step, steps = np.searchsorted(inner, events.confidence, side="left"), len(inner) + 1
    columns = np.zeros((len(table), 2 * steps + 1))
    np.add.at(columns, (events.owner, step), 1.0)
    np.add.at(columns, (events.owner, step + steps), 1 - events.event)
    gap = _exact(table) - float(_area(_sums(events, step, steps))[0])
    columns[:, -1] = gap * columns[:, :steps].sum(axis=1)
    return columns


def _value(sums: FloatArray) -> FloatArray:
    """Sums of columns (R, 2 steps + 1) → (R,)."""
    answers = sums[:, : sums.shape[1] // 2].sum(axis=1, dtype=np.float64)
    gap = np.divide(sums[:, -1], answers, out=np.zeros_like(answers), where=answers > 0)
    area: FloatArray = np.clip(_area(sums[:, :-1]) + gap, 0, 1)
    return area


def _area(sums: FloatArray) -> FloatArray:
    """The answers and the wrong answers of each step (R, 2 steps) → the area (R,)."""
    # Counts of a replicate are whole, but float32.
    answers, wrong = np.split(sums.astype(np.float64), 2, axis=1)
    answers, wrong = answers[:, ::-1], wrong[:, ::-1]
    covered = np.cumsum(answers, axis=1)
    before, errors = covered - answers, np.cumsum(wrong, axis=1) - wrong
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, covered.max(initial=0) + 1))])
    share = np.divide(wrong, answers, out=np.zeros_like(wrong), where=answers > 0)
    spread = harmonic[covered.astype(np.int64)] - harmonic[before.astype(np.int64)]
    risks = (wrong + (errors - before * share) * spread).sum(axis=1)
    total = covered[:, -1]
    area: FloatArray = np.divide(risks, total, out=np.full(len(sums), np.nan), where=total > 0)
    return area


def curve(events: Events) -> dict[str, list[float]]:
    """Coverage and risk at POINTS places, evenly spread; answers of equal confidence share their errors evenly."""
    distinct, step, answers = events.ranked
    wrong = np.bincount(step, 1 - events.event, len(distinct))
    coverage = np.arange(1, POINTS + 1) / POINTS
    covered, errors = (np.concatenate([[0.0], np.cumsum(counts)]) for counts in (answers, wrong))
    wanted = coverage * covered[-1]
    return {"coverage": coverage.tolist(), "risk": (np.interp(wanted, covered, errors) / wanted).tolist()}


def _extras(table: Table, seed: int) -> dict[str, Any]:
    """The curve, and the least area that any confidence could have with as many errors."""
    events = table.events
    best = Events(events.event, events.event, events.owner)
    steps = _sums(best, events.event.astype(np.int64), 2)
    return {"curve": curve(events), "least": float(_area(steps)[0])}


METRICS = (
    Metric(
        "aurc",
        ("label", "span", "tags"),
        True,
        "risk",
        False,
        _columns,
        _value,
        _extras,
        about="answers",
        count=answers,
        exact=_exact,
        missing=unsure,
    ),
)
