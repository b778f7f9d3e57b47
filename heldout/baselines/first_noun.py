"""First noun: the first name or number of the passage that the question does not hold; nothing is learnt.

A name is a run of words with a capital (that a sentence begins with it is not enough), a number one of digits. Where
there is none, the first other run of words that are no function words; where there is none either, the first word.

Answers only: a rule gives no probability, so there are no scores. Questions without an answer are answered too.
"""

from collections.abc import Sequence

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted
from heldout.baselines._noun_like import is_name, need_spans, runs, words
from heldout.records import Card, Example, Prediction


def fit(train: Sequence[Example], dev: Sequence[Example], card: Card, seed: int, options: BaselineOptions) -> Fitted:
    """Nothing is fitted; Refused for a card that is not about pieces of a passage."""
    need_spans("first-noun", card)
    return Fitted(lambda examples: [Prediction(one.id, answer(**one.text)) for one in examples])


def answer(question: str, context: str) -> str:
    """The first name or number of the context that is not in the question.

    >>> answer("Who built the mill of York?", "The mill near York was built by Ada Moor in 1820.")
    'Ada Moor'
    """
    asked = {word.fold for word in words(question)}
    there = words(context)
    found = [run for run in runs(context, there) if not any(word.fold in asked for word in run)]
    run = next((run for run in found if is_name(context, run)), found[0] if found else there[:1])
    return context[run[0].start : run[-1].end] if run else context.strip()


BASELINE = Baseline("first-noun", fit, "nothing")
