"""heldout's entity precision, recall and F1 with 95% intervals, as a module of the ``evaluate`` library."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from heldout.eval.flat import flat
from heldout.records import Card

DESCRIPTION = """Entity precision, recall and F1 (micro) of IOB2 tags, strict as seqeval's strict mode, and lenient as
conlleval reads them, each with its 95% interval: a percentile bootstrap over sentences."""
INPUTS = """predictions, references: a list of tags (O, B-PER, I-PER …) a sentence. replicates and seed: of the
bootstrap."""
CITATION = "heldout; Tjong Kim Sang and De Meulder 2003 (conlleval); Nakayama 2018 (seqeval)"
METRICS = ("entity_f1", "entity_precision", "entity_recall", "entity_f1_lenient")


class HeldoutEntities(evaluate.Metric):
    """evaluate.load(".../heldout_entities").compute(predictions=[["B-PER", "O"]], references=[["B-PER", "O"]])."""

    def _info(self) -> evaluate.MetricInfo:
        tags = datasets.Sequence(datasets.Value("string"))
        features = datasets.Features({"predictions": tags, "references": tags})
        return evaluate.MetricInfo(
            description=DESCRIPTION, inputs_description=INPUTS, citation=CITATION, features=features
        )

    def _compute(
        self, predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]], **settings: Any
    ) -> dict[str, Any]:
        found = {tag for sentence in (*predictions, *references) for tag in sentence if tag != "O"}
        types = sorted({tag[2:] for tag in found})
        labels = ("O", *(f"{prefix}-{kind}" for kind in types for prefix in "BI"))
        card = Card("evaluate", "1", "tags", labels, METRICS)
        return flat(card, [list(tags) for tags in references], [list(tags) for tags in predictions], **settings)
