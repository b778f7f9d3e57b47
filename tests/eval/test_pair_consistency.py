"""Pair consistency against a count by hand, in whole sets, slices and intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.eval.metrics import chosen, find
from heldout.eval.score import score
from heldout.eval.statistics import group_codes
from heldout.eval.tabulate import tabulate
from heldout.records import Card, Example, Prediction

CARD = Card("nli", "1", "label", ("entailment", "neutral"), ("accuracy", "macro_f1", "nll"), ("domain",))
METRIC = find("pair_consistency")


def made(rows):
    """Examples of (pair or None, right or wrong), every gold entailment."""
    gold = [
        Example(str(n), {}, "entailment", {} if pair is None else {"pair": pair}) for n, (pair, _) in enumerate(rows)
    ]
    answers = [Prediction(str(n), "entailment" if right else "neutral") for n, (_, right) in enumerate(rows)]
    return gold, answers


def by_hand(rows):
    pairs = {}
    for pair, right in rows:
        if pair is not None:
            pairs.setdefault(pair, []).append(right)
    bundles = [all(rights) for rights in pairs.values() if len(rights) > 1]
    return (sum(bundles) / len(bundles), len(bundles)) if bundles else None


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c", "d", None]), st.booleans()), min_size=1, max_size=20))
def test_it_is_the_share_of_pairs_whose_members_are_all_right(rows):
    table = tabulate(CARD, *made(rows))
    expected = by_hand(rows)
    names = [metric.name for metric in chosen(CARD, table)]
    assert ("pair_consistency" in names) == (expected is not None)
    if expected is not None:
        assert METRIC.of(table) == pytest.approx(expected[0])
        assert METRIC.count(table) == expected[1]


def test_it_stands_behind_accuracy_where_there_are_pairs_and_nowhere_else():
    rows = [("a", True), ("a", True), ("b", True), ("b", False)]
    assert list(score(CARD, *made(rows), data="t", replicates=50)["metrics"]) == [
        *("accuracy", "macro_f1", "pair_consistency", "nll")
    ]
    alone = [("a", True), ("b", True), (None, False)]
    assert list(score(CARD, *made(alone), data="t", replicates=50)["metrics"]) == ["accuracy", "macro_f1", "nll"]


def test_a_pair_that_a_slice_cuts_is_not_in_it():
    gold, answers = made([("a", True), ("a", True), ("b", True), ("b", False)])
    domains = ["x", "x", "x", "y"]
    gold = [Example(e.id, e.text, e.gold, {**e.about, "domain": d}) for e, d in zip(gold, domains, strict=True)]
    slices = score(CARD, gold, answers, data="t", replicates=50)["slices"]
    found = {name: part["metrics"]["pair_consistency"] for name, part in slices.items()}
    assert (found["domain=x"]["value"], found["domain=x"]["n"]) == (1.0, 1)
    assert found["domain=y"] == {"value": None, "note": "no whole pairs"}


def test_pairs_are_resampled_whole_whether_or_not_a_group_says_so():
    gold, answers = made([(str(n // 2), n % 4 != 0) for n in range(80)])
    entry = score(CARD, gold, answers, data="t", replicates=2000)["metrics"]["pair_consistency"]
    assert "40 groups kept whole" in entry["method"]
    assert entry["value"] == 0.5
    # Two standard errors of a share of a half among 40.
    assert entry["high"] - entry["low"] == pytest.approx(4 * np.sqrt(0.25 / 40), rel=0.15)
    grouped = [Example(e.id, e.text, e.gold, {**e.about, "group": e.about["pair"]}) for e in gold]
    assert group_codes(grouped).tolist() == group_codes(gold).tolist() == [n // 2 for n in range(80)]
