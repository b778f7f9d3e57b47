"""Selective prediction (El-Yaniv and Wiener 2010): how good the answers are when only the surest are given.

``accuracy_at_80``, ``_90`` and ``_95`` of labels: the share right among the 80, 90, 95% most confident answers.
``em_at_80`` … of spans: the share of the surest best spans that match gold exactly (see ``ece``). ``precision_at_80`` …
of tags: the share of the surest entities found that gold has. Answers of equal confidence at the border count in part,
each the same, so that exactly the share asked for is covered and no order of rows matters. The border, given as
"threshold", stays fixed while examples are resampled.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from heldout.eval.metrics import SURE, Metric, answers, ratio, unsure
from heldout.eval.table import Events, FloatArray, Table

#: How much is answered, in per cent.
COVERAGES = (80, 90, 95)


def covered(events: Events, share: float) -> tuple[FloatArray, float]:
    """How much of each of m answers (m,) is among the surest ``share`` of them, and the lowest confidence of those.

    >>> confidence = np.array([0.9, 0.5, 0.5, 0.1])
    >>> covered(Events(confidence, np.ones(4), np.arange(4)), 0.5)[0].tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    steps, step, counts = events.ranked
    before = np.cumsum(counts) - counts
    parts = np.clip((share * len(step) - before) / counts, 0, 1)
    return parts[step], float(steps[np.flatnonzero(parts > 0)[-1]]) if len(steps) else 1.0


def _columns(table: Table, share: float) -> FloatArray:
    """(n, 2): of the row's answers that are covered how many are right, and how many they are."""
    events = table.events
    weights, _ = covered(events, share)
    return np.column_stack(
        [np.bincount(events.owner, weights * events.event, len(table)), np.bincount(events.owner, weights, len(table))]
    )


def _extras(table: Table, seed: int, share: float) -> dict[str, Any]:
    return {"coverage": share, "threshold": covered(table.events, share)[1]}


def _count(table: Table, share: float) -> int:
    return round(share * answers(table)) or min(1, answers(table))


def _metric(kind: str, percent: int) -> Metric:
    share = percent / 100
    columns: Callable[[Table], FloatArray] = partial(_columns, share=share)
    extras: Callable[[Table, int], dict[str, Any]] = partial(_extras, share=share)
    # Entities of one sentence don't vary alone, so that Wilson's interval does not hold for them.
    return Metric(
        f"{SURE[kind]}_at_{percent}",
        (kind,),
        True,
        "share",
        True,
        columns,
        ratio,
        extras,
        share=kind != "tags",
        about="answers",
        count=partial(_count, share=share),
        missing=unsure,
    )


METRICS = tuple(_metric(kind, percent) for kind in SURE for percent in COVERAGES)
