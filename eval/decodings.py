"""Other ways to read tags off a system's scores than the one it took, shown as variants beside its answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.bio import best_valid
from heldout.records import Card, Prediction


def argmax(scores: Sequence[Sequence[float]], labels: Sequence[str]) -> list[str]:
    """The likeliest tag of each word on its own, of equal ones the first; the sequence may be no valid IOB2.

    >>> argmax([[0.4, 0.0, 0.6], [0.1, 0.2, 0.7]], ["O", "B-X", "I-X"])
    ['I-X', 'I-X']
    """
    return [labels[column] for word in scores for column in [int(np.argmax(word))]]


#: Ways to read the tags of a sentence off its scores; viterbi is the best sequence that IOB2 allows.
WAYS: Mapping[str, Callable[[Any, Sequence[str]], list[str]]] = {"argmax": argmax, "viterbi": best_valid}


def decodings(card: Card, predictions: Sequence[Prediction]) -> tuple[dict[str, list[Prediction]], list[str]]:
    """The predictions with their tags read off their scores in each way that gives other answers, and notes.

    Only for cards of kind tags whose predictions all have scores. A note says which way gives the answers as they are.
    """
    if card.kind != "tags" or any(prediction.scores is None for prediction in predictions):
        return {}, []
    found = {
        name: [replace(one, answer=way(one.scores, card.labels), entities=None) for one in predictions]
        for name, way in WAYS.items()
    }
    given = [list(prediction.answer) for prediction in predictions]
    same = [name for name, rows in found.items() if [one.answer for one in rows] == given]
    notes = [f"The answers are those of {' and of '.join(same)}."] if same else []
    return {name: rows for name, rows in found.items() if name not in same}, notes
