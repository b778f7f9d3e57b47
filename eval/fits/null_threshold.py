"""The null threshold: from which null score on "" is answered, chosen for F1 on a dev split.

The null score of a question is how much better "no answer" scores than the best span; where it is over the threshold
the answer is "". Only thresholds that tell questions apart count: equal null scores are on one side of any of them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout.errors import Refused
from heldout.eval.metrics import find
from heldout.eval.spans import gold_texts, second_rules
from heldout.eval.squad import judge
from heldout.eval.tabulate import tabulate
from heldout.fits import Fit, able, apply
from heldout.records import Card, Example, Prediction, content_hash, join

#: Sums of F1 that are nearer than this are equal: their order is that of rounding.
EQUAL = 1e-9


def fit_null_threshold(
    card: Card, gold: Sequence[Example], predictions: Sequence[Prediction], split: str
) -> Fit | None:
    """The threshold with the highest F1 on this split: a null score of the split, or one just below the lowest.

    The lowest of those that share it, as SQuAD's official scorer chooses; unlike that one's, which starts at 0, it
    may also be one by which no question is answered. None where every question has an answer: then there is nothing
    to choose. Refused where predictions lack null scores.
    """
    without = [prediction.id for prediction in predictions if not able("null_threshold", prediction)]
    if without:
        raise Refused(
            f"{split}: {len(without)} of {len(predictions)} predictions have no null score, the first is id"
            f" {without[0]!r}; a null threshold is fitted on null scores"
        )
    if all(example.gold for example in gold):
        return None
    return Fit(
        kind="null_threshold",
        parameters={"null_threshold": _best(card, gold, predictions)},
        fitted_on={"split": split, "hash": content_hash(gold), "n": len(gold)},
    )


def _best(card: Card, gold: Sequence[Example], predictions: Sequence[Prediction]) -> float:
    pairs, second = join(gold, predictions), second_rules(card, gold)
    scores = np.array([said.scores["null_score"] for _, said in pairs], dtype=np.float64)
    gains = [
        judge(gold_texts(example), said.scores["best"]["text"], second=second)[1]
        - judge(gold_texts(example), "", second=second)[1]
        for example, said in pairs
    ]
    steps, step = np.unique(scores, return_inverse=True)
    # The gain over answering nothing where all up to a step are answered, before the first step 0.
    gained = np.concatenate([[0.0], np.cumsum(np.bincount(step, gains))])
    first = int(np.argmax(gained > gained.max() - EQUAL))
    return float(steps[first - 1] if first else np.nextafter(steps[0], -np.inf))


def best_on_this(card: Card, gold: Sequence[Example], predictions: Sequence[Prediction]) -> dict[str, Any]:
    """The threshold that is best on the very data scored, with its F1 and EM; for show, since nothing may use it.

    It is what SQuAD 2.0's scorer reports as "best_f1"; empty where every question has an answer.
    """
    fit = fit_null_threshold(card, gold, predictions, "this")
    if fit is None:
        return {}
    table = tabulate(card, gold, apply(fit, predictions))
    return {"parameters": dict(fit.parameters), "metrics": {name: find(name).of(table) for name in ("f1", "em")}}
