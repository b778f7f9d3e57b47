from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from heldout.baselines import BASELINES, BaselineOptions
from heldout.baselines.gazetteer import folded, gazetteer, look_up
from heldout.bio import strict
from heldout.data.ner import card
from heldout.eval.tabulate import tabulate
from heldout.records import Example, Prediction, read_predictions
from heldout.runs import write_lines

DEFAULT = BaselineOptions()


def example(identity: str, words: str, tags: str) -> Example:
    return Example(identity, {"words": words.split(" ")}, tags.split(" "))


TRAIN = [
    example("a", "Upper Malmö is upper", "B-place I-place O O"),
    example("b", "Malmö met Malmö FF", "B-team O B-team I-team"),
    example("c", "Malmö slept", "B-place O"),
    example("d", "malmö won", "B-team O"),
]
TEST = [
    example("t", "in Upper MALMÖ with Malmö ff and Malmö", "O O O O O O O O"),
    example("u", "nobody", "B-place"),
    example("v", " ", "O O"),
]


def said(kind: str) -> list[Prediction]:
    return BASELINES[kind].fit(TRAIN, TRAIN, card(TRAIN), 0, DEFAULT).predict(TEST)


def test_the_longest_entry_wins_case_is_folded_and_a_type_is_the_most_frequent() -> None:
    assert said("gazetteer")[0].answer == ["O", "B-place", "I-place", "O", "B-team", "I-team", "O", "B-team"]
    assert [prediction.answer for prediction in said("gazetteer")[1:]] == [["O"], ["O", "O"]]


def test_of_equally_frequent_types_the_first_in_the_alphabet_is_taken() -> None:
    assert gazetteer(TRAIN[1:3]) == {("malmö",): "place", ("malmö", "ff"): "team"}


def test_the_majority_tag_is_given_to_every_word_with_the_shares_of_tags() -> None:
    first = said("majority")[0]
    assert first.answer == ["O"] * 8
    # 12 words of train: O 5, B-place 2, I-place 1, B-team 3, I-team 1.
    assert first.scores == [[0.416667, 0.166667, 0.0833333, 0.25, 0.0833333]] * 8


def test_both_write_predictions_that_are_read_and_scored(tmp_path: Path) -> None:
    for kind in ("gazetteer", "majority"):
        path = tmp_path / f"{kind}.jsonl"
        write_lines(path, (prediction.to_json() for prediction in said(kind)))
        assert read_predictions(path, card(TRAIN)) == said(kind)
        assert len(tabulate(card(TRAIN), TEST, said(kind))) == 3


WORDS = st.lists(st.sampled_from(["a", "B", "c"]), min_size=1, max_size=6)


@given(WORDS, st.lists(WORDS, min_size=1, max_size=4))
def test_what_is_found_is_found_by_trying_every_span(words: list[str], names: list[list[str]]) -> None:
    entries = {folded(name): "x" for name in names}
    wanted, taken = [], -1
    for start in range(len(words)):
        ends = [end for end in range(start + 1, len(words) + 1) if folded(words[start:end]) in entries]
        if start > taken and ends:
            wanted.append((start, max(ends), "x"))
            taken = max(ends) - 1
    assert look_up(words, entries) == wanted


def test_on_the_sentences_it_was_made_of_it_finds_every_entity_that_is_longest() -> None:
    entries = gazetteer(TRAIN)
    found = [look_up(row.text["words"], entries) for row in TRAIN]
    assert [[span[:2] for span in spans] for spans in found] == [[s[:2] for s in strict(row.gold)] for row in TRAIN]
