"""Numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.eval.metrics import known
from heldout.eval.report.wording import (
    PER_CENT,
    advantage,
    bounded,
    bounds,
    count,
    listed,
    measure,
    opening,
    percent,
    signed_amount,
    sure,
    title,
    visible,
)


def test_shares_are_read_in_per_cent_and_others_to_three_decimals():
    assert (measure("accuracy", 0.868), measure("nll", 0.3709), measure("mcc", -0.25)) == ("86.8%", "0.371", "−0.250")


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_no_number_is_a_dash(value):
    assert measure("accuracy", value) == percent(value) == "–"


def test_an_interval_below_zero_is_joined_by_a_word():
    assert (bounds(0.846, 0.888), bounds(-0.009, 0.041), bounds(None, 1)) == ("84.6–88.8", "−0.9 to 4.1", "")


def test_a_difference_has_a_sign_as_wide_as_a_digit():
    assert [signed_amount("accuracy", d) for d in (0.016, -0.016, 0.0)] == ["+1.6", "−1.6", "±0.0"]
    assert signed_amount("nll", -0.2) == "−0.200"


def test_only_certainty_is_called_certain():
    assert (sure(1.0), sure(0.9999), sure(0.95)) == ("100.0%", "over 99.9%", "95.0%")


def test_counts_and_lists():
    assert (count(25000), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])) == (
        "25,000",
        "a",
        "a and b",
        "a, b and c",
    )
    assert opening("macro F1") == "Macro F1"


def test_null_metrics_have_no_bounds():
    assert bounded({"value": None, "note": "needs scores"}) == bounded(None) == bounded([1]) == (None, None, None)
    assert bounded({"value": True, "low": math.nan, "high": 1}) == (None, None, 1)


@given(st.text(alphabet=st.characters()))
def test_nothing_hidden_is_left_in_visible_text(text):
    shown = visible(text)
    shown.encode("utf-8")
    assert not any(ord(c) < 32 for c in shown if c not in "\n\t") and "\u202e" not in shown
    assert len(shown) >= len(text)


def test_less_of_an_error_is_an_advantage():
    assert advantage((-0.2, -0.3, 0.1), False) == (0.2, -0.1, 0.3)
    assert advantage((-0.2, None, None), False) == (0.2, None, None)
    assert advantage((-0.2, -0.3, 0.1), True) == (-0.2, -0.3, 0.1)


def test_every_metric_has_a_name_without_underscores_and_shares_are_in_per_cent():
    metrics = known()
    assert len(metrics) > 20
    assert [name for name in metrics if "_" in title(name)] == []
    shares = {
        name for name, m in metrics.items() if m.higher_is_better and m.unit in ("share", "F1", "share of tokens")
    }
    # Of these shares a lower one is better.
    assert set(metrics) & PER_CENT == shares | {"flip_rate", "twin_gap"} == PER_CENT
