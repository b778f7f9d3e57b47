"""heldout's NLL, Brier score and calibration errors with 95% intervals, as a module of the ``evaluate`` library."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from heldout.eval.flat import flat
from heldout.records import Card

DESCRIPTION = """How far probabilities can be trusted: NLL, Brier score (halved for two labels), ECE with equal-width
and with equal-mass bins, AURC, each with its 95% interval. The confidence of an example is that of
its most likely label."""
INPUTS = """predictions: the probabilities of an example's labels, summing to 1. references: the number of its label.
bins (default 15), replicates (default 10,000), seed."""
CITATION = "heldout; Brier 1950; Guo et al. 2017; Geifman and El-Yaniv 2017"


class HeldoutCalibration(evaluate.Metric):
    """evaluate.load(".../heldout_calibration").compute(predictions=[[0.9, 0.1]], references=[0])."""

    def _info(self) -> evaluate.MetricInfo:
        features = datasets.Features(
            {"predictions": datasets.Sequence(datasets.Value("float64")), "references": datasets.Value("int64")}
        )
        return evaluate.MetricInfo(
            description=DESCRIPTION, inputs_description=INPUTS, citation=CITATION, features=features
        )

    def _compute(
        self, predictions: Sequence[Sequence[float]], references: Sequence[int], **settings: Any
    ) -> dict[str, Any]:
        labels = tuple(map(str, range(len(predictions[0]))))
        card = Card("evaluate", "1", "label", labels, ("nll", "brier", "ece", "ece_mass", "aurc"))
        rows = [list(map(float, row)) for row in predictions]
        answers = [labels[row.index(max(row))] for row in rows]
        return flat(card, [str(label) for label in references], answers, rows, **settings)
