"""Isotonic calibration (Zadrozny and Elkan 2002): the rising step function nearest to what came true, fitted on dev.

Of two labels the probability of the second is mapped; of more each label's against the rest, and the results are scaled
to sum to 1 (Zadrozny and Elkan's one against all), which is no longer monotone in a label's own probability. Of a span
it is the probability of the best span. Answers stay what they were: from which probability on to answer otherwise is
a question of costs (costs.py). Tags have none: a map of entities' confidences would leave words without scores.
"""

from collections.abc import Sequence

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.spans import SpanTable
from heldout.eval.table import FloatArray
from heldout.eval.tabulate import tabulate
from heldout.fits import Fit
from heldout.records import Card, Example, Prediction, content_hash


def fit_isotonic(card: Card, gold: Sequence[Example], predictions: Sequence[Prediction], split: str) -> Fit | None:
    """The lines of each label (of two: of the second, of spans: of the best span's p) on this split, all with scores.

    Values are held in [1/(n + 2), 1 − 1/(n + 2)], the rule of succession: n examples cannot show that something never
    happens, and a 0 that does would cost 27.6 nats. None where gold has labels that the card's were collapsed to.
    """
    table = tabulate(card, gold, predictions)
    if isinstance(table, SpanTable):
        lines = [pooled(table.events.confidence, table.events.event)]
    elif isinstance(table, LabelTable) and table.labels == card.labels:
        labels = [1] if len(card.labels) == 2 else range(len(card.labels))
        lines = [pooled(table.probabilities[:, k], (table.gold == k).astype(np.float64)) for k in labels]
    else:
        return None
    return Fit(
        kind="isotonic",
        parameters={"x": [x.tolist() for x, _ in lines], "y": [y.tolist() for _, y in lines]},
        fitted_on={"split": split, "hash": content_hash(gold), "n": len(gold)},
    )


def pooled(confidence: FloatArray, event: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The knots (x, y) of the line that isotonic regression draws, by pooling adjacent violators (Ayer et al. 1955).

    Equal confidences are one point. Each level has a knot at its first and at its last confidence; between two levels
    the line is straight, before the first and behind the last it is flat. x rises, y does not fall.
    """
    least = 1 / (len(confidence) + 2)
    x, place, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    means = np.bincount(place, event) / counts
    levels: list[tuple[float, int, int, int]] = []  # mean, answers, first and last place
    for at, (mean, n) in enumerate(zip(means.tolist(), counts.tolist(), strict=True)):
        first = at
        while levels and levels[-1][0] >= mean:
            before, m, first, _ = levels.pop()
            mean, n = (mean * n + before * m) / (n + m), n + m
        levels.append((mean, n, first, at))
    knots = [(x[place], mean) for mean, _, first, last in levels for place in dict.fromkeys((first, last))]
    at_x, at_y = np.array(knots, dtype=np.float64).T
    return at_x, np.clip(at_y, least, 1 - least)
