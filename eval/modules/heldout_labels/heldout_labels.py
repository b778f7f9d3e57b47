"""heldout's accuracy, macro F1 and MCC with 95% intervals, as a module of the ``evaluate`` library."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from heldout.eval.flat import flat
from heldout.records import Card

DESCRIPTION = """Accuracy, macro F1 (the mean over the labels that have gold) and MCC of labels, each with its 95%
interval: Wilson's for accuracy, else a percentile bootstrap. Predictions and references are the numbers or names."""
INPUTS = """predictions, references: a label an example. replicates (default 10,000) and seed: of the bootstrap."""
CITATION = "heldout; Wilson 1927; Efron 1979; Gorodkin 2004 (R_K, the MCC of more than two labels)"


class HeldoutLabels(evaluate.Metric):
    """evaluate.load(".../heldout_labels").compute(predictions=[0, 1], references=[0, 0])."""

    def _info(self) -> evaluate.MetricInfo:
        columns = [{"predictions": datasets.Value(t), "references": datasets.Value(t)} for t in ("int64", "string")]
        features = [datasets.Features(column) for column in columns]
        return evaluate.MetricInfo(
            description=DESCRIPTION, inputs_description=INPUTS, citation=CITATION, features=features
        )

    def _compute(self, predictions: Sequence[Any], references: Sequence[Any], **settings: Any) -> dict[str, Any]:
        golds, answers = [str(label) for label in references], [str(label) for label in predictions]
        labels = tuple(sorted({*golds, *answers}))
        labels = labels if len(labels) > 1 else (*labels, "any other")
        card = Card("evaluate", "1", "label", labels, ("accuracy", "macro_f1", "mcc"))
        return flat(card, golds, answers, **settings)
