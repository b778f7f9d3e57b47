"""overlap: whether the same text, or nearly the same, also stands in train (``about.overlap``).

Its parts are exact, near, and shared: another question about a premise or a passage of train. Scores with and without
such texts tell learning from memory. Where no example is marked there is nothing to show.
"""

from heldout.eval.slices import Slice
from heldout.records import Example, Prediction

REST = "not in train"
PARTS = (REST, "in train (exact)", "in train (near)", "in train (shared)")


def _value(example: Example, prediction: Prediction) -> str | None:
    overlap = example.about.get("overlap")
    return None if overlap is None else f"in train ({overlap})"


SLICE = Slice("overlap", _value, order=PARTS, rest=REST, always=True)
