"""The plain-Python definition: the lesson's worked example, exact values, and the library where both say the same."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.tokenizer.reference import (
    apply_merges,
    bpe_tokenize,
    get_pair_counts,
    merge_pair,
    spelled,
    train_bpe,
    train_by_id,
    wordpiece_tokenize,
)
from heldout.tokenizer.train import learn

LESSON = {"fast": 4, "faster": 3, "tall": 5, "taller": 4}


def merged(merges):
    return [" ".join(pair) for pair in merges]


def test_the_lessons_first_counts_and_merges():
    vocab = spelled(LESSON)
    counts = {" ".join(pair): n for pair, n in get_pair_counts(vocab).items()}
    assert list(counts.items())[:4] == [("f a", 7), ("a s", 7), ("s t", 7), ("t </w>", 4)]
    assert (counts["t a"], counts["a l"], counts["l l"], counts["l e"]) == (9, 9, 9, 4)
    assert merged(train_bpe(vocab, 8)) == ["t a", "ta l", "tal l", "f a", "fa s", "fas t", "e r", "er </w>"]


def test_the_merged_pairs_counts_are_forced_though_the_order_is_not():
    vocab, counts = spelled(LESSON), []
    for pair in train_bpe(vocab, 8):
        counts.append(get_pair_counts(vocab)[pair])
        vocab = merge_pair(pair, vocab)
    assert counts == [9, 9, 9, 7, 7, 7, 7, 7]
    assert list(vocab) == [("fast", "</w>"), ("fast", "er</w>"), ("tall", "</w>"), ("tall", "er</w>")]


def test_a_stem_survives_and_an_unseen_one_does_not():
    merges = train_bpe(spelled(LESSON), 8)
    assert bpe_tokenize("fastest", merges) == ["fast", "e", "s", "t", "</w>"]
    assert bpe_tokenize("tallest", merges) == ["tall", "e", "s", "t", "</w>"]
    assert bpe_tokenize("smartest", merges) == [*"smartest", "</w>"]
    assert bpe_tokenize("tatata", merges) == ["ta", "ta", "ta", "</w>"]
    assert bpe_tokenize("", merges) == ["</w>"]
    more = spelled({**LESSON, "smarter": 3})
    assert bpe_tokenize("smartest", train_bpe(more, 14)) == ["sma", *"rtest", "</w>"]
    assert bpe_tokenize("smartest", train_bpe(more, 16)) == ["smart", *"est", "</w>"]


def test_a_merge_stays_inside_symbols_and_does_not_overlap():
    assert merge_pair(("a", "b"), {("xa", "b"): 1}) == {("xa", "b"): 1}
    assert merge_pair(("l", "l"), {("l", "l", "l"): 1}) == {("ll", "l"): 1}
    assert get_pair_counts({("a", "a", "a"): 2}) == {("a", "a"): 4}


def test_training_stops_where_no_pair_is_left():
    assert merged(train_bpe({("a", "b"): 1}, 8)) == ["a b"]
    assert train_by_id({("a", "b"): 1}, ["a", "b"], 9, min_frequency=2) == ({"a": 0, "b": 1}, [])


def test_a_word_without_known_pieces_is_unknown_as_a_whole():
    pieces = ["jump", "##ing", "##s", "un", "##happi", "##ness", "happy", "##h"]
    found = {
        word: wordpiece_tokenize(word, pieces) for word in ("jumping", "jumps", "unhappiness", "jumped", "unhappy")
    }
    assert found == {
        "jumping": ["jump", "##ing"],
        "jumps": ["jump", "##s"],
        "unhappiness": ["un", "##happi", "##ness"],
        "jumped": ["[UNK]"],
        "unhappy": ["[UNK]"],
    }
    assert wordpiece_tokenize("jumping", pieces, longest=6) == ["[UNK]"]


def test_every_value_of_the_seeds_exercise_holds(real_data):
    seeds = json.loads((real_data.parent / "seed_values.json").read_text())
    entries = {entry["id"]: entry["expected"] for entry in seeds["entries"]}
    first, third = entries["ex23.10a"], entries["ex23.10c"]
    vocab = spelled(LESSON)
    assert {" ".join(pair): n for pair, n in get_pair_counts(vocab).items()} == first["initial_counts"]["value"]
    merges = train_bpe(vocab, 8)
    assert merged(merges) == first["merges_first_seen"]["value"]
    words = ("fastest", "tallest", "smartest", "tatata")
    keys = ("fastest_first_seen", "tallest_first_seen", "smartest", "tatata")
    for word, key in zip(words, keys, strict=True):
        assert bpe_tokenize(word, merges) == third[key]["value"]
    for word, pieces in third["seen_words"]["value"].items():
        assert bpe_tokenize(word, merges) == pieces
    more = spelled({**LESSON, "smarter": 3})
    assert merged(train_bpe(more, 14)) == [pair for pair, _ in third["merges_with_smarter"]["value"]]


WORDS = st.dictionaries(st.text("abcd", min_size=1, max_size=7), st.integers(1, 4), min_size=1, max_size=12)
LETTERS = ["a", "b", "c", "d"]


@settings(deadline=None, max_examples=150)
@given(WORDS, st.integers(8, 40), st.integers(0, 3))
def test_the_fast_bpe_learns_the_same_merges_ties_and_all(words, size, least):
    initial = LETTERS + [letter + "</w>" for letter in LETTERS]
    vocab = {(*word[:-1], word[-1] + "</w>"): n for word, n in words.items()}
    assert learn("bpe", words, initial, size, least) == train_by_id(vocab, initial, size, min_frequency=max(least, 1))


@settings(deadline=None, max_examples=150)
@given(WORDS, st.integers(4, 40))
def test_the_fast_byte_level_bpe_learns_the_same_merges(words, size):
    vocab = {tuple(word): n for word, n in words.items()}
    assert learn("byte-bpe", words, LETTERS, size, 1) == train_by_id(vocab, LETTERS, size)


@settings(deadline=None, max_examples=150)
@given(WORDS, st.integers(8, 40))
def test_the_fast_wordpiece_learns_the_same_pieces(words, size):
    initial = LETTERS + ["##" + letter for letter in LETTERS]
    vocab = {(word[0], *("##" + letter for letter in word[1:])): n for word, n in words.items()}
    assert learn("wordpiece", words, initial, size, 1)[0] == train_by_id(vocab, initial, size, inside="##")[0]


@settings(deadline=None, max_examples=150)
@given(WORDS, st.integers(8, 40), st.lists(st.text("abcde", min_size=1, max_size=9), min_size=1, max_size=9))
def test_the_fast_encoders_cut_words_as_the_definition_does(words, size, texts):
    from heldout.tokenizer.parts import model

    special = ["[UNK]"]
    initial = special + LETTERS + [letter + "</w>" for letter in LETTERS]
    vocab, merges = learn("bpe", words, initial, size + 1, 1)
    fast = model("bpe", vocab, merges)
    for text in texts:
        pieces = apply_merges((*text[:-1], text[-1] + "</w>"), merges)
        wanted = [piece if piece in vocab else "[UNK]" for piece in pieces]
        assert [token.value for token in fast.tokenize(text)] == wanted
    initial = special + LETTERS + ["##" + letter for letter in LETTERS]
    vocab, _ = learn("wordpiece", words, initial, size + 1, 1)
    fast = model("wordpiece", vocab, [])
    for text in texts:
        assert [token.value for token in fast.tokenize(text)] == wordpiece_tokenize(text, vocab)
