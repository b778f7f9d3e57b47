"""question_word: the first of who, what, when, where, why, how and which in a question, else "other".

The words and the part each leads to are data (question_word.json): whom and whose are "who". "In which year" and "what
year" are of their own words, not of "when". Of SQuAD 1.1's dev questions 57% are "what", 12% "how", 11% "who", 7% each
"when" and "which", 5% "where", 2% "why", 1% other.
"""

import json
import re
from functools import cache
from pathlib import Path

from heldout.eval.slices import Slice
from heldout.records import Example, Prediction

ORDER = ("who", "what", "when", "where", "why", "how", "which", "other")


@cache
def _words() -> dict[str, str]:
    words: dict[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return words


def question_word(question: str) -> str:
    """The part that a question is in.

    >>> question_word("In what year did it begin, and why?"), question_word("Name two rivers.")
    ('what', 'other')
    """
    found = (_words()[word] for word in re.findall(r"\w+", question.lower()) if word in _words())
    return next(found, "other")


def _value(example: Example, prediction: Prediction) -> str | None:
    return question_word(str(example.text["question"])) if "question" in example.text else None


SLICE = Slice("question_word", _value, order=ORDER)
