"""Word accuracy: the share of words whose tag equals gold's. Most words are O, so it is high whatever is found."""

import numpy as np

from heldout.eval.metrics import Metric, ratio
from heldout.eval.table import FloatArray
from heldout.eval.tags import TagTable


def _columns(table: TagTable) -> FloatArray:
    """(n, 2): how many words of a sentence are right, and how many it has."""
    words = table.words
    right = np.bincount(words.owner, words.answer == words.gold, len(table))
    return np.column_stack([right, np.bincount(words.owner, minlength=len(table))])


def _words(table: TagTable) -> int:
    return len(table.words.gold)


METRICS = (Metric("word_accuracy", ("tags",), False, "share", True, _columns, ratio, about="words", count=_words),)
