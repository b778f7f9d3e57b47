import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from heldout.data.corpus import Document
from heldout.errors import Refused
from heldout.pretrain import store
from heldout.pretrain.frames import single, special_ids
from heldout.pretrain.masking import Masking, corrupt
from heldout.pretrain.rows import plain_rows
from heldout.pretrain.store import Seen, key_of, load

TEXTS = [
    "ada saw a film. bo left.",
    "fay liked the sea.",
    "ada saw a film. bo left.",
    "cyrus found some unbelievable plots.",
]


def documents():
    return iter([Document("tales", text) for text in TEXTS])


def test_documents_come_back_as_their_tokens_without_exact_duplicates(tmp_path, wordpiece):
    corpus = load(tmp_path, documents, wordpiece, None)
    assert len(corpus) == 3
    assert corpus.dropped == {"exact_duplicates": 1}
    texts = [wordpiece.decode(corpus.tokens[a:b]) for a, b in zip(corpus.bounds, corpus.bounds[1:], strict=False)]
    assert [text.replace(" .", ".") for text in texts] == [TEXTS[0], TEXTS[1], TEXTS[3]]
    assert corpus.tokens.dtype == np.uint16
    assert isinstance(corpus.tokens, np.memmap)


@given(st.lists(st.lists(st.integers(0, 60) | st.integers(2**63, 2**64 - 1), max_size=30), max_size=30))
def test_what_has_come_before_is_what_a_set_would_know(batches):
    known, seen = set(), Seen()
    for batch in batches:
        wanted = []
        for digest in batch:
            wanted.append(digest not in known)
            known.add(digest)
        assert seen.new(np.array(batch, dtype=np.uint64)).tolist() == wanted


def test_duplicates_are_found_in_other_batches_and_in_the_same(tmp_path, wordpiece, monkeypatch):
    monkeypatch.setattr(store, "BATCH", 2)
    words = ["ada", "bo", "ada", "fay", "fay", "bo", "ada"]
    corpus = load(tmp_path, lambda: iter([Document("tales", word) for word in words]), wordpiece, None)
    assert corpus.dropped == {"exact_duplicates": 4}
    assert wordpiece.decode(corpus.tokens).split() == ["ada", "bo", "fay"]


def test_a_second_look_finds_the_cache(tmp_path, wordpiece, monkeypatch):
    first = load(tmp_path, documents, wordpiece, None)

    def refuse(*arguments):
        raise AssertionError("tokenised again")

    monkeypatch.setattr(store, "_build", refuse)
    again = load(tmp_path, documents, wordpiece, None)
    assert again.key == first.key
    assert again.tokens.tolist() == first.tokens.tolist()


def changed(tokenizer, change):
    model = json.loads(tokenizer.backend_tokenizer.to_str())
    change(model)
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(model)), **tokenizer.special_tokens_map
    )


def test_one_merge_another_text_another_splitter_each_miss_the_cache(byte_level):
    # FAULTS P11.
    same = changed(byte_level, lambda model: None)
    fewer = changed(byte_level, lambda model: model["model"]["merges"].pop())
    assert len(fewer) == len(byte_level)
    key = key_of(documents(), byte_level, "plain")
    assert key_of(documents(), same, "plain") == key
    others = [
        key_of(documents(), fewer, "plain"),
        key_of(documents(), byte_level, "line"),
        key_of([*documents()][:-1], byte_level, "plain"),
        key_of([Document("tales", " ".join(TEXTS))], byte_level, "plain"),
        key_of([Document("notes", text) for text in TEXTS], byte_level, "plain"),
    ]
    assert len({key, *others}) == 6


def test_a_cut_between_documents_is_part_of_the_key(wordpiece):
    together = key_of([Document("a", "ada left"), Document("a", "bo")], wordpiece, None)
    assert together != key_of([Document("a", "ada"), Document("a", "left bo")], wordpiece, None)


@pytest.mark.parametrize("kind", ["wordpiece", "byte_level"])
def test_sentences_begin_where_their_first_word_does(tmp_path, request, kind):
    # Byte-level tokens begin with the space before the word, which ends the sentence before.
    tokenizer = request.getfixturevalue(kind)
    text = "ada saw a film. Bo left the sea. Fay liked it."
    corpus = load(tmp_path, lambda: [Document("tales", text)], tokenizer, "plain")
    ends = [*corpus.sentences[1:].tolist(), len(corpus.tokens)]
    parts = [tokenizer.decode(corpus.tokens[a:b]) for a, b in zip(corpus.sentences, ends, strict=True)]
    lowered = [part.lower().replace(" .", ".").replace("[unk]", "it").strip() for part in parts]
    assert lowered == ["ada saw a film.", "bo left the sea.", "fay liked it."]


@pytest.mark.parametrize("kind", ["wordpiece", "byte_level"])
def test_whole_words_are_masked_with_all_their_pieces_whatever_marks_a_continuation(tmp_path, request, kind):
    # FAULTS P6: by the pre-tokenizer's words, not by "##".
    tokenizer = request.getfixturevalue(kind)
    text = "cyrus painted some unbelievable plots. " * 200
    corpus = load(tmp_path, lambda: [Document("tales", text.strip())], tokenizer, None)
    masking = Masking(tokenizer.mask_token_id, special_ids(tokenizer, len(tokenizer)), whole_words=True)
    rows = plain_rows(corpus, np.array([0]), single(tokenizer), 10_000, pack=False, whole_end=False)
    (row,) = rows.make([0], np.random.default_rng(0))
    _, selected = corrupt(row.ids, row.begins, masking, np.random.default_rng(1))
    encoding = tokenizer.backend_tokenizer.encode(text.strip())
    words = np.array([-1 if word is None else word for word in encoding.word_ids])
    assert row.ids.tolist() == encoding.ids
    many = [word for word in range(words.max() + 1) if (words == word).sum() > 1]
    shares = [selected[words == word].mean() for word in many]
    assert len(many) >= 400
    assert set(shares) == {0.0, 1.0}
    assert 0.08 < np.mean(shares) < 0.22


def test_a_corpus_without_a_token_is_refused(tmp_path, wordpiece):
    with pytest.raises(Refused, match="no document holds a token"):
        load(tmp_path, lambda: [Document("tales", "\u200b\x00")], wordpiece, None)
    assert list(tmp_path.iterdir()) == []


def test_documents_without_tokens_are_counted(tmp_path, wordpiece):
    texts = [Document("tales", text) for text in ("ada left", "\x00", "bo saw")]
    corpus = load(tmp_path, lambda: texts, wordpiece, None)
    assert (len(corpus), corpus.dropped) == (2, {"documents_without_tokens": 1})
