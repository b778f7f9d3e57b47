"""heldout's exact match and F1 of extracted answers with 95% intervals, as a module of the ``evaluate`` library."""

from collections.abc import Mapping, Sequence
from typing import Any

import datasets
import evaluate

from heldout.eval.flat import flat
from heldout.records import Card

DESCRIPTION = """Exact match and F1 of answers as shares, with 95% bootstrap intervals, by the rules of SQuAD 1.1; where
a question has no answer, by those of 2.0, with F1 of answerable questions and accuracy on the others."""
INPUTS = """predictions: {"id", "prediction_text"}, "" for no answer.
references: {"id", "answers": {"text", "answer_start"}}.
Joined by id. replicates (default 10,000), seed."""
CITATION = "heldout; Rajpurkar et al. 2016, 2018"


class HeldoutSquad(evaluate.Metric):
    """evaluate.load(".../heldout_squad").compute(predictions=[{"id": "q", "prediction_text": "Ada"}], references=…)."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        gold = {
            "id": text,
            "answers": datasets.features.Sequence({"text": text, "answer_start": datasets.Value("int32")}),
        }
        answer = {"id": text, "prediction_text": text}
        features = [
            datasets.Features({"predictions": predictions, "references": gold})
            for predictions in (answer, answer | {"no_answer_probability": datasets.Value("float32")})
        ]
        return evaluate.MetricInfo(
            description=DESCRIPTION, inputs_description=INPUTS, citation=CITATION, features=features
        )

    def _compute(
        self, predictions: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]], **settings: Any
    ) -> dict[str, Any]:
        said = {row["id"]: row["prediction_text"] for row in predictions}
        wanted = {row["id"]: row["answers"] for row in references}
        if sorted(said) != sorted(wanted) or len(said) < len(predictions) or len(wanted) < len(references):
            raise ValueError("predictions and references must hold the same ids, each once")
        golds = [
            [{"text": t, "start": s} for t, s in zip(answers["text"], answers["answer_start"], strict=True)]
            for answers in wanted.values()
        ]
        # A question without an answer makes the rules those of 2.0 (eval/spans.py).
        metrics = ("f1", "em") if all(golds) else ("f1", "em", "has_ans_f1", "no_ans_acc")
        card = Card("evaluate", "1.1", "span", (), metrics)
        return flat(card, golds, [said[id_] for id_ in wanted], **settings)
