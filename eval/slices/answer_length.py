"""answer_length: how many words (runs without white space) the first gold answer has; impossible questions have none.

Of SQuAD 1.1's dev questions 32%, 43%, 16% and 9% are in the four parts, from the shortest on.
"""

from heldout.eval.slices import Slice, first_answer
from heldout.records import Example, Prediction

NAMES = ("1 word", "2-3 words", "4-6 words", "over 6 words")
BORDERS = (1, 3, 6)


def _value(example: Example, prediction: Prediction) -> str | None:
    answer = first_answer(example)
    return None if answer is None else NAMES[sum(len(answer["text"].split()) > border for border in BORDERS)]


SLICE = Slice("answer_length", _value, order=NAMES)
