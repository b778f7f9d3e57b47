"""lexical_overlap: how many of the hypothesis's words stand in the premise: "high" from three quarters on, else "low".

Words are folded in case; each occurrence in the hypothesis counts. High overlap tempts a model to say entailment
(McCoy, Pavlick and Linzen 2019). At three quarters 17% of SNLI's test pairs are high, 69% of them entailed; 16% of
MNLI's matched dev pairs, 64% entailed; and every pair of HANS, half of them entailed. A stricter cut leaves too few:
all words in the premise is 3% of SNLI and 2% of MNLI.
"""

import re

from heldout.eval.slices import Slice
from heldout.records import Example, Prediction

HIGH, LOW = "high", "low"
CUT = 0.75
#: Letters and digits, joined by apostrophes (don't).
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def words(text: object) -> list[str]:
    """The words of a text in lower case, in order.

    >>> words("It's a DOG, isn’t it?")
    ["it's", 'a', 'dog', 'isn’t', 'it']
    """
    return WORD.findall(str(text).lower())


def share(of: list[str], among: list[str]) -> float:
    """The share of the words of ``of`` that stand in ``among``; 0 where there are none.

    >>> share(["a", "dog", "sleeps", "a"], ["a", "dog", "runs"])
    0.75
    """
    there = set(among)
    return sum(word in there for word in of) / len(of) if of else 0.0


def _value(example: Example, prediction: Prediction) -> str | None:
    if not {"premise", "hypothesis"} <= example.text.keys():
        return None
    found = share(words(example.text["hypothesis"]), words(example.text["premise"]))
    return HIGH if found >= CUT else LOW


SLICE = Slice("lexical_overlap", _value, order=(HIGH, LOW))
