"""sentence_case: whether a sentence's letters are all lower case, all upper case, or mixed: case gives names away.

It is for texts that come as a list of words. A word without cased letters (a number, Chinese) says nothing; sentences
without any cased word are in no part.
"""

from heldout.eval.slices import Slice
from heldout.records import Example, Prediction

LOWER, UPPER, MIXED = "all lower", "all upper", "mixed"


def _value(example: Example, prediction: Prediction) -> str | None:
    words = example.text.get("words")
    text = " ".join(words) if isinstance(words, list) else ""
    if text.islower():
        return LOWER
    if text.isupper():
        return UPPER
    return MIXED if text.lower() != text.upper() else None


SLICE = Slice("sentence_case", _value, order=(MIXED, LOWER, UPPER))
