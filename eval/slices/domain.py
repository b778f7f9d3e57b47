"""domain: where the example comes from, from ``about.domain``; examples without one are in no part."""

from heldout.eval.slices import Slice
from heldout.records import Example, Prediction


def _value(example: Example, prediction: Prediction) -> str | None:
    domain = example.about.get("domain")
    return None if domain is None else str(domain)


SLICE = Slice("domain", _value)
