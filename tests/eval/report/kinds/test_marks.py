"""Texts with marks: nothing is lost, nothing is torn, nothing escapes, and all of it within its bytes."""

import re
from html import unescape

from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.eval.report.marks import OPEN, Mark, marked, plain, union
from heldout.eval.report.wording import visible

LABELS = re.compile(r' <small class="label \w+">.*?</small>', re.DOTALL)


def words_in(field) -> str:
    """The text of a field without its marks and labels."""
    return "".join(unescape(re.sub("<[^>]+>", "", LABELS.sub("", str(part.text)))) for part in field.parts)


def size(field) -> int:
    return sum(len(str(part.text).encode()) for part in field.parts)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=400).map(lambda text: text * 3)


@st.composite
def texts_with_marks(draw):
    text = draw(texts)
    cuts = st.integers(0, len(text))
    spans = draw(st.lists(st.tuples(cuts, cuts).filter(lambda cut: cut[0] < cut[1]), max_size=5)) if text else []
    sides, labels = st.sampled_from(["gold", "found", "both"]), st.text(max_size=60)
    return text, [Mark(a, b, draw(sides), draw(labels), draw(st.booleans())) for a, b in spans]


@given(texts_with_marks())
def test_the_text_is_all_there_whatever_is_marked_in_it(given_text):
    text, marks = given_text
    field = marked("words", text, marks, room=200_000)
    assert words_in(field) == visible(text)
    assert field.lost == field.unmarked == 0
    drawn = "".join(str(part.text) for part in field.parts)
    assert drawn.count("<small") == len(marks)
    assert sum(part.folded for part in field.parts) <= max(0, len(text) - 1)


@settings(max_examples=60)
@given(texts_with_marks(), st.integers(300, 3000))
def test_no_more_bytes_are_written_than_there_is_room_for(given_text, room):
    text, marks = given_text
    field = marked("words", text * 20, marks, room)
    assert size(field) <= room
    assert len(words_in(field)) >= min(len(visible(text * 20)), 1) * (room // 2 // 8 > 0)
    shown = len(text * 20) - field.lost
    assert visible(text * 20).find(words_in(field)) >= 0 and 0 <= shown <= len(text * 20)


def test_what_is_wrong_stands_open_and_the_rest_is_folded():
    text = "It rained. " * 300 + "The mill was built by Ada Moor. " + "It snowed. " * 300
    at = text.index("Ada Moor")
    field = marked("context", text, [Mark(at, at + 8, "gold", "gold")], 100_000)
    assert [bool(part.folded) for part in field.parts] == [True, False, True]
    middle = field.parts[1]
    assert '<mark class="gold">Ada Moor</mark> <small class="label gold">gold</small>' in middle.text
    assert len(middle.text) < OPEN + 200 and field.lost == len(text) - 6000


def test_two_marks_that_overlap_share_a_piece():
    field = marked("words", "the New York City Hall", [Mark(4, 17, "gold", "a"), Mark(8, 22, "found", "b")], 9999)
    assert field.parts[0].text == (
        'the <mark class="gold">New </mark><mark class="found gold">York City</mark> '
        '<small class="label gold">a</small> <mark class="found">Hall</mark> <small class="label found">b</small>'
    )


def test_a_label_and_a_text_are_no_more_than_text():
    evil = "<img src=x onerror=alert(1)>\u202e"
    field = marked("words", evil, [Mark(0, len(evil), "found", evil)], 9999)
    assert "<img" not in field.parts[0].text and field.parts[0].text.count("&lt;img") == 2
    assert "\u202e" not in field.parts[0].text and "[U+202E]" in field.parts[0].text


def test_marks_that_there_is_no_room_for_are_counted_and_those_that_are_wrong_come_first():
    marks = [Mark(k, k + 1, "both", "x", wrong=False) for k in range(0, 80, 2)] + [Mark(90, 95, "gold", "seen")]
    field = marked("words", "a " * 60, marks, 1000)
    assert ">seen</small>" in field.parts[0].text and 30 < field.unmarked < 41


def test_a_plain_text_is_folded_at_a_space():
    field = plain("text", "word " * 400, 100_000)
    assert [bool(part.folded) for part in field.parts] == [False, True]
    assert field.parts[0].text.endswith("word") and "".join(part.text for part in field.parts) == "word " * 400


def test_spans_that_touch_stay_apart():
    assert union([(0, 3), (3, 5), (4, 9)]) == [(0, 3), (3, 9)]
