"""question_overlap: how many of a question's words stand in the sentence of its first gold answer.

A question that repeats the sentence can be answered by matching words; one in other words cannot. Words are folded in
case, those of question_overlap.json (question words, articles, prepositions, auxiliaries, pronouns) don't count:
"low" up to a third of the others, "high" from two thirds on. A sentence ends at ".", "!" or "?" before white space, or
at the end of a line, so an abbreviation may cut one short.

    share of answerable questions       low    middle  high
    SQuAD 1.1 dev                       0.23   0.31    0.45
    SQuADShifts new_wiki                0.22   0.27    0.51
    SQuADShifts reddit                  0.49   0.23    0.28
    SQuADShifts amazon                  0.53   0.23    0.23

So a drop on the last two may be one of wording as much as of domain.
"""

import json
import re
from functools import cache
from pathlib import Path

from heldout.eval.slices import Slice, first_answer, words_of
from heldout.eval.slices.lexical_overlap import share, words
from heldout.records import Example, Prediction

PARTS = ("low", "middle", "high")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")


@cache
def _function_words() -> frozenset[str]:
    return frozenset(json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")))


def sentence(context: str, start: int, end: int) -> str:
    """The sentence (or sentences) of a text that the characters from start to end stand in.

    >>> sentence("It rained. Ada stayed in, reading. Then she slept.", 11, 14)
    'Ada stayed in, reading.'
    """
    before = [found.end() for found in SENTENCE_END.finditer(context, 0, start)]
    after = SENTENCE_END.search(context, end)
    return context[before[-1] if before else 0 : after.start() if after else len(context)]


def _value(example: Example, prediction: Prediction) -> str | None:
    answer = first_answer(example)
    if answer is None or not {"question", "context"} <= example.text.keys():
        return None
    asked = [word for word in words(example.text["question"]) if word not in _function_words()]
    if not asked:
        return None
    start = answer["start"]
    around = sentence(words_of(example.text["context"]), start, start + len(answer["text"]))
    found = share(asked, words(around))
    return PARTS[(found > 1 / 3) + (found >= 2 / 3)]


SLICE = Slice("question_overlap", _value, order=PARTS)
