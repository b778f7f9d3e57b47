"""Accuracy of the surest answers: hand examples, ties, entities, against sorting."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import find
from heldout.eval.metrics.selective import covered
from heldout.eval.spans import SpanTable
from heldout.eval.table import Events
from heldout.eval.tabulate import tabulate
from heldout.records import Card, Example, Prediction

Make = Callable[..., LabelTable]


def spans(confidence: list[float], right: list[float]) -> SpanTable:
    hits, n = np.array(right, dtype=np.float64), len(right)
    return SpanTable(hits, hits, np.ones(n, dtype=np.bool_), np.array(confidence, dtype=np.float64), hits)


def test_the_four_surest_of_five_are_covered_and_the_fifth_is_not() -> None:
    table = spans([0.9, 0.2, 0.7, 0.8, 0.6], [1, 0, 0, 1, 1])
    assert find("em_at_80").of(table) == pytest.approx(3 / 4)
    assert find("em_at_80").extras(table, 0) == {"coverage": 0.8, "threshold": 0.6}
    # Of 95% the least sure counts three quarters.
    assert find("em_at_95").of(table) == pytest.approx(3 / 4.75)


def test_answers_tied_at_the_border_count_in_part_each_the_same() -> None:
    # 8 of 10 are asked for; four are surer, six are tied at 0.5 of which two are right.
    table = spans([0.9] * 4 + [0.5] * 6, [1, 1, 1, 0, 1, 0, 0, 0, 0, 1])
    assert find("em_at_80").of(table) == pytest.approx((3 + 4 * 2 / 6) / 8)


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.6, 0.9]), st.booleans()), min_size=1, max_size=40), st.randoms())
@settings(max_examples=60, deadline=None)
def test_no_order_of_rows_matters_and_exactly_the_share_asked_for_is_covered(rows, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = random.sample(rows, len(rows))
    for share in (0.8, 0.9, 0.95):
        name = f"em_at_{share * 100:.0f}"
        values = [find(name).of(spans(*map(list, zip(*some, strict=True)))) for some in (rows, shuffled)]
        assert values[0] == pytest.approx(values[1])
        confidences = np.array([confidence for confidence, _ in rows])
        weights, _ = covered(Events(confidences, np.zeros(len(rows)), np.arange(len(rows))), share)
        assert weights.sum() == pytest.approx(share * len(rows))
        assert 0 <= weights.min() <= weights.max() <= 1


def test_without_ties_it_is_the_accuracy_of_the_sorted_head(random_table: Make) -> None:
    table = random_table(200, 3, seed=4)
    order = np.argsort(-table.confidence)
    assert len(np.unique(table.confidence)) == 200
    for share in (80, 90, 95):
        assert find(f"accuracy_at_{share}").of(table) == pytest.approx(table.correct[order[: 2 * share]].mean())


CARD = Card("toy", "1", "tags", ("O", "B-X", "I-X"), ("entity_f1", "ece"))


def tagged(confidences: list[float], right: list[bool]) -> tuple[list[Example], list[Prediction]]:
    """Sentences of one word with one entity found in each; gold has it where it is right."""
    gold = [Example(str(i), {"tokens": ["word"]}, ["B-X" if hit else "O"]) for i, hit in enumerate(right)]
    said = [Prediction(str(i), ["B-X"], [[1 - p, p, 0.0]]) for i, p in enumerate(confidences)]
    return gold, said


def test_of_tags_it_is_the_surest_entities_found() -> None:
    table = tabulate(CARD, *tagged([0.9, 0.8, 0.7, 0.6, 0.2], [True, True, False, True, False]))
    assert find("precision_at_80").of(table) == pytest.approx(3 / 4)
    assert find("mce").of(table) == pytest.approx(0.7)
    # Risks of the first k: 0, 0, 1/3, 1/4, 2/5.
    assert find("aurc").of(table) == pytest.approx((1 / 3 + 1 / 4 + 2 / 5) / 5)


def test_a_system_that_finds_no_entity_has_none_of_them() -> None:
    gold = [Example("a", {"tokens": ["word"]}, ["B-X"])]
    table = tabulate(CARD, gold, [Prediction("a", ["O"], [[0.9, 0.1, 0.0]])])
    for name in ("precision_at_80", "mce", "aurc"):
        assert np.isnan(find(name).of(table)), name
        assert find(name).count(table) == 0
