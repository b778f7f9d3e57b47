"""Matthews correlation coefficient for any number of labels: R_K of Gorodkin (2004), 0 where undefined.

With c hits among s examples, g_k golds and a_k answers of label k:
R_K = (c s − Σ a_k g_k) / √((s² − Σ a_k²)(s² − Σ g_k²)).
"""

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import Metric
from heldout.eval.table import FloatArray


def _columns(table: LabelTable) -> FloatArray:
    """(n, 1 + 2 m) for the m labels seen in gold or answers: the hit, then gold and answer one-hot.

    The margins are enough: the m² cells of the confusion matrix would not fit for hundreds of labels.
    """
    seen = np.union1d(table.gold, table.answer)
    one_hot = [codes[:, None] == seen for codes in (table.gold, table.answer)]
    return np.hstack([table.correct[:, None], *one_hot])


def _value(sums: FloatArray) -> FloatArray:
    # Products of counts pass 2^24, beyond which float32 skips integers.
    sums = sums.astype(np.float64)
    hits = sums[:, 0]
    gold, answer = np.split(sums[:, 1:], 2, axis=1)
    total = gold.sum(axis=1)
    covariance = hits * total - (gold * answer).sum(axis=1)
    spread = (total**2 - (gold**2).sum(axis=1)) * (total**2 - (answer**2).sum(axis=1))
    mcc: FloatArray = np.divide(covariance, np.sqrt(spread), out=np.zeros_like(spread), where=spread > 0)
    mcc[total == 0] = np.nan  # nothing was drawn
    return mcc


METRICS = (Metric("mcc", ("label",), False, "correlation", True, _columns, _value),)
