import importlib.util
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.pretrain import sentences
from heldout.pretrain.sentences import resolve, starts

TEXT = 'It rained. "Did it?" he said!  Nobody knew... The end\nof it.\n\nA last line'


def cut(splitter, text):
    begins = [*starts(splitter)(text), len(text)]
    return [text[a:b] for a, b in pairwise(begins)]


def test_the_plain_splitter_cuts_after_marks_before_capitals_and_at_ends_of_lines():
    parts = ["It rained. ", '"Did it?" he said!  ', "Nobody knew... ", "The end\n", "of it.\n\n", "A last line"]
    assert cut("plain", TEXT) == parts


def test_a_line_is_a_sentence_where_that_is_asked_for():
    assert cut("line", "One. Two.\nThree\n") == ["One. Two.\n", "Three\n"]


def test_sentencex_knows_abbreviations():
    pytest.importorskip("sentencex")
    assert cut("sentencex", "Mr. Smith left. He was late.") == ["Mr. Smith left. ", "He was late."]


@given(st.text(alphabet=st.sampled_from('aB .!?"\n\u00e9\U0001f600'), min_size=1, max_size=80))
@pytest.mark.parametrize("splitter", ["plain", "line", "sentencex"])
def test_sentences_begin_at_growing_places_inside_the_text(splitter, text):
    if splitter == "sentencex" and importlib.util.find_spec("sentencex") is None:
        pytest.skip("sentencex is not installed")
    begins = list(starts(splitter)(text))
    assert begins[0] == 0
    assert begins == sorted(set(begins))
    assert begins[-1] < len(text)


def test_where_sentencex_is_not_installed_auto_is_plain_and_asking_for_it_is_refused(monkeypatch):
    monkeypatch.setattr(sentences.importlib.util, "find_spec", lambda name: None)
    assert resolve("auto") == "plain"
    with pytest.raises(Refused, match="pip install sentencex"):
        resolve("sentencex")
    monkeypatch.setattr(sentences.importlib.util, "find_spec", lambda name: object())
    assert resolve("auto") == "sentencex"
