"""Baselines that answer with a piece of a passage."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.baselines import BASELINES, BaselineOptions
from heldout.baselines._noun_like import FUNCTION, runs, words
from heldout.baselines.first_noun import answer as first_noun
from heldout.baselines.sliding_window import _windows, sentences
from heldout.baselines.sliding_window import answer as sliding_window
from heldout.errors import Refused
from heldout.records import Card, Example, read_predictions
from heldout.runs import write_lines

V1, V2 = (Card("qa", version, "span", (), ("f1", "em")) for version in ("1.1", "2.0"))
PASSAGE = (
    "The mill near York was built by Ada Moor. Her son Tom Moor, born in 1801, sold it to a baker for $2,500. "
    "Since then the mill has ground no corn!"
)
QUESTIONS = ["Who built the mill?", "When was Tom born?", "For how much did he sell it?", "", "?"]
EXAMPLES = [Example(f"q{n}", {"question": text, "context": PASSAGE}, []) for n, text in enumerate(QUESTIONS)]
ANSWERED = [Example("t", {"question": "who", "context": PASSAGE}, [{"text": "York", "start": 14}])]
KINDS = ["first-noun", "no-answer", "sliding-window"]


def fit(kind, train=EXAMPLES, card=V2):
    return BASELINES[kind].fit(train, [], card, 0, BaselineOptions())


def test_three_baselines_answer_questions_and_every_other_refuses_to_by_name() -> None:
    applicable = []
    for kind in BASELINES:
        try:
            fit(kind)
            applicable.append(kind)
        except Refused as refused:
            assert str(refused).startswith(f"{kind}: ")
    assert applicable == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_what_a_file_takes_in_the_order_of_the_questions(kind: str, tmp_path: Path) -> None:
    said = fit(kind).predict(EXAMPLES)
    assert [prediction.id for prediction in said] == [example.id for example in EXAMPLES]
    write_lines(tmp_path / "said.jsonl", (prediction.to_json() for prediction in said))
    assert read_predictions(tmp_path / "said.jsonl", V2) == said
    assert fit(kind).predict([]) == []


def test_no_answer_is_refused_where_every_question_has_one() -> None:
    assert {prediction.answer for prediction in fit("no-answer").predict(EXAMPLES)} == {""}
    with pytest.raises(Refused, match="no-answer: every question of train has an answer"):
        fit("no-answer", ANSWERED, V1)


@pytest.mark.parametrize(
    ("question", "expected"),
    [("Who built the mill?", "York"), ("Who built the mill near York?", "Ada Moor"), ("", "York")],
)
def test_the_first_noun_is_a_name_or_a_number_that_the_question_lacks(question: str, expected: str) -> None:
    assert first_noun(question, PASSAGE) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who built the mill near York?", "Ada Moor"),
        ("When was her son Tom born?", "1801"),
        ("Who ground no corn since then?", "mill"),
    ],
)
def test_the_sliding_window_answers_from_the_sentence_that_shares_most(question: str, expected: str) -> None:
    assert sliding_window(question, PASSAGE) == expected


def test_runs_are_cut_at_function_words_and_where_capitals_begin_or_end() -> None:
    found = [PASSAGE[run[0].start : run[-1].end] for run in runs(PASSAGE, words(PASSAGE))]
    assert found[:8] == ["mill", "York", "built", "Ada Moor", "son", "Tom Moor", "born", "1801"]
    assert not FUNCTION & {part.casefold() for piece in found for part in piece.split()}


TEXT = st.text("aAbB1. ,é\u0301\U0001f3ac!?\n", max_size=40) | st.sampled_from([PASSAGE, "…", "the of and"])


@settings(deadline=None)
@given(TEXT, TEXT.filter(str.strip))
def test_an_answer_is_a_piece_of_the_passage_and_never_empty(question: str, context: str) -> None:
    for answer in (first_noun, sliding_window):
        said = answer(question, context)
        assert said
        assert said in context


@settings(deadline=None)
@given(TEXT)
def test_every_word_is_in_one_sentence(text: str) -> None:
    there = words(text)
    assert [word for sentence in sentences(text, there) for word in sentence] == there


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=10), st.lists(st.sampled_from("abce"), max_size=4))
def test_the_windows_score_is_richardsons_by_a_double_loop(passage: list[str], asked: list[str]) -> None:
    candidates = [[word] for word in words(" ".join(passage))]
    expected = []
    for (word,) in candidates:
        wanted = {*asked, word.fold}
        sums = [
            sum(math.log(1 + 1 / passage.count(one)) for one in passage[j : j + len(wanted)] if one in wanted)
            for j in range(len(passage))
        ]
        expected.append(max(sums))
    assert _windows(passage, asked, candidates) == pytest.approx(expected)
