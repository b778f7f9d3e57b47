import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.data.answers import placed
from heldout.data.prepare import PrepareOptions, load, prepare
from heldout.data.qa import DATA
from heldout.errors import Refused
from heldout.options import parse

MILL = "The mill was built by Ada Moor in 1820. Her son sold the mill."
WEIR = "Below the weir stands an oak. The weir feeds two ponds."


def answer(text, start=None, context=MILL):
    return {"text": text, "answer_start": context.index(text) if start is None else start}


def question(identity, *answers, **more):
    return {"id": identity, "question": f"what is {identity}?", "answers": list(answers)} | more


def nested(path, *questions, **articles):
    """A file in SQuAD's nesting: ``questions`` about the mill, or of several articles by title."""
    articles = articles or {"Mills": {MILL: questions}}
    data = [
        {"title": title, "paragraphs": [{"context": context, "qas": list(qas)} for context, qas in paragraphs.items()]}
        for title, paragraphs in articles.items()
    ]
    path.write_text(json.dumps({"version": "1.1", "data": data}))
    return str(path)


def flat(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def options(*words):
    return parse(PrepareOptions, words, prog="heldout finetune", description="")


def read(source, *words):
    return load("qa", source, options(*words))


def test_squads_nesting_is_read_with_every_answer_and_the_article_as_group(tmp_path):
    mill = [question("q1", answer("Ada Moor"), answer("Ada")), question("q2", answer("1820"))]
    weir = [question("q3", answer("two ponds", context=WEIR))]
    loaded = read(nested(tmp_path / "dev.json", Mills={MILL: mill}, Weirs={WEIR: weir}))
    first, _, last = loaded.examples
    assert first.id == "q1"
    assert first.text == {"question": "what is q1?", "context": MILL}
    assert first.gold == [{"text": "Ada Moor", "start": 22}, {"text": "Ada", "start": 22}]
    assert first.about == {"article": "Mills", "group": "Mills"}
    assert last.about == {"article": "Weirs", "group": "Weirs"}
    assert loaded.dropped == loaded.notes == {}
    assert loaded.split().labels == {"answerable": 3}


def test_packed_files_and_other_encodings_are_read_as_any_other(tmp_path):
    plain = tmp_path / "dev.json"
    nested(plain, question("q1", answer("Ada")))
    packed = tmp_path / "dev.json.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read(str(packed)).examples == read(str(plain)).examples


def test_one_article_is_no_group_so_its_passages_are(tmp_path):
    mill, weir = [question("q1", answer("Ada"))], [question("q2", answer("oak", context=WEIR))]
    loaded = read(nested(tmp_path / "dev.json", All={MILL: [*mill, question("q0", answer("1820"))], WEIR: weir}))
    groups = [example.about["group"] for example in loaded.examples]
    assert groups[0] == groups[1] != groups[2]
    assert {example.about["article"] for example in loaded.examples} == {"All"}


@pytest.mark.parametrize(
    "answers",
    [
        [{"text": "Ada Moor", "answer_start": 22}],
        [{"text": "Ada Moor", "start": 22}],
        {"text": ["Ada Moor"], "answer_start": [22]},
        {"text": "Ada Moor", "answer_start": 22},
        "Ada Moor",
        ["Ada Moor"],
        {"text": ["Ada Moor"]},
    ],
)
def test_flat_rows_say_their_answers_in_many_forms(tmp_path, answers):
    loaded = read(flat(tmp_path / "rows.jsonl", {"question": "who?", "context": MILL, "answers": answers}))
    assert loaded.examples[0].gold == [{"text": "Ada Moor", "start": 22}]
    assert loaded.examples[0].id == "rows:1"


def test_columns_are_found_by_other_names_and_by_option(tmp_path):
    row = {"query": "who?", "passage": MILL, "reply": "Ada Moor", "topic": "mills"}
    loaded = read(
        flat(tmp_path / "rows.jsonl", row, row | {"topic": "x"}), "--column", "answers=reply", "--column", "group=topic"
    )
    assert [example.about["group"] for example in loaded.examples] == ["mills", "x"]
    with pytest.raises(Refused, match="no column for answers"):
        read(flat(tmp_path / "rows.jsonl", row))


# Answers that do not stand where they say ----------------------------------------------------------------------------


def test_a_wrong_offset_is_mended_where_the_answer_stands_once_and_else_left_out_and_counted(tmp_path):
    source = nested(
        tmp_path / "dev.json",
        question("moved", answer("Ada Moor", 3)),
        question("ambiguous", answer("mill", 9), answer("1820")),
        question("absent", answer("Bea", 3)),
        question("far", answer("son", 9999)),
        question("negative", answer("son", -4)),
        question("empty", answer("", 3), answer("sold")),
    )
    loaded = read(source)
    golds = {example.id: [a["text"] for a in example.gold] for example in loaded.examples}
    assert golds == {
        "moved": ["Ada Moor"],
        "ambiguous": ["1820"],
        "far": ["son"],
        "negative": ["son"],
        "empty": ["sold"],
    }
    assert loaded.dropped == {"answer_not_in_context": 1}
    assert loaded.notes == {
        "answers_moved_to_where_they_stand": 3,
        "answers_left_out_as_in_several_places": 1,
        "answers_left_out_as_not_in_context": 1,
        "answers_left_out_as_empty": 1,
    }


@settings(deadline=None)
@given(st.text("ab\u0301 ", min_size=1, max_size=12), st.text("ab\u0301 ", max_size=3), st.none() | st.integers(-2, 14))
def test_what_is_kept_stands_where_it_says_and_everything_is_counted(context, text, start):
    from collections import Counter

    counts = Counter()
    gold = placed(context, [(text, start)], counts)
    assert len(gold) + sum(n for name, n in counts.items() if "left_out" in name) == 1
    for one in gold:
        assert context[one["start"] : one["start"] + len(text)] == text
        if start is not None and start >= 0 and context[start : start + len(text)] == text:
            assert one["start"] == start
            assert not counts


# Questions without an answer -----------------------------------------------------------------------------------------


def test_impossible_questions_have_no_gold_and_their_plausible_answers_are_set_aside(tmp_path):
    source = nested(
        tmp_path / "dev.json",
        question("q1", answer("Ada"), is_impossible=False),
        question("q2", is_impossible=True, plausible_answers=[answer("1820")]),
        question("q3", answer("1820"), is_impossible=True),
        question("q4", is_impossible=False),
    )
    loaded = read(source)
    assert [example.gold for example in loaded.examples] == [[{"text": "Ada", "start": 22}], [], []]
    assert [example.about.get("impossible") for example in loaded.examples] == [None, True, True]
    assert loaded.dropped == {"no_label": 1}
    assert loaded.notes == {"answers_of_impossible_questions_set_aside": 1}
    assert DATA.card(loaded.examples).version == "2.0"
    assert DATA.card(loaded.examples[:1]).version == "1.1"
    assert "no_ans_acc" not in DATA.card(loaded.examples[:1]).metrics


def test_without_is_impossible_an_empty_list_is_impossible_where_others_have_answers(tmp_path):
    rows = [
        {"question": "who?", "context": MILL, "answers": {"text": [], "answer_start": []}, "id": f"q{n}"} for n in "12"
    ]
    rows[1]["answers"] = {"text": ["Ada"], "answer_start": [22]}
    assert read(flat(tmp_path / "rows.jsonl", *rows)).examples[0].gold == []


def test_a_file_without_any_answers_is_unlabelled_and_refused(tmp_path):
    with pytest.raises(Refused, match="unlabelled: none of its 2 questions has an answer"):
        read(nested(tmp_path / "test.json", question("q1"), question("q2")))
    with pytest.raises(Refused, match="unlabelled"):
        read(nested(tmp_path / "test.json", {"id": "q1", "question": "who?"}, question("q2")))


def test_tables_of_text_say_impossible_in_words(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f'question,context,answers,is_impossible\nwho?,"{MILL}",Ada Moor,False\nwhat?,"{MILL}",,True\n')
    assert [len(example.gold) for example in read(str(path)).examples] == [1, 0]
    path.write_text(f'question,context,answers,is_impossible\nwho?,"{MILL}",Ada Moor,perhaps\n')
    with pytest.raises(Refused, match=r"row 1 .*is_impossible is 'perhaps', neither true nor false"):
        read(str(path))


# What is wrong is one line that says where ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([{"title": "A"}, {"paragraphs": []}], 'article 1: has no list "paragraphs"'),
        ([{"paragraphs": [{"context": MILL}]}], 'article 1, paragraph 1: has no list "qas"'),
        ([{"paragraphs": [{"context": MILL, "qas": ["x"]}]}], "article 1, paragraph 1, question 1: must be a JSON obj"),
        ([{"paragraphs": ["x"]}], "article 1, paragraph 1: must be a JSON object, not str"),
        (
            [{"paragraphs": [{"context": MILL, "qas": [question("q", {"text": 3, "answer_start": 1})]}]}],
            "article 1, paragraph 1, question 1: an answer must be",
        ),
        (
            [{"paragraphs": [{"context": MILL, "qas": [question("q", {"text": "x", "answer_start": "1"})]}]}],
            "question 1: an answer must be",
        ),
        ([{"paragraphs": [{"context": 7, "qas": [question("q", answer("Ada"))]}]}], "context is 7, not a text"),
        ([{"paragraphs": [{"qas": [question("q", answer("Ada"))]}]}], "no column for context"),
    ],
)
def test_a_broken_file_is_refused_with_the_place(tmp_path, data, message):
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"data": data}))
    with pytest.raises(Refused, match=message):
        read(str(path))


def test_unequal_lists_of_a_hubs_answers_are_refused(tmp_path):
    row = {"question": "who?", "context": MILL, "answers": {"text": ["Ada"], "answer_start": [1, 2]}}
    with pytest.raises(Refused, match="line 1: answers must have as many answer_start as text"):
        read(flat(tmp_path / "rows.jsonl", row))


def test_texts_are_taken_as_they_stand(tmp_path):
    context = "  <b>Ada</b>\r\nbuilt &amp; sold \u00a0 it.  "
    loaded = read(flat(tmp_path / "r.jsonl", {"question": " who? ", "context": context, "answers": "Ada"}))
    assert loaded.examples[0].text == {"question": " who? ", "context": context}
    with pytest.raises(Refused, match="--clean on would move the answers"):
        read(flat(tmp_path / "r.jsonl", {"question": "who?", "context": context, "answers": "Ada"}), "--clean", "on")


def test_an_empty_question_or_passage_is_dropped_and_counted(tmp_path):
    rows = [{"question": q, "context": c, "answers": "Ada"} for q, c in (("who?", MILL), (" ", MILL), ("who?", " "))]
    loaded = read(flat(tmp_path / "r.jsonl", *rows))
    assert loaded.dropped == {"empty_text": 2}
    assert len(loaded.examples) == 1


def test_other_json_is_read_as_a_table(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"data": [{"question": "who?", "context": MILL, "answers": "Ada"}]}))
    assert len(read(str(path)).examples) == 1


def test_a_question_about_a_passage_of_train_is_marked_as_sharing_it(tmp_path):
    contexts = [f"Mill {n} was built by Ada{n} of town{n} in year{n} for baker{n} and miller{n}." for n in range(12)]
    train = {f"A{n}": {c: [question(f"t{n}", answer(f"Ada{n}", context=c))]} for n, c in enumerate(contexts)}
    other = "Quite another passage, about Bea of nowhere at all."
    test = {
        "B": {contexts[0]: [question("q1", answer("Mill", context=contexts[0]))]},
        "C": {other: [question("q2", answer("Bea", context=other))]},
    }
    result = prepare(
        "qa",
        train=nested(tmp_path / "train.json", **train),
        dev=nested(tmp_path / "dev.json", question("d", answer("Ada"))),
        tests={"t": nested(tmp_path / "test.json", **test)},
        options=options(),
        seed=0,
    )
    assert [example.about.get("overlap") for example in result.splits["t"].examples] == ["shared", None]
    assert result.card.version == "1.1"


# Real data -----------------------------------------------------------------------------------------------------------

REAL = {
    "squad_v1.1_dev/dev-v1.1.json": (10570, 34726, 48, 0),
    "squad_v2_dev_half/dev-v2.0.json": (6078, 10052, 16, 3168),
    "squadshifts/amazon_reviews_v1.0.json": (9885, 27318, 413, 0),
    "squadshifts/new_wiki_v1.0.json": (7938, 22794, 48, 0),
    # One article of 2,035 paragraphs, two of which stand there twice.
    "squadshifts/reddit_v1.0.json": (9803, 27692, 2033, 0),
}


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_every_answer_of_the_real_files_stands_where_it_says(real_data, name):
    questions, answers, groups, impossible = REAL[name]
    loaded = read(str(real_data / name))
    assert len(loaded.examples) == questions
    assert sum(len(example.gold) for example in loaded.examples) == answers
    assert len({example.about["group"] for example in loaded.examples}) == groups
    assert sum(not example.gold for example in loaded.examples) == impossible
    assert loaded.dropped == loaded.notes == {}
    for example in loaded.examples:
        for gold in example.gold:
            assert example.text["context"].startswith(gold["text"], gold["start"])


@pytest.mark.data
def test_the_real_test_file_of_squad_2_is_refused_as_unlabelled(real_data):
    with pytest.raises(Refused, match="unlabelled: none of its 5915 questions has an answer and none is marked"):
        read(str(real_data / "squad_v2_dev_half" / "test-v2.0.json"))


@pytest.mark.data
def test_the_halves_of_the_real_file_are_parts_of_it(real_data):
    folder = real_data / "squad_v1.1_dev"
    halves = [read(f"{folder}/dev-v1.1.json#{folder}/halves.json:half_{half}") for half in "AB"]
    assert [len(half.examples) for half in halves] == [4961, 5609]
    assert [half.notes["left_out_by_group"] for half in halves] == [5609, 4961]
    groups = [{example.about["group"] for example in half.examples} for half in halves]
    assert groups[0].isdisjoint(groups[1])
    second = [read(f"{real_data}/squad_v2_dev_half/dev-v2.0.json#{folder}/halves.json:half_{half}") for half in "AB"]
    assert [len(half.examples) for half in second] == [3782, 2296]
