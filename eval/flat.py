"""Scores as one flat object of numbers, which is how the ``evaluate`` library hands results on."""

from collections.abc import Sequence
from typing import Any

from heldout.eval.score import score
from heldout.records import Card, Example, Prediction


def flat(
    card: Card, golds: Sequence[Any], answers: Sequence[Any], scores: Sequence[Any] | None = None, **settings: Any
) -> dict[str, float | None]:
    """Every metric of the card with its 95% interval: {"accuracy": …, "accuracy_low": …, "accuracy_high": …, "n": …}.

    The three sequences are of the same examples. ``settings`` are those of eval.score.score (replicates, seed, bins).
    """
    gold = [Example(str(row), {}, value) for row, value in enumerate(golds)]
    given = [None] * len(golds) if scores is None else scores
    predictions = [Prediction(str(i), answer, of) for i, (answer, of) in enumerate(zip(answers, given, strict=True))]
    row = score(card, gold, predictions, data="evaluate", **settings)
    found: dict[str, float | None] = {}
    for name in card.metrics:
        entry = row["metrics"][name]
        found |= {name: entry["value"], f"{name}_low": entry.get("low"), f"{name}_high": entry.get("high")}
    return found | {"n": row["n"]}
