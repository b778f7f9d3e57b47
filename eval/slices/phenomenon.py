"""phenomenon: what an example was made to test, from ``about.phenomenon``, apart for each gold label.

HANS has three heuristics (lexical_overlap, subsequence, constituent); a model that follows one is right wherever it
leads to entailment and wrong elsewhere, so that only the labels apart show it. Examples without one are in no part.
"""

from heldout.eval.slices import Slice
from heldout.records import Example, Prediction


def _value(example: Example, prediction: Prediction) -> str | None:
    phenomenon = example.about.get("phenomenon")
    if phenomenon is None:
        return None
    return f"{phenomenon}, {example.gold}" if isinstance(example.gold, str) else str(phenomenon)


SLICE = Slice("phenomenon", _value)
