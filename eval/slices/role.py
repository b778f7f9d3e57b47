"""role: whether an example of a test suite is the changed text of its pair or the original, from ``about.role``.

Shown wherever there are such pairs: a figure over both says little, since it is the changed texts that test something.
"""

from heldout.cases import CHANGED, ORIGINAL
from heldout.eval.slices import Slice
from heldout.records import Example, Prediction


def _value(example: Example, prediction: Prediction) -> str | None:
    role = example.about.get("role")
    return None if role is None else str(role)


SLICE = Slice("role", _value, order=(CHANGED, ORIGINAL), always=True)
