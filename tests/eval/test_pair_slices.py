"""Slices of pairs: negation by text, lexical overlap, phenomenon by label."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.data.prepare import load
from heldout.data.sources import SourceOptions
from heldout.eval.slices import known, parts
from heldout.eval.slices.lexical_overlap import share, words
from heldout.eval.slices.pair_negation import has_cue
from heldout.records import Example, Prediction


def rows(*texts, phenomenon=None, gold="neutral"):
    about = {"phenomenon": phenomenon} if phenomenon else {}
    examples = [Example(str(n), {"premise": p, "hypothesis": h}, gold, about) for n, (p, h) in enumerate(texts)]
    return [(example, Prediction(example.id, "neutral")) for example in examples]


def test_a_cue_is_told_by_the_text_it_stands_in():
    pairs = rows(
        ("A man sings.", "The man isn't quiet."),
        ("Nobody sings.", "A man sings."),
        ("No man sings.", "There is never a song."),
        ("A man sings.", "A man is loud."),
        ("Not only men sing.", "A man sings, no doubt."),
    )
    assert parts(known()["pair_negation"], pairs) == {
        "pair_negation=hypothesis only": [0],
        "pair_negation=premise only": [1],
        "pair_negation=both": [2],
        "pair_negation=neither": [3, 4],
    }


def test_overlap_is_high_from_three_quarters_of_the_hypothesis_on():
    pairs = rows(
        ("The old dog sleeps on a mat.", "The DOG sleeps on grass."),
        ("The old dog sleeps on a mat.", "The dog sleeps alone."),
        ("The old dog sleeps on a mat.", "The dog eats grass."),
        ("The old dog.", "..."),
    )
    assert parts(known()["lexical_overlap"], pairs) == {"lexical_overlap=high": [0, 1], "lexical_overlap=low": [2, 3]}


def test_a_phenomenon_is_shown_for_each_gold_label():
    pairs = [
        *rows(("a", "b"), phenomenon="subsequence", gold="entailment"),
        *rows(("a", "b"), phenomenon="subsequence", gold="non-entailment"),
        *rows(("a", "b"), phenomenon="constituent", gold="entailment"),
        *rows(("a", "b")),
    ]
    assert parts(known()["phenomenon"], pairs) == {
        "phenomenon=constituent, entailment": [2],
        "phenomenon=subsequence, entailment": [0],
        "phenomenon=subsequence, non-entailment": [1],
    }
    assert parts(known()["phenomenon"], rows(("a", "b"))) == {}


def test_single_texts_are_in_no_part_of_a_slice_of_pairs():
    single = [(Example("a", {"text": "Not bad."}, "positive"), Prediction("a", "positive"))]
    assert [parts(known()[name], single) for name in ("pair_negation", "lexical_overlap")] == [{}, {}]


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_two_texts_have_a_part_in_each(premise, hypothesis):
    pairs = rows((premise, hypothesis))
    found = [parts(known()[name], pairs) for name in ("pair_negation", "lexical_overlap")]
    assert [list(one.values()) for one in found] == [[[0]], [[0]]]
    assert 0 <= share(words(hypothesis), words(premise)) <= 1


@pytest.mark.data
@pytest.mark.parametrize(("name", "found"), [("SNLI", 1996), ("MNLI", 1974), ("RTE", 1980)])
def test_cues_are_found_where_the_authors_of_a_set_negated_a_text(real_data, name, found):
    path = str(real_data / f"negation_nli/clean/{name}.txt")
    examples = load("nli", path, SourceOptions(encoding=("cp1252",))).examples
    # Rows in threes: premise negated, hypothesis negated, both.
    negated = [
        example.text[field]
        for third, fields in enumerate((["premise"], ["hypothesis"], ["premise", "hypothesis"]))
        for example in examples[third::3]
        for field in fields
    ]
    assert len(negated) == 2000
    assert sum(map(has_cue, negated)) == found


@pytest.mark.data
@pytest.mark.parametrize(
    ("path", "high", "entailed"),
    [
        ("becel/snli/test.tsv", 0.17, 0.69),
        ("mnli_dev_matched/mnli_development_set_number_of_correct_responses.txt", 0.16, 0.64),
        ("hans/hans_style_regenerated_6000.tsv", 1.0, 0.5),
    ],
)
def test_the_shares_of_high_overlap_are_those_that_the_slice_tells(real_data, path, high, entailed):
    labels = ("0=entailment", "1=neutral", "2=contradiction") if "becel" in path else ()
    examples = load("nli", str(real_data / path), SourceOptions(label=labels)).examples
    pairs = [(example, Prediction(example.id, "neutral")) for example in examples]
    found = parts(known()["lexical_overlap"], pairs)["lexical_overlap=high"]
    assert len(found) / len(examples) == pytest.approx(high, abs=0.005)
    assert sum(examples[row].gold == "entailment" for row in found) / len(found) == pytest.approx(entailed, abs=0.005)
