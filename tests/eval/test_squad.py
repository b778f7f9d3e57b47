"""Exact match and F1: the official figures on real files, and a second implementation from the definition."""

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.cli import main
from heldout.eval.squad import judge, normalise, word_f1
from heldout.runs import read_json, write_json, write_lines

#: What the official scorers say, in percent, of the predictions made by the rule below.
OFFICIAL = {
    "squad_v1.1_dev/dev-v1.1.json": {"em": 65.58183538315988, "f1": 73.23640293961124},
    "squad_v2_dev_half/dev-v2.0.json": {
        "em": 56.893715037841396,
        "f1": 60.80826654064031,
        "has_ans_em": 65.29209621993127,
        "has_ans_f1": 73.46826255464336,
        "no_ans_acc": 49.17929292929293,
    },
}


def questions(path: Path) -> Iterator[tuple[str, str, str, str, list[dict[str, Any]]]]:
    """Article, id, question, context and answers of a SQuAD file."""
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                yield article["title"], asked["id"], asked["question"], paragraph["context"], asked["answers"]


def by_the_rule(number: int, golds: list[str], context: str) -> str:
    """The prediction that the referee's figures are of, for the question at this place in the order of ids."""
    if not golds:
        return "" if number % 2 == 0 else " ".join(context.split()[:3])
    answers = {
        0: golds[0],
        1: f"The {golds[-1].upper()}.",
        2: " ".join(golds[0].split()[:2]),
        3: " ".join(context.split()[:5]),
    }
    return answers[number % 4]


def files(folder: Path, source: Path, version: str) -> list[str]:
    """Card, gold and rule-made predictions of a SQuAD file, as the arguments of ``heldout score``."""
    rows = sorted(questions(source), key=lambda row: row[1])
    card = {"name": "squad", "version": version, "kind": "span", "labels": [], "metrics": ["f1", "em"]}
    write_json(folder / "card.json", card)
    write_lines(
        folder / "gold.jsonl",
        (
            {
                "id": id_,
                "text": {"question": question, "context": context},
                "gold": [{"text": answer["text"], "start": answer["answer_start"]} for answer in answers],
                "about": {"group": title, "impossible": not answers},
            }
            for title, id_, question, context, answers in rows
        ),
    )
    write_lines(
        folder / "predictions.jsonl",
        (
            {"id": id_, "answer": by_the_rule(number, [answer["text"] for answer in answers], context)}
            for number, (_, id_, _, context, answers) in enumerate(rows)
        ),
    )
    names = {"--card": "card.json", "--gold": "gold.jsonl", "--predictions": "predictions.jsonl", "--out": "out.json"}
    return ["score", *(word for flag, name in names.items() for word in (flag, f"{folder / name}"))]


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "version", "articles", "counts"),
    [
        ("squad_v1.1_dev/dev-v1.1.json", "1.1", 48, [10570, 10570]),
        ("squad_v2_dev_half/dev-v2.0.json", "2.0", 16, [6078, 6078, 2910, 2910, 3168]),
    ],
)
def test_heldout_score_gives_the_official_scorers_figures_to_the_last_digit(
    real_data: Path, tmp_path: Path, name: str, version: str, articles: int, counts: list[int]
) -> None:
    assert main([*files(tmp_path, real_data / name, version), "--replicates", "20"]) == 0
    metrics = read_json(tmp_path / "out.json")["metrics"]
    assert list(metrics)[:2] == ["f1", "em"]
    values = {metric: 100 * entry["value"] for metric, entry in metrics.items()}
    assert values == pytest.approx(OFFICIAL[name], rel=1e-14)
    assert [entry["n"] for entry in metrics.values()] == counts
    assert all(f"{articles} groups kept whole" in entry["method"] for entry in metrics.values())


def test_texts_are_compared_without_case_ascii_punctuation_articles_and_spaces() -> None:
    same = ["the Café Noir", "A  café, noir!", "café\tnoir", "An (café) 'noir'"]
    assert {normalise(text) for text in same} == {"café noir"}
    # Other punctuation and letters inside words stay: so the official scorers have it.
    assert normalise("“theatre” – anthem") == "“theatre” – anthem"
    assert normalise("U.S.-made") == "usmade"
    assert normalise("the a an") == normalise("...") == normalise("") == ""


def test_the_best_of_several_gold_answers_counts_for_each_of_the_two() -> None:
    assert judge(["red brick house", "house"], "the brick house", second=False) == (0.0, 0.8)
    assert judge(["red brick house", "the house"], "House.", second=False) == (1.0, 1.0)


def test_words_count_as_often_as_both_texts_have_them() -> None:
    # Two of the three "tick" are shared: precision 2/3, recall 2/2.
    assert judge(["tick tick"], "tick tick tick", second=False) == (0.0, 0.8)


def test_of_two_empty_texts_version_1_says_0_and_version_2_says_1() -> None:
    assert judge(["the"], "an", second=False) == (1.0, 0.0)
    assert word_f1([], [], 1.0) == 1.0


def test_version_2_takes_out_gold_of_which_nothing_is_left() -> None:
    assert judge(["the", "Rome"], "", second=True) == (0.0, 0.0)
    assert judge(["the", "..."], "", second=True) == (1.0, 1.0)


def test_q2_an_abstention_is_right_where_there_is_no_answer_and_only_there() -> None:
    assert judge([], "", second=True) == (1.0, 1.0)
    assert judge([], " unanswerable", second=True) == (0.0, 0.0)
    assert judge(["Rome"], "", second=True) == (0.0, 0.0)


def oracle_words(text: str) -> list[str]:
    """Normalising word by word and letter by letter, with no regular expression of articles."""
    kept = "".join(c for c in text.lower() if not (c.isascii() and unicodedata.category(c)[0] in "PS"))
    # An article is a word between letters, digits and underscores, wherever those end: "a–b" holds one.
    parts = re.split(r"(\W)", kept)
    return "".join(" " if part in ("a", "an", "the") else part for part in parts).split()


def oracle_f1(gold: list[str], answer: list[str]) -> float:
    """Twice the matched pairs over all words, matching word by word."""
    left = list(gold)
    matched = 0
    for word in answer:
        if word in left:
            left.remove(word)
            matched += 1
    return 2 * matched / (len(gold) + len(answer)) if matched else 0.0


pieces = st.sampled_from([*"aAnx ,.-_'“é\t\n1", "the", "The ", " an ", "house", "a–b", "İ", "ß", "́", "\u00a0", "…"])
texts = st.lists(pieces, max_size=12).map("".join)


@given(texts)
def test_normalising_equals_a_second_implementation_and_leaves_its_own_output_in_words(text: str) -> None:
    assert normalise(text).split(" ") == (oracle_words(text) or [""])


@given(st.lists(texts, min_size=1, max_size=4), texts, st.booleans())
def test_scores_equal_a_second_implementation(golds: list[str], answer: str, second: bool) -> None:
    wanted, said = [oracle_words(gold) for gold in golds], oracle_words(answer)
    if second:
        wanted = [words for words in wanted if words] or [[]]
    em = max(float(words == said) for words in wanted)
    f1 = max(float(second) if not words and not said else oracle_f1(words, said) for words in wanted)
    assert judge(golds, answer, second=second) == (em, pytest.approx(f1, abs=1e-12))


words = st.lists(st.sampled_from("abc"), max_size=6)


@given(words, words, st.sampled_from([0.0, 1.0]))
def test_f1_is_a_share_symmetric_and_1_only_for_the_same_bag_of_words(
    one: list[str], other: list[str], both_empty: float
) -> None:
    f1 = word_f1(one, other, both_empty)
    assert 0 <= f1 <= 1
    assert f1 == pytest.approx(word_f1(other, one, both_empty))
    assert (f1 == 1) == (sorted(one) == sorted(other) and (one != [] or both_empty == 1))
    assert (f1 == 0) == (not set(one) & set(other) and not (one == other == [] and both_empty == 1))


@given(texts, st.booleans())
def test_a_text_in_other_dress_matches_and_its_f1_is_1_where_something_is_left_of_it(text: str, second: bool) -> None:
    em, f1 = judge([text], f" The {text}. ", second=second)
    assert (em, f1) == (1.0, 1.0 if second or normalise(text) else 0.0)
