"""The lexicon baseline: the seeds' rule word for word, the packaged words, a lexicon of one's own."""

import json
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.baselines import BASELINES, BaselineOptions
from heldout.baselines.lexicon import SEEDS, balance, contains, matches, read_lexicon
from heldout.errors import Refused
from heldout.records import Card, Example

CARD = Card("films", "1", "label", ("negative", "positive"), ("accuracy",))
WORDS = json.loads(resources.files("heldout.eval.slices").joinpath("opinion_words.json").read_text(encoding="utf-8"))
SEED_RULE = BaselineOptions(rule="seeds")


def answers(*texts: str, options: BaselineOptions = SEED_RULE, most: str = "negative", card: Card = CARD) -> list[str]:
    train = [Example("t", {"text": ""}, most)]
    fitted = BASELINES["lexicon"].fit(train, [], card, 0, options)
    said = fitted.predict([Example(str(i), {"text": text}, card.labels[0]) for i, text in enumerate(texts)])
    assert all(prediction.scores is None for prediction in said), "a count is no probability"
    return [prediction.answer for prediction in said]


def test_the_four_sentences_of_the_seeds_are_two_right_of_four() -> None:
    """seeds, section 23.9; ../shared/seed_values.json, ch.sentiment: positive, positive, negative, negative."""
    said = answers("The film is good.", "The film is not good.", "The film is bad.", "The film is not bad.")
    gold = ["positive", "negative", "negative", "positive"]
    assert said == ["positive", "positive", "negative", "negative"]
    assert sum(one == other for one, other in zip(said, gold, strict=True)) == 2


@pytest.mark.parametrize(
    "text", ["Good", "GOOD!", "so-so but good-looking", "_good_", "“good”", "good good", "the good's"]
)
def test_good_counts_as_a_word_in_any_case_and_company(text: str) -> None:
    assert answers(text) == ["positive"]


@pytest.mark.parametrize(
    "text", ["goodness", "feelgood", "badly", "good but bad", "good, good, good and bad", "", "fine"]
)
@pytest.mark.parametrize("most", CARD.labels)
def test_where_the_rule_is_silent_train_decides(text: str, most: str) -> None:
    assert answers(text, most=most) == [most]


def test_the_full_rule_counts_each_occurrence_and_leaves_a_tie_to_train() -> None:
    texts = ("good, good, good and bad", "dull and dull, yet charming", "charming but dull", "a film about trains")
    said = answers(*texts, options=BaselineOptions(), most="positive")
    assert said == ["positive", "negative", "positive", "positive"]


@given(st.lists(st.sampled_from(["good", "bad", "Good", "train", "goodness", "not"])))
def test_the_rules_agree_with_plain_counting(words: list[str]) -> None:
    text, folded = " ".join(words), [word.lower() for word in words]
    assert balance(text, SEEDS) == folded.count("good") - folded.count("bad")
    assert contains(text, SEEDS) == ("good" in folded) - ("bad" in folded)


def test_a_joined_word_is_taken_whole_where_the_lexicon_has_it() -> None:
    assert list(matches("so-so, well-made; it's so", {"so-so": -1.0, "so": 1.0, "well": 1.0})) == [
        "so-so",
        "well",
        "so",
    ]


def test_short_and_capital_label_names_are_known_and_a_third_label_is_left_alone() -> None:
    for labels in (("neg", "pos"), ("Negative", "Positive"), ("positive", "neutral", "negative")):
        card = Card("films", "1", "label", labels, ("accuracy",))
        said = answers("good", "bad", most=labels[1], card=card)
        assert [name.casefold()[:3] for name in said] == ["pos", "neg"]


@pytest.mark.parametrize("labels", [("fresh", "rotten"), ("1", "2", "3", "4", "5"), ("positive", "other")])
def test_labels_without_poles_are_refused_saying_how_to_name_them(labels: tuple[str, ...]) -> None:
    with pytest.raises(Refused, match=r"lexicon: not applicable to labels .*--label FROM=positive"):
        answers("good", most=labels[0], card=Card("films", "1", "label", labels, ("accuracy",)))


def test_the_seeds_rule_takes_no_lexicon() -> None:
    with pytest.raises(Refused, match="leave out --lexicon mine"):
        answers("good", options=BaselineOptions("seeds", Path("mine.tsv")))


def test_no_packaged_word_stands_on_both_sides_and_each_is_sorted_lower_case_and_one_word() -> None:
    positive, negative = WORDS["positive"], WORDS["negative"]
    assert not set(positive) & set(negative)
    assert min(len(positive), len(negative)) > 600
    for side in (positive, negative):
        assert side == sorted(set(side))
        assert all(word == word.casefold() and word.isalpha() for word in side)


def test_the_packaged_words_are_what_is_read() -> None:
    lexicon = read_lexicon(None)
    assert {word for word, polarity in lexicon.items() if polarity > 0} == set(WORDS["positive"])
    assert {word for word, polarity in lexicon.items() if polarity < 0} == set(WORDS["negative"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mine.tsv", "Crisp\tpositive\r\n\nsoggy\t-1\nso-so\t-0.5\n"),
        ("mine.json", '\ufeff{"positive": ["Crisp"], "negative": ["soggy", "so-so"]}'),
    ],
)
def test_a_lexicon_of_ones_own_is_used(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    options = BaselineOptions(lexicon=tmp_path / name)
    said = answers("crisp bread", "soggy bread", "so-so", "good bread", options=options, most="positive")
    assert said == ["positive", "negative", "negative", "positive"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.tsv", "crisp\tpositive\nsoggy", "line 2: must be a word, a tab and its polarity"),
        ("a.tsv", "crisp\tgood", "line 1: must be a word, a tab and its polarity"),
        ("a.tsv", "crisp\tnan", "line 1: must be a word, a tab and its polarity"),
        ("a.tsv", "crisp\t1\t0.5", "line 1: must be a word, a tab and its polarity"),
        ("a.tsv", "crisp bread\t1", "line 1: 'crisp bread' is not one word"),
        ("a.tsv", ":)\t1", "line 1: ':)' is not one word"),
        ("a.tsv", "crisp\t1\nCrisp\t-1", "line 2: 'Crisp' stands here a second time with another polarity"),
        ("a.tsv", "\n", "the lexicon holds no words"),
        ("a.json", "{", "the lexicon is not JSON"),
        ("a.json", "[]", "a lexicon in JSON is"),
        ("a.json", '{"positive": []}', "a lexicon in JSON is"),
        ("a.json", '{"positive": ["a"], "negative": [1]}', "negative word 1: 1 is not one word"),
        ("a.json", '{"positive": ["a"], "negative": ["b", "a"]}', "negative word 2: 'a' stands here a second time"),
        ("a.json", '{"positive": [], "negative": []}', "the lexicon holds no words"),
    ],
)
def test_a_wrong_lexicon_is_refused_with_file_and_row(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(Refused) as error:
        read_lexicon(tmp_path / name)
    assert str(error.value).startswith(str(tmp_path / name)) and says in str(error.value)


def test_a_lexicon_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.tsv").write_bytes(b"caf\xe9\t1\n")
    for name, says in (("latin.tsv", "not UTF-8 at byte 3"), ("none.tsv", "cannot be read"), ("", "cannot be read")):
        with pytest.raises(Refused, match=says):
            read_lexicon(tmp_path / name)
