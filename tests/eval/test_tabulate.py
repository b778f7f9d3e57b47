import numpy as np
import pytest

from heldout.errors import Refused
from heldout.eval.tabulate import tabulate
from heldout.records import Card, Example, Prediction

THREE = Card(
    "toy",
    "1",
    "label",
    ("entailment", "neutral", "contradiction"),
    ("accuracy",),
    collapse={"neutral": "non-entailment", "contradiction": "non-entailment"},
)


def example(id_: str, gold: str) -> Example:
    return Example(id_, {"premise": "A cat sleeps.", "hypothesis": "A cat rests."}, gold)


def test_rows_stand_in_golds_order_whatever_the_order_of_predictions() -> None:
    gold = [example("a", "neutral"), example("b", "entailment")]
    predictions = [Prediction("b", "entailment", [0.7, 0.2, 0.1]), Prediction("a", "contradiction", [0.1, 0.2, 0.7])]
    table = tabulate(THREE, gold, predictions)
    assert table.gold.tolist() == [1, 0]
    assert table.answer.tolist() == [2, 0]
    assert table.confidence.tolist() == [0.7, 0.7]


def test_labels_are_collapsed_and_probabilities_summed_where_gold_uses_the_collapsed_ones() -> None:
    gold = [example("a", "non-entailment"), example("b", "entailment")]
    predictions = [Prediction("a", "neutral", [0.2, 0.5, 0.3]), Prediction("b", "contradiction", [0.4, 0.1, 0.5])]
    table = tabulate(THREE, gold, predictions)
    assert table.labels == ("entailment", "non-entailment")
    assert table.correct.tolist() == [1.0, 0.0]
    np.testing.assert_allclose(table.scores, [[0.2, 0.8], [0.4, 0.6]])


def test_one_row_without_scores_leaves_none_and_is_counted() -> None:
    gold = [example("a", "neutral"), example("b", "entailment")]
    table = tabulate(THREE, gold, [Prediction("a", "neutral", [0.2, 0.5, 0.3]), Prediction("b", "neutral")])
    assert table.scores is None
    assert table.unscored == 1
    with pytest.raises(Refused, match="1 of 2 predictions have no scores"):
        _ = table.probabilities


def test_a_collapse_of_no_label_is_refused() -> None:
    gold, predictions = [example("a", "neutral")], [Prediction("a", "neutral")]
    odd = Card("toy", "1", "label", ("x", "neutral"), ("accuracy",), collapse={"y": "neutral"})
    with pytest.raises(Refused, match="'y', which is not among its labels"):
        tabulate(odd, gold, predictions)
