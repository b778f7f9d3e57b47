"""length: how many words (runs without white space) the text has.

The borders suit a sentence (SST has 19 words on average), a paragraph, a review that fits the 256 to 300 tokens people
often cut at (about 200 words), one that fits 512 tokens (about 400 words), and one that fits no such limit.
"""

from heldout.eval.slices import Slice, text_of
from heldout.records import Example, Prediction

BORDERS = (20, 50, 200, 400)
NAMES = ("up to 20 words", "21-50 words", "51-200 words", "201-400 words", "over 400 words")


def _value(example: Example, prediction: Prediction) -> str:
    words = len(text_of(example.text).split())
    return NAMES[sum(words > border for border in BORDERS)]


SLICE = Slice("length", _value, order=NAMES)
