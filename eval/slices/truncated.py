"""truncated: whether the system lost a part of the text, from the prediction's ``seen``.

It belongs to one system, so it stays out of comparisons: another system may have read the same text whole.
"""

from heldout.eval.slices import Slice
from heldout.records import Example, Prediction


def _value(example: Example, prediction: Prediction) -> str | None:
    if prediction.seen is None:
        return None
    return "yes" if prediction.seen.get("lost", 0) > 0 else "no"


SLICE = Slice("truncated", _value, order=("no", "yes"), of_system=True, always=True)
