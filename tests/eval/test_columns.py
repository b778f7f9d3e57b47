import doctest

from heldout.eval import columns
from heldout.eval.columns import aligned


def test_a_remark_widens_nothing_and_a_short_row_ends_early() -> None:
    rows = [["", "value", "interval"], ["a long remark about what stands above it"], ["nll", "0.5"]]
    assert aligned(rows) == ["     value  interval", "a long remark about what stands above it", "nll  0.5"]


def test_numbers_stand_to_the_right_where_that_is_asked_for() -> None:
    assert aligned([["n", "x"], ["1", "10"], ["22", "3"]], right=(0, 1)) == [" n   x", " 1  10", "22   3"]
    assert doctest.testmod(columns).attempted == 1
    assert doctest.testmod(columns).failed == 0
