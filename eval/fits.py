"""Fitting on a dev split, never on the split that is scored: temperature scaling (Guo et al. 2017, section 4.2).

The record and its application are heldout/fits.py; here a temperature is found, with the split it came from kept, and
FITTERS says what is fitted for which kind of card.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from heldout.errors import Refused
from heldout.eval.labels import tabulate_labels
from heldout.eval.null_threshold import best_on_this, fit_null_threshold
from heldout.eval.table import FloatArray, IntArray
from heldout.eval.tags import tabulate_tags
from heldout.fits import FLOOR, Fit
from heldout.records import Card, Example, Prediction, content_hash

Fitter = Callable[[Card, Sequence[Example], Sequence[Prediction], str], Fit | None]
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


#: What is fitted on dev for cards of a kind, by the kind of the fit; None where the split leaves nothing to fit.
FITTERS: Mapping[str, Mapping[str, Fitter]] = {
    "label": {"temperature": fit_temperature},
    "span": {"null_threshold": fit_null_threshold},
    "tags": {"temperature": fit_temperature},
}
#: What is shown beside a fit's variant: what the best on the scored data itself would have given, never used.
BEST_ON_THIS: Mapping[str, Callable[[Card, Sequence[Example], Sequence[Prediction]], dict[str, Any]]] = {
    "null_threshold": best_on_this
}
