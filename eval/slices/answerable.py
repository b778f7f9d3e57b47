"""answerable: whether a question has an answer, where some have none; gold [] says that there is none."""

from heldout.eval.slices import Slice
from heldout.records import Example, Prediction


def _value(example: Example, prediction: Prediction) -> str | None:
    return "no" if example.gold == [] and "question" in example.text else None


SLICE = Slice("answerable", _value, order=("yes", "no"), rest="yes")
