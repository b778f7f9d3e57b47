"""Metrics of language models, over predicted tokens: loss, perplexity, accuracy; and the accuracy of pairs' labels.

The loss is summed over all tokens of the set and divided by their number: a row with many counts for more, as it
should (a mean of the rows' means would not be the perplexity of anything).
"""

import numpy as np

from heldout.eval.lm import LmTable
from heldout.eval.metrics import Metric, ratio
from heldout.eval.table import FloatArray


def _loss(table: LmTable) -> FloatArray:
    return np.column_stack([table.nll, table.n])


def _hits(table: LmTable) -> FloatArray:
    return np.column_stack([table.hits, table.n])


def _pairs(table: LmTable) -> FloatArray:
    return np.column_stack([table.correct, np.ones(len(table))])


def _perplexity(sums: FloatArray) -> FloatArray:
    value: FloatArray = np.exp(ratio(sums))
    return value


METRICS = (
    Metric("lm_nll", ("lm",), False, "nats a token", False, _loss, ratio),
    Metric("perplexity", ("lm",), False, "perplexity", False, _loss, _perplexity),
    Metric("lm_accuracy", ("lm",), True, "share of tokens", True, _hits, ratio),
    Metric("nsp_accuracy", ("lm",), True, "share", True, _pairs, ratio, share=True),
)
