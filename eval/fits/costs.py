"""Answers by what errors cost: 0.5 is the threshold of equal costs alone (Elkan 2001, The foundations of cost-sensitive
learning).

Two rules, both fitted on dev, both for every data set that is scored:

- ``expected_cost``: the answer of lowest expected cost Σ p(gold) cost(gold, answer) under probabilities that a
  temperature of dev has calibrated. Of two labels the second is answered from c(1→2) / (c(1→2) + c(2→1)) on, where
  c(1→2) is the cost of answering the second where gold is the first.
- ``cost_threshold``, two labels only: the threshold on the second label's probability that costs least on dev itself.

Only thresholds that can be had count (FAULTS C4): equal probabilities stand on one side of any of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import Refused
from heldout.eval.fits.temperature import fit_temperature
from heldout.eval.labels import LabelTable, tabulate_labels
from heldout.eval.table import FloatArray, Table
from heldout.fits import Fit, apply
from heldout.options import nearest
from heldout.records import Card, Example, Prediction, content_hash

#: For each gold label the cost of each answer, in the card's order; right answers cost 0.
Costs = Sequence[Sequence[float]]
FORM = "'GOLD>ANSWER=COST', such as 'positive>negative=5', in quotes, since > is the shell's"


def parse_costs(words: Sequence[str], card: Card) -> Costs:
    """The costs of these words; what is not named costs 1. Refused where one is no cost of two of the card's labels.

    >>> parse_costs(["positive>negative=5"], Card("c", "1", "label", ("negative", "positive"), ("accuracy",)))
    [[0.0, 1.0], [5.0, 0.0]]
    """
    if card.kind != "label":
        raise Refused(f"--cost is for cards of kind label; {card.name} is of kind {card.kind}")
    costs = [[float(gold != answer) for answer in card.labels] for gold in card.labels]
    for word in words:
        pair, equals, cost = word.rpartition("=")
        gold, arrow, answer = pair.partition(">")
        if not (equals and arrow):
            raise Refused(f"--cost {word!r}: write {FORM}")
        for label in (gold, answer):
            if label not in card.labels:
                known = f"the labels are {', '.join(card.labels)}"
                raise Refused(f"--cost {word!r}: {label!r} is no label; {known}{nearest(label, card.labels)}")
        if gold == answer:
            raise Refused(f"--cost {word!r}: a right answer costs nothing; name two labels")
        costs[card.labels.index(gold)][card.labels.index(answer)] = _cost(word, cost)
    return costs


def _cost(word: str, cost: str) -> float:
    try:
        value = float(cost)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise Refused(f"--cost {word!r}: {cost!r} is no number from 0 on")
    return value


def fit_expected_cost(
    card: Card, gold: Sequence[Example], predictions: Sequence[Prediction], split: str, costs: Costs
) -> Fit:
    """The temperature of this split with the costs; of two labels also the threshold that follows from them."""
    calibrated = fit_temperature(card, gold, predictions, split)
    parameters = {"labels": list(card.labels), "costs": [list(row) for row in costs], **calibrated.parameters}
    if len(card.labels) == 2 and costs[0][1] + costs[1][0] > 0:
        parameters["threshold"] = costs[0][1] / (costs[0][1] + costs[1][0])
    return Fit("expected_cost", parameters, calibrated.fitted_on)


def fit_cost_threshold(
    card: Card, gold: Sequence[Example], predictions: Sequence[Prediction], split: str, costs: Costs
) -> Fit | None:
    """The probability of the second label from which on answering it costs least on this split; the lowest such.

    It is one of the split's own probabilities, or just above the highest. None where there are not two labels, or where
    gold has labels that the card's were collapsed to.
    """
    table = tabulate_labels(card, gold, predictions)
    if len(card.labels) != 2 or table.labels != card.labels:
        return None
    return Fit(
        kind="cost_threshold",
        parameters={
            "labels": list(card.labels),
            "costs": [list(row) for row in costs],
            "threshold": _cheapest_threshold(table.probabilities[:, 1], table.gold == 1, costs),
        },
        fitted_on={"split": split, "hash": content_hash(gold), "n": len(gold)},
    )


def _cheapest_threshold(p: FloatArray, second: NDArray[np.bool_], costs: Costs) -> float:
    steps, step = np.unique(p, return_inverse=True)
    firsts, seconds = (np.bincount(step, of, len(steps)) for of in (~second, second))
    # With the threshold at step k, those below it are answered first, the others second.
    missed = np.concatenate([[0.0], np.cumsum(seconds)]) * costs[1][0]
    called = np.concatenate([np.cumsum(firsts[::-1])[::-1], [0.0]]) * costs[0][1]
    best = int(np.argmin(np.round(missed + called, 9)))
    return float(steps[best]) if best < len(steps) else float(np.nextafter(steps[-1], np.inf))


def best_on_this(fit: Fit, card: Card, gold: Sequence[Example], predictions: Sequence[Prediction]) -> dict[str, Any]:
    """The threshold that costs least on the very data scored, with its cost; for show, since nothing may use it."""
    costs = fit.parameters["costs"]
    best = fit_cost_threshold(card, gold, predictions, "this", costs)
    if best is None:
        return {}
    table = tabulate_labels(card, gold, apply(best, predictions))
    paid = np.asarray(costs)[table.gold, table.answer].mean()
    return {"parameters": {"threshold": best.parameters["threshold"]}, "metrics": {"cost": float(paid)}}


def with_costs(tables: Mapping[str, Table], card: Card, fits: Sequence[Fit]) -> dict[str, Table]:
    """The tables with the costs of these fits, where they have some and gold has the card's own labels."""
    costs = next((fit.parameters["costs"] for fit in fits if "costs" in fit.parameters), None)
    if costs is None:
        return dict(tables)
    return {
        name: replace(table, costs=np.array(costs, dtype=np.float64))
        if isinstance(table, LabelTable) and table.labels == card.labels
        else table
        for name, table in tables.items()
    }
