"""Drawings: scales hold their values, names are escaped, every answer is in a bar."""

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from heldout.eval.report.charts import Bin, axis, reliability, scale, short, whisker

NASTY = '"><script>alert(1)</script>'


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_a_scale_holds_its_values_and_has_ticks_in_order(values):
    span = scale(values)
    assert span.low <= min(values) and max(values) <= span.high
    assert 2 <= len(span.ticks) <= 9 and sorted(span.ticks) == list(span.ticks)
    assert all(span.low - 1e-9 <= tick <= span.high + 1e-9 for tick in span.ticks)


def test_a_scale_of_shares_stays_within_them():
    span = scale([0.9, 1.0], within=(0, 1))
    assert span.high == 1 and max(span.ticks) <= 1


def test_a_name_in_a_drawing_is_escaped():
    span = scale([0.1, 0.9])
    for drawing in (whisker((0.5, 0.4, 0.6), span, "model", NASTY), reliability([Bin(0, 1, 3, 1, 0.5)], NASTY)):
        root = ET.fromstring(drawing)
        assert root.attrib["aria-label"] == NASTY and not root.findall(".//script")
    assert "&lt;script" in axis(span, [NASTY] * len(span.ticks))


def test_a_whisker_without_an_interval_is_a_mark_alone():
    root = ET.fromstring(whisker((0.5, None, None), scale([0.1, 0.9]), "baseline", "x"))
    assert not [line for line in root.iter("line") if "span" in line.attrib["class"]]
    assert [node for node in root.iter("rect")]


def test_every_bin_with_answers_has_a_point_a_bar_and_its_count():
    bins = [
        Bin(k / 15, (k + 1) / 15, n, n // 2, (k + 0.5) / 15)
        for k, n in enumerate([0] * 7 + [5, 0, 12, 30, 1, 2, 3, 999])
    ]
    root = ET.fromstring(reliability(bins, "x"))
    used = [b for b in bins if b.n]
    assert len(list(root.iter("circle"))) == len(list(root.iter("rect"))) == len(used) == 7
    shown = [node.text for node in root.iter("text") if node.attrib["class"] == "count"]
    assert shown == [str(b.n) for b in used]


def test_a_long_count_is_shortened():
    assert (short(9999), short(12345)) == ("9,999", "12.3k")
