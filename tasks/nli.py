"""NLI: a premise and a hypothesis, one of entailment, neutral, contradiction (or entailment and non-entailment).

    {"id": "17#2r1e", "text": {"premise": "A man waters his roses.", "hypothesis": "A man is in a garden."},
     "gold": "entailment", "about": {}}

    [CLS] a man waters his roses . [SEP] a man is in a garden . [SEP]  →  logits (labels,)  →  softmax  →  answer
      0   0  0    0     0    0   0   0   1  1  1 1   1     1    1  1      (segments; each model's own frame)

Two texts that are too long together lose tokens from the longer. With ``only`` one of them is all the model reads:
what the hypothesis alone gives away is a measure of the data set, not of the model (Poliak et al. 2018).
"""

from collections.abc import Sequence

from heldout.records import Example
from heldout.train.classify import decode, encode_pairs, encode_texts, loss
from heldout.train.task import AutoClass, Encoded, Encoding, Task


def encode(examples: Sequence[Example], encoding: Encoding) -> Encoded:
    """One window a pair of at most ``max_length`` tokens; with ``only``, windows of that text."""
    if encoding.only:
        return encode_texts(examples, encoding, encoding.only)
    return encode_pairs(examples, encoding, "premise", "hypothesis")


TASK = Task("nli", AutoClass("AutoModelForSequenceClassification"), encode, loss, decode)
