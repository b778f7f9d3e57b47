"""A teacher's answers to train, from prediction records: its own run's, or those of any system in the world.

Records hold probabilities at full precision, and softmax(log p / T) is what softmax(logits / T) was, so they are all
that a student needs where an answer is a label or a tag a word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import Refused
from heldout.records import Card, Example, Prediction, read_card, read_predictions
from heldout.train.label_names import matched


@dataclass(frozen=True)
class Answers:
    """A teacher's answers to train's examples, in their order; ``labels`` name the columns of scores.

    ``unused`` counts predictions for ids that train lacks (what was carved off as dev, what --limit left out).
    """

    source: str
    predictions: Sequence[Prediction]
    labels: Sequence[str]
    unused: int = 0

    def log_p(self, labels: Sequence[str]) -> list[NDArray[np.float32]]:
        """log p of every example in the order of ``labels``: (labels,), or (words, labels)."""
        columns = [list(self.labels).index(label) for label in labels]
        with np.errstate(divide="ignore"):
            return [
                np.log(np.asarray(prediction.scores, np.float64)[..., columns]).astype(np.float32)
                for prediction in self.predictions
            ]

    def agreement(self, examples: Sequence[Example]) -> float | None:
        """The share of gold labels (of words) that the teacher gives; None where no example has gold, or of spans."""
        pairs = [
            (mine, theirs)
            for prediction, example in zip(self.predictions, examples, strict=True)
            if example.gold is not None and self.labels
            for mine, theirs in zip(_each(prediction.answer), _each(example.gold), strict=True)
        ]
        return sum(mine == theirs for mine, theirs in pairs) / len(pairs) if pairs else None


def _each(answer: Any) -> Sequence[Any]:
    return answer if isinstance(answer, list) else [answer]


def read_answers(path: Path, card: Card, examples: Sequence[Example], teacher_card: Path | None = None) -> Answers:
    """The answers of a file to these examples; Refused where ids, labels or scores are not what a student needs.

    The columns of scores are named by ``teacher_card``, else by the card.json of the run that the file lies in, else by
    the task's own card. Label names must be the task's, in whatever order.
    """
    beside = path.parent.parent / "card.json"
    if teacher_card is None and path.parent.name == "predictions" and beside.exists():
        teacher_card = beside
    theirs = read_card(teacher_card) if teacher_card else card
    labels = matched(theirs.labels, card.labels)
    if sorted(labels) != sorted(card.labels):
        raise Refused(
            f"{teacher_card}: the teacher's labels are {', '.join(theirs.labels)} and the task's "
            f"{', '.join(card.labels)}; a student learns the same labels, so rename those of the data with --label"
        )
    predictions = read_predictions(path, theirs)
    found = Answers(str(path), _in_order(path, predictions, examples), labels, len(predictions) - len(examples))
    _check_scores(path, found, examples, theirs.labels)
    names = dict(zip(theirs.labels, labels, strict=True))
    return replace(found, predictions=[_spelt(prediction, names) for prediction in found.predictions])


def _spelt(prediction: Prediction, names: Mapping[str, str]) -> Prediction:
    """A prediction with its labels spelt as the task's."""
    answer = prediction.answer
    spelt = [names[tag] for tag in answer] if isinstance(answer, list) else names[answer]
    return replace(prediction, answer=spelt)


def _in_order(path: Path, predictions: Sequence[Prediction], examples: Sequence[Example]) -> list[Prediction]:
    by_id: Mapping[str, Prediction] = {prediction.id: prediction for prediction in predictions}
    if not predictions:
        raise Refused(f"{path}: holds no predictions")
    missing = [example.id for example in examples if example.id not in by_id]
    if missing:
        raise Refused(
            f"{path}: has no prediction for {len(missing)} of the {len(examples)} examples of train, the first is id "
            f"{missing[0]!r} (its own ids begin with {predictions[0].id!r}); predict on the file that --train names"
        )
    return [by_id[example.id] for example in examples]


def _check_scores(path: Path, found: Answers, examples: Sequence[Example], names: Sequence[str]) -> None:
    """Refuse answers without probabilities, of other texts, or whose columns are plainly in another order."""
    odd = 0
    for prediction, example in zip(found.predictions, examples, strict=True):
        if prediction.scores is None:
            raise Refused(
                f"{path}: id {prediction.id!r} has no scores; a student learns from the probabilities of all labels"
            )
        words = example.text.get("words")
        if words is not None and len(prediction.answer) != len(words):
            tags = f"{len(prediction.answer)} tags for the {len(words)} words of train"
            raise Refused(f"{path}: id {example.id!r} has {tags}; predict on the file that --train names")
        likeliest = [names[column] for column in np.asarray(prediction.scores).reshape(-1, len(names)).argmax(1)]
        odd += likeliest != list(_each(prediction.answer)) and words is None
    if odd > len(examples) / 2:
        raise Refused(
            f"{path}: {odd} of {len(examples)} answers are not the likeliest label when scores stand in the order "
            f"{', '.join(names)}; say their order with --teacher-card CARD.json"
        )
