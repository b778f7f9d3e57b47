"""phenomenon: what an example was made to test, from ``about.phenomenon``; shown wherever there are some.

Of a pair it holds the changed texts alone (their originals are what they are compared with: ``twin_gap``). Examples
that stand in no pair are apart for each gold label: HANS has three heuristics (lexical_overlap, subsequence,
constituent), and a model that follows one is right wherever it leads to entailment and wrong elsewhere.
"""

from heldout.cases import ORIGINAL
from heldout.eval.slices import Slice
from heldout.records import Example, Prediction


def _value(example: Example, prediction: Prediction) -> str | None:
    phenomenon = example.about.get("phenomenon")
    if phenomenon is None or example.about.get("role") == ORIGINAL:
        return None
    alone = "pair" not in example.about and isinstance(example.gold, str)
    return f"{phenomenon}, {example.gold}" if alone else str(phenomenon)


SLICE = Slice("phenomenon", _value, always=True)
