"""Slices of questions: the parts of examples we wrote, and that every question of the real file is in one."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.eval.slices import Slice, chosen, known, parts
from heldout.eval.slices.question_overlap import sentence
from heldout.eval.slices.question_word import question_word
from heldout.records import Card, Example, Prediction

OF_SPANS = ("question_word", "answer_length", "context_length", "answer_position", "question_overlap", "answerable")
Pair = tuple[Example, Prediction]


def slice_of(name: str) -> Slice:
    found = known()[name]
    assert isinstance(found, Slice)
    return found


def asked(question: str, context: str, *golds: str) -> Pair:
    answers = [{"text": gold, "start": context.index(gold)} for gold in golds]
    return Example("q", {"question": question, "context": context}, answers), Prediction("q", "")


def part(name: str, pair: Pair) -> str | None:
    return slice_of(name).value(*pair)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Who sold the boat?", "who"),
        ("To whom was it sold?", "who"),
        ("Whose boat was sold?", "who"),
        ("WHAT is it made of?", "what"),
        ("What's it made of?", "what"),
        ("In what year was it sold, and when again?", "what"),
        ("When was it sold?", "when"),
        ("Where is it now?", "where"),
        ("Why was it sold?", "why"),
        ("For how much was it sold?", "how"),
        ("In which harbour does it lie?", "which"),
        ("Name the harbour.", "other"),
        ("Somewhat of a whoop?", "other"),
        ("", "other"),
    ],
)
def test_the_first_question_word_decides_wherever_it_stands(question: str, word: str) -> None:
    assert question_word(question) == word
    assert part("question_word", asked(question, "A boat.")) == word


CONTEXT = "The boat was sold in May. It now lies in a small harbour of the north! Nobody sails it."


@pytest.mark.parametrize(
    ("gold", "length", "position"),
    [
        ("boat", "1 word", "first third"),
        ("a small harbour", "2-3 words", "second third"),
        ("a small harbour of the north", "4-6 words", "second third"),
        ("It now lies in a small harbour of the north", "over 6 words", "first third"),
        ("sails it", "2-3 words", "last third"),
    ],
)
def test_length_and_place_are_those_of_the_first_gold_answer(gold: str, length: str, position: str) -> None:
    pair = asked("Which?", CONTEXT, gold, "boat", "Nobody")
    assert part("answer_length", pair) == length
    assert part("answer_position", pair) == position


def test_an_impossible_question_has_no_answer_to_measure_but_a_context() -> None:
    pair = asked("Who bought it?", CONTEXT)
    found = {name: part(name, pair) for name in OF_SPANS}
    assert found == {
        "question_word": "who",
        "answer_length": None,
        "context_length": "up to 100 words",
        "answer_position": None,
        "question_overlap": None,
        "answerable": "no",
    }


def test_an_offset_behind_the_end_is_in_the_last_third() -> None:
    example = Example("q", {"question": "Who?", "context": "Ada."}, [{"text": "Bo", "start": 99}])
    assert slice_of("answer_position").value(example, Prediction("q", "")) == "last third"


@pytest.mark.parametrize("words", [1, 100, 101, 150, 151, 250, 251])
def test_context_length_has_each_border_in_the_lower_part(words: int) -> None:
    names = ("up to 100 words", "101-150 words", "151-250 words", "over 250 words")
    wanted = names[(words > 100) + (words > 150) + (words > 250)]
    assert part("context_length", asked("Who?", "word " * words)) == wanted


@pytest.mark.parametrize(
    ("question", "gold", "level"),
    [
        # The words that count are in brackets; the answer's sentence is the first, but for the last two.
        ("When was the boat sold?", "May", "high"),  # boat, sold
        ("When was the old boat sold?", "May", "high"),  # old, boat, sold: 2 of 3
        ("When did a captain lose the boat?", "May", "low"),  # captain, lose, boat: 1 of 3
        ("When was her boat given away?", "May", "low"),  # boat, given, away
        ("When was the yellow boat sold cheaply?", "May", "middle"),  # yellow, boat, sold, cheaply: 2 of 4
        ("In what does it lie now?", "a small harbour", "middle"),  # lie, now: 1 of 2
        ("Was the boat sold?", "Nobody", "low"),  # boat, sold: in another sentence
    ],
)
def test_overlap_is_of_the_questions_words_with_the_answers_sentence(question: str, gold: str, level: str) -> None:
    assert part("question_overlap", asked(question, CONTEXT, gold)) == level


def test_a_question_of_function_words_alone_is_in_no_part() -> None:
    assert part("question_overlap", asked("What is it?", CONTEXT, "boat")) is None


made = st.lists(
    st.tuples(st.text("ab.", min_size=1, max_size=6).map("a{}b".format), st.sampled_from([". ", "!  ", "?\n", "\n"])),
    min_size=1,
    max_size=5,
)


@given(made, st.data())
def test_the_sentence_of_an_answer_is_the_one_put_there(rows: list[tuple[str, str]], data: st.DataObject) -> None:
    text = "".join(words + end for words, end in rows)
    which = data.draw(st.integers(0, len(rows) - 1))
    words, end = rows[which]
    start = sum(len(before) + len(stop) for before, stop in rows[:which])
    # A part of the sentence, a letter of it at the least.
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    assert sentence(text, start + first, start + last) == words + end.rstrip()


def test_answerable_cuts_only_where_a_question_has_no_answer() -> None:
    pairs = [asked("Who?", "Ada.", "Ada"), asked("Who?", "Ada."), asked("What?", "Ada.", "Ada")]
    assert parts(slice_of("answerable"), pairs) == {"answerable=yes": [0, 2], "answerable=no": [1]}
    assert parts(slice_of("answerable"), pairs[::2]) == {}


def test_slices_of_questions_say_nothing_of_texts_with_a_label() -> None:
    pairs = [(Example("a", {"text": "Who knows?"}, "good"), Prediction("a", "good"))]
    assert {name: parts(slice_of(name), pairs) for name in OF_SPANS} == {name: {} for name in OF_SPANS}


def test_a_card_of_spans_may_ask_for_each_of_them() -> None:
    card = Card("squad", "2.0", "span", (), ("f1",), (*OF_SPANS, "domain"))
    assert [slice_.name for slice_ in chosen(card)] == [
        *(*OF_SPANS, "domain", "overlap", "phenomenon", "role", "truncated")
    ]


@pytest.mark.data
def test_every_question_of_the_real_file_is_in_a_part_of_each_and_no_part_is_empty(real_data: Path) -> None:
    pairs = []
    for article in json.loads((real_data / "squad_v2_dev_half" / "dev-v2.0.json").read_text())["data"]:
        for paragraph in article["paragraphs"]:
            for row in paragraph["qas"]:
                golds: list[Any] = [{"text": a["text"], "start": a["answer_start"]} for a in row["answers"]]
                text = {"question": row["question"], "context": paragraph["context"]}
                pairs.append((Example(row["id"], text, golds), Prediction(row["id"], "")))
    answerable = sum(bool(example.gold) for example, _ in pairs)
    assert (len(pairs), answerable) == (6078, 2910)
    for name in OF_SPANS:
        found = parts(slice_of(name), pairs)
        assert [key.split("=")[1] for key in found] == list(slice_of(name).order), name
        whole = name in ("question_word", "context_length", "answerable")
        assert sum(map(len, found.values())) == (6078 if whole else 2910), name
