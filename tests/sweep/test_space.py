"""What --space takes: every form, every refusal before any work, and points that lie in it."""

from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.options import option
from heldout.sweep.space import Dimension, allowed, parse_space, points, size

VARIED = ("rate", "batch", "share", "long", "freeze", "stride", "model")


@dataclass(frozen=True)
class Options:
    rate: float = option(1e-4, "")
    batch: int = option(16, "")
    share: float | None = option(None, "")
    long: Literal["head", "tail"] = option("head", "")
    freeze: bool = option(False, "")
    stride: int = option(2, "")
    model: str = option("m", "")
    seed: int = option(1, "")

    def __post_init__(self):
        if self.rate <= 0:
            raise Refused(f"--rate {self.rate}: give more than 0")
        if self.stride >= self.batch:
            raise Refused(f"--stride {self.stride}: give less than --batch")


def parsed(*texts):
    return parse_space(texts, Options(), VARIED)


def test_every_form_becomes_the_dimension_it_says():
    assert parsed("rate=1e-5:1e-4:log", "batch=16,32", "share=0:0.2", "stride=1:9:2", "freeze=no,yes") == (
        Dimension("rate", low=1e-5, high=1e-4, log=True),
        Dimension("batch", (16, 32)),
        Dimension("share", low=0.0, high=0.2),
        Dimension("stride", low=1, high=9, step=2, whole=True),
        Dimension("freeze", (False, True)),
    )
    assert parsed("--model=a/b,c:d", "share=none,0.1", "long=head,tail") == (
        Dimension("model", ("a/b", "c:d")),
        Dimension("share", (None, 0.1)),
        Dimension("long", ("head", "tail")),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rat=1:2", "did you mean rate?"),
        ("seed=1,2", "seed must be the same for every trial"),
        ("rate", "write NAME=VALUES"),
        ("rate=", "write NAME=VALUES"),
        ("rate=0:1", "--rate 0.0: give more than 0"),
        ("rate=-1,1", "--rate -1.0: give more than 0"),
        ("rate=2:1", "the first number must be the lower one"),
        ("rate=1:1", "the first number must be the lower one"),
        ("rate=1:2:3:4", "a range is LOW:HIGH"),
        ("rate=1:nan", "a range is LOW:HIGH"),
        ("batch=8:16.5", "in whole numbers"),
        ("share=0:1:log", "begins above 0"),
        ("share=0:1:2", "the step must be more than 0 and fit into the range"),
        ("share=0:1:0", "the step must be more than 0 and fit into the range"),
        ("batch=8,x", "'x' is not a whole number"),
        ("rate=1,inf", "'inf' is not a number"),
        ("rate=1,", "'' is not a number"),
        ("batch=none,8", "'none' is not a whole number"),
        ("long=head,tial", "did you mean tail?"),
        ("freeze=yes,maybe", "'maybe' is none of true"),
        ("freeze=yes,true", "every value once"),
        ("batch=8", "one value is no choice; give it as --batch 8"),
        ("stride=1,16", "give less than --batch"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line_that_quotes_it(text, said):
    with pytest.raises(Refused) as refused:
        parsed(text)
    assert said in str(refused.value)
    assert f"--space {text}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_nothing_to_search_over_and_an_option_given_twice_are_refused():
    with pytest.raises(Refused, match="say what to search over"):
        parsed()
    with pytest.raises(Refused, match="given twice"):
        parsed("rate=1:2", "rate=3,4")


def test_a_space_that_can_be_counted_lists_each_of_its_points_once():
    space = parsed("batch=16,32", "stride=1:5:2", "share=0:0.3:0.1")
    found = list(points(space))
    assert size(space) == len(found) == 2 * 3 * 4
    assert len({tuple(point.items()) for point in found}) == len(found)
    assert found[1] == {"batch": 16, "stride": 1, "share": 0.1}
    assert {point["share"] for point in found} == {0.0, 0.1, 0.2, 0.3}
    assert size(parsed("rate=1:2", "batch=16,32")) is None
    assert size(parsed("batch=16:32")) == 17
    assert size(parsed("batch=16:1000000000")) == 999_999_985


def test_a_point_whose_values_refuse_one_another_is_not_allowed():
    assert allowed(Options(), {"batch": 32, "stride": 17})
    assert not allowed(Options(), {"batch": 8, "stride": 9})


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 20))
def test_the_values_of_a_stepped_range_are_those_of_python_s_range(low, width, step):
    high = low + max(width, step)
    (one,) = parse_space([f"batch={low + 9}:{high + 9}:{step}"], Options(stride=0), VARIED)
    assert one.values == tuple(range(low + 9, high + 10, step))
