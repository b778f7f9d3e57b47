"""answer_position: the third of the passage in which the first gold answer begins; impossible questions have none.

A model that reads windows or was trained on cut passages may find what stands early and miss what stands late.
"""

from heldout.eval.slices import Slice, first_answer, words_of
from heldout.records import Example, Prediction

THIRDS = ("first third", "second third", "last third")


def _value(example: Example, prediction: Prediction) -> str | None:
    answer = first_answer(example)
    if answer is None or "context" not in example.text:
        return None
    length = len(words_of(example.text["context"]))
    # An offset at or behind the end is in the last third, however wrong.
    return THIRDS[min(2, 3 * answer["start"] // max(1, length))]


SLICE = Slice("answer_position", _value, order=THIRDS)
