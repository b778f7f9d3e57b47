"""Sentiment: one text, one of two or more labels.

    {"id": "r1", "text": {"text": "The plot drags, but I was never bored."}, "gold": "positive", "about": {}}

    [CLS] the plot drags , but i was never bored . [SEP]  →  logits (labels,)  →  softmax  →  answer and scores

A text past the limit keeps its head, its tail or both, or is read in windows whose probabilities are averaged.
"""

from collections.abc import Sequence

from heldout.records import Example
from heldout.train.classify import decode, encode_texts, loss
from heldout.train.task import AutoClass, Encoded, Encoding, Task


def encode(examples: Sequence[Example], encoding: Encoding) -> Encoded:
    """Windows of at most ``max_length`` tokens; the windows of one example share its weight equally."""
    return encode_texts(examples, encoding, "text")


TASK = Task("sentiment", AutoClass("AutoModelForSequenceClassification"), encode, loss, decode)
