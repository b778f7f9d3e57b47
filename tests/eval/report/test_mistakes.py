"""The most confident mistakes: in order, bounded in number and in bytes."""

import re
from dataclasses import replace

import pytest
from markupsafe import escape

from heldout.eval.report.mistakes import TEXT_BYTES, most_confident


def test_the_surest_mistakes_come_first_and_the_rest_is_counted(read):
    found = most_confident(read, lambda *_: [], limit=30)
    assert len(found.shown) == 30 and found.left_out == found.total - 30 > 0
    of_main = [mistake.confidence for mistake in found.shown if mistake.system == "tiny-bert"]
    assert len(of_main) == 10 and of_main == sorted(of_main, reverse=True)
    said = [re.fullmatch(r"Answered (\w+)(?: with .+)?; gold is (\w+)", m.body.heading).groups() for m in found.shown]
    assert all(answer != gold for answer, gold in said)


@pytest.mark.parametrize("limit", [1, 2, 5, 6, 7, 13])
def test_no_more_mistakes_are_listed_than_asked_for_and_no_fewer(read, limit):
    assert len(most_confident(read, lambda *_: [], limit=limit).shown) == limit


def test_no_mistake_is_listed_where_none_is_asked_for(read):
    found = most_confident(read, lambda *_: [], limit=0)
    assert not found.shown and found.left_out == found.total > 0


def test_texts_stay_within_their_bytes_whatever_they_hold(read):
    data = read.tests[0]
    fields = [{"text": fill * 20_000, "b": "😀" * 9000} for fill in ('"', "\x00")]
    long = [replace(example, text=fields[number % 2]) for number, example in enumerate(data.examples)]
    spoilt = replace(read, tests=(replace(data, examples=tuple(long)),))
    found = most_confident(spoilt, lambda *_: [], limit=400)
    fields = [field for mistake in found.shown for field in mistake.body.fields]
    size = sum(len(str(escape(part.text)).encode()) for field in fields for part in field.parts)
    assert len(fields) == 2 * len(found.shown) and 0 < size <= TEXT_BYTES
    assert all(field.lost > 0 for field in fields)
