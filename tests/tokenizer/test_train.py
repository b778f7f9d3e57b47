"""Training: one file in every run, nothing lost unseen, all bytes known, options that contradict each other refused."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.tokenizer.train import TrainOptions, train

KINDS = ("wordpiece", "bpe", "byte-bpe")
#: Any text but one that spells a special token, which is read as that token.
TEXT = st.text(st.characters(exclude_categories=["Cs"])).filter(
    lambda text: not any(token in text for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"))
)
TRAIN = """
import hashlib, sys
from pathlib import Path
from heldout.tokenizer.train import TrainOptions, train
texts = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
for kind, size in (("wordpiece", 150), ("bpe", 150), ("byte-bpe", 400)):
    for _ in range(4):
        trained = train(texts, TrainOptions(kind=kind, vocab_size=size))
        assert trained.tokenizer.get_vocab_size() == size
        print(kind, hashlib.sha256((trained.tokenizer.to_str() + str(trained.facts)).encode()).hexdigest())
"""


def trained(texts, kind="bpe", size=300, **options):
    return train(texts, TrainOptions(kind=kind, vocab_size=size, **options))


def pieces(made, text):
    return made.tokenizer.encode(text, add_special_tokens=False).tokens


def test_twenty_trainings_of_each_kind_give_one_file(corpus):
    """FAULTS P1: five processes of other thread counts and hash seeds, four trainings in each."""
    found = []
    for threads, parallel, seed in ((1, "false", 0), (2, "true", 1), (3, "true", 2), (8, "true", 3), (2, "false", 4)):
        environment = os.environ | {
            "RAYON_NUM_THREADS": str(threads),
            "TOKENIZERS_PARALLELISM": parallel,
            "PYTHONHASHSEED": str(seed),
        }
        command = [sys.executable, "-c", TRAIN, str(corpus)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found += done.stdout.splitlines()
    assert len(found) == 60
    assert {kind: sum(line.startswith(kind + " ") for line in found) for kind in KINDS} == dict.fromkeys(KINDS, 20)
    assert len(set(found)) == 3


def test_the_order_of_the_corpus_changes_nothing(corpus):
    texts = corpus.read_text(encoding="utf-8").splitlines()
    for kind in KINDS:
        one, other = trained(texts, kind, 400), trained(texts[::-1], kind, 400)
        assert one.tokenizer.to_str() == other.tokenizer.to_str()


def test_marked_characters_are_pieces_not_added_tokens(corpus):
    texts = corpus.read_text(encoding="utf-8").splitlines()
    for kind in KINDS:
        made = trained(texts, kind, 400)
        added = [token["content"] for token in json.loads(made.tokenizer.to_str())["added_tokens"]]
        assert added == made.facts["vocabulary"]["special"]


def test_an_unseen_character_is_unknown_not_dropped():
    """FAULTS P2: the library's BPE without an unknown token gives s a r t e s t for smartest."""
    texts = ["fast faster tall taller", "est"]
    for kind in ("bpe", "wordpiece"):
        made = trained(texts, kind, 60, min_frequency=1)
        assert "[UNK]" in pieces(made, "smartest")
    assert pieces(trained(texts, "bpe", 60, min_frequency=1), "smartest")[1] == "[UNK]"
    assert "".join(pieces(trained(texts, "byte-bpe", 270), "smartest")) == "smartest"


def test_byte_level_bpe_has_no_unknown_token_and_gives_every_byte_back():
    made = trained(["a few words"], "byte-bpe", 260)
    assert made.tokenizer.token_to_id("[UNK]") is None
    # Every byte that UTF-8 has, first and later; 0xc0, 0xc1 and those from 0xf5 on stand in no text.
    texts = [chr(n) for n in [*range(0x800), *range(0x800, 0xD800, 64), *range(0xE000, 0x110000, 1 << 12)]]
    seen = {byte for text in texts for byte in text.encode()}
    assert len(seen) == 256 - 13
    for text in texts:
        for whole in (text, "a" + text, text + "a"):
            ids = made.tokenizer.encode(whole, add_special_tokens=False).ids
            assert made.tokenizer.decode(ids) == whole


def test_wordpiece_over_bytes_knows_every_byte_in_every_place():
    """FAULTS P3: the library has no ## forms of bytes that it did not see, so their words are [UNK]."""
    made = trained(["a few words"], "wordpiece", 520, pre_tokenizer="byte-level")
    assert made.facts["vocabulary"]["characters"] == 512
    vocab = made.tokenizer.get_vocab()
    letters = [token for token in vocab if len(token) == 1]
    assert len(letters) == 256
    assert all("##" + letter in vocab for letter in letters)
    looked = 0
    for letter in letters:
        found = [token.value for token in made.tokenizer.model.tokenize("a" + letter)]
        assert found == ["a", "##" + letter]
        looked += 1
    assert looked == 256
    for text in ("naïve 猫 🙂", "## a ##b #", "猫" * 400):
        encoding = made.tokenizer.encode(text, add_special_tokens=False)
        assert "[UNK]" not in encoding.tokens
        assert made.tokenizer.decode(encoding.ids) == text


BYTES = trained(["the cat and the hat", "naïve 猫\n\n  tabs\t"], "byte-bpe", 280)
SPACED = trained(["the cat and the hat"], "byte-bpe", 280, prefix_space=True)
WORDPIECE_BYTES = trained(["the cat and the hat"], "wordpiece", 530, pre_tokenizer="byte-level")


@settings(deadline=None)
@given(TEXT)
def test_any_text_comes_back_from_bytes(text):
    for made in (BYTES, WORDPIECE_BYTES):
        assert made.tokenizer.decode(made.tokenizer.encode(text, add_special_tokens=False).ids) == text
    spaced = SPACED.tokenizer.decode(SPACED.tokenizer.encode(text, add_special_tokens=False).ids)
    assert spaced == (text if not text or (text[0].isspace() and spaced == text) else " " + text)


@settings(deadline=None)
@given(TEXT)
def test_offsets_are_places_in_the_text_as_it_was(text):
    for made in (BYTES, SPACED, WORDPIECE_BYTES, WORDS):
        encoding = made.tokenizer.encode(text, add_special_tokens=False)
        assert all(0 <= start <= end <= len(text) for start, end in encoding.offsets)
        starts = [start for start, _ in encoding.offsets]
        assert starts == sorted(starts)


WORDS = trained(["the cat and the hat"], "wordpiece", 40, min_frequency=1)


def test_offsets_of_bytes_leave_the_space_out_and_keep_the_first_letter():
    text = "the cat sat"
    for made in (BYTES, SPACED):
        encoding = made.tokenizer.encode(text, add_special_tokens=False)
        covered = "".join(text[start:end] for start, end in encoding.offsets)
        assert covered == "thecatsat"


def test_a_prefix_space_makes_the_first_word_as_any_other():
    texts = ["cat the cat"] * 9
    assert pieces(trained(texts, "byte-bpe", 270, prefix_space=True), "cat cat") == ["Ġcat", "Ġcat"]
    assert pieces(trained(texts, "byte-bpe", 270), "cat cat") == ["cat", "Ġcat"]


def test_normalisation_is_as_asked():
    texts = ["Café CAFÉ ﬁne"] * 3
    made = {
        "plain": trained(texts, "wordpiece", 60),
        "lower": trained(texts, "wordpiece", 60, lowercase=True),
        "bare": trained(texts, "wordpiece", 60, lowercase=True, strip_accents=True),
        "kc": trained(texts, "wordpiece", 60, normalization="nfkc"),
        "white": trained(texts, "wordpiece", 60, lowercase=True, strip_accents=True, pre_tokenizer="whitespace"),
    }
    shown = {name: made[name].tokenizer.normalizer.normalize_str("CafÉ ﬁ 각") for name in made}
    assert shown["plain"] == "CafÉ ﬁ 각"
    assert shown["lower"] == "café ﬁ 각"
    assert shown["bare"].startswith("cafe ﬁ ")
    assert shown["kc"] == "CafÉ fi 각"
    assert shown["white"] == "cafe ﬁ 각"
    assert pieces(made["white"], "cafe!") == ["[UNK]"]


def test_a_limit_on_the_alphabet_keeps_the_most_frequent_and_counts_the_rest():
    made = trained(["aaaa bbb cc d", "aab"], "bpe", 20, limit_alphabet=2)
    assert made.facts["alphabet"] == {"characters": 2, "left_out": 2, "left_out_occurrences": 3}
    assert made.facts["unknown"] == 3
    assert made.facts["words"]["occurrences"] == 5


def test_words_of_the_smallest_counts_are_given_up_and_said():
    common = ["often often often " * 50]
    made = trained(common + [f"w{n}x" for n in range(3000)], "bpe", 60, max_words=1000)
    words = made.facts["words"]
    assert words["distinct"] <= 1000
    assert words["given_up"] >= 2000
    assert words["counts_lack_up_to"] >= 1
    assert words["occurrences"] == 3150
    assert "often</w>" in made.tokenizer.get_vocab()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text("abc ", min_size=1, max_size=12), min_size=1, max_size=30), st.integers(1, 12))
def test_a_bounded_count_lacks_no_more_than_it_says(texts, limit):
    from collections import Counter

    from heldout.tokenizer import words

    whole = Counter(word for text in texts for word in text.split())
    before, words.CHUNKS = words.CHUNKS, 1
    try:
        found = words.count_words(texts, str.split, limit=limit)
    finally:
        words.CHUNKS = before
    assert len(found.counts) <= limit
    assert found.counts.total() + found.given_up == whole.total()
    assert all(0 <= whole[word] - found.counts[word] <= found.lacking for word in whole)


def test_words_counted_by_chunks_are_the_words_of_the_whole_text(corpus):
    from collections import Counter

    from heldout.tokenizer.parts import normalizer, pre_tokenizer
    from heldout.tokenizer.words import count_words

    looked = 0

    @settings(deadline=None, max_examples=300)
    @given(st.text(st.sampled_from("aB1.,' \t\n\r\x0b\x0c\x85\xa0\u2028\u3000\u0301\u200d\x1c猫#<") | st.characters()))
    def check(text):
        nonlocal looked
        text = text.encode("utf-8", "ignore").decode()
        for kind, splitting in (("wordpiece", "bert"), ("bpe", "whitespace"), ("byte-bpe", "byte-level")):
            normal = normalizer(splitting, "nfc", lowercase=True, strip_accents=False)
            before = pre_tokenizer(kind, splitting, prefix_space=False)

            def split(chunk, normal=normal, before=before):
                return [word for word, _ in before.pre_tokenize_str(normal.normalize_str(chunk))]

            assert count_words([text], split, limit=999).counts == Counter(split(text))
            looked += 1

    check()
    assert looked >= 300


def test_a_corpus_without_a_word_is_refused():
    with pytest.raises(Refused, match="holds no word"):
        trained(["\x07\x07"])


@pytest.mark.parametrize(
    "options, message",
    [
        ({"kind": None}, "--kind wordpiece, bpe or byte-bpe"),
        ({"size": None}, "--vocab-size N"),
        ({"pre_tokenizer": "byte-level"}, "make it byte-bpe"),
        ({"kind": "byte-bpe", "pre_tokenizer": "bert"}, "not for --kind byte-bpe"),
        ({"prefix_space": True}, "--prefix-space is for byte-level"),
        ({"limit_alphabet": 0}, "--limit-alphabet 0: give 1 or more"),
        ({"min_frequency": -1}, "--min-frequency -1: give 1 or more"),
        ({"size": 9}, "--vocab-size 9 has no room for the special tokens and the"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(Refused, match=message):
        trained(["a text of several letters"], **options)
