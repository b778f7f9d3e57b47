"""The temperature of a dev split (Guo et al. 2017, On calibration of modern neural networks, section 4.2)."""

from collections.abc import Sequence

import numpy as np

from heldout.errors import Refused
from heldout.eval.labels import tabulate_labels
from heldout.eval.table import FloatArray, IntArray
from heldout.eval.tags import tabulate_tags
from heldout.fits import FLOOR, Fit
from heldout.records import Card, Example, Prediction, content_hash

#: Where a temperature is looked for. A dev split without a mistake has its best one at 0: it ends at the border.
LOWEST, HIGHEST = 0.05, 20.0


def fit_temperature(card: Card, gold: Sequence[Example], predictions: Sequence[Prediction], split: str) -> Fit:
    """The temperature T in [0.05, 20] whose softmax(log p / T) has the lowest negative log-likelihood on this split.

    Of tags that is the likelihood of words, most of which are O; answers stay, and with them the entities whose
    confidence it softens, so it can move the ECE of entities either way.
    The loss is convex in 1/T, so its slope is bisected: deterministic, no step size. ``split`` is the name under which
    the fit says what it was fitted on. Refused where predictions lack scores.
    """
    without = [prediction.id for prediction in predictions if prediction.scores is None]
    if without:
        raise Refused(
            f"{split}: {len(without)} of {len(predictions)} predictions have no scores, the first is id {without[0]!r};"
            " a temperature is fitted on scores"
        )
    table = (tabulate_tags if card.kind == "tags" else tabulate_labels)(card, gold, predictions)
    logits = np.log(np.maximum(table.probabilities, FLOOR))
    temperature = 1 / _lowest(logits, table.gold)
    return Fit(
        kind="temperature",
        parameters={"temperature": round(temperature, 6)},
        fitted_on={"split": split, "hash": content_hash(gold), "n": len(gold)},
    )


def _lowest(logits: FloatArray, gold: IntArray) -> float:
    """The inverse temperature where the slope of the loss, E[logit] − logit of gold, changes its sign."""
    low, high = 1 / HIGHEST, 1 / LOWEST
    if _slope(logits, gold, low) >= 0:
        return low
    if _slope(logits, gold, high) <= 0:
        return high
    # 50 halvings of [0.05, 20] leave 2e-14.
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _slope(logits, gold, middle) < 0 else (low, middle)
    return (low + high) / 2


def _slope(logits: FloatArray, gold: IntArray, inverse: float) -> float:
    weights = np.exp((logits - logits.max(axis=1, keepdims=True)) * inverse)
    expected = (weights * logits).sum(axis=1) / weights.sum(axis=1)
    return float((expected - logits[np.arange(len(gold)), gold]).mean())
