import numpy as np
import pytest

from heldout.data.corpus import Document
from heldout.errors import Refused
from heldout.pretrain.frames import Frame
from heldout.pretrain.pairs import pair_rows
from heldout.pretrain.store import load

FRAME = Frame((2,), (3,), (3,))


def made(corpus, length=32, seed=0):
    rows = pair_rows(corpus, np.arange(len(corpus)), FRAME, length)
    return rows, rows.make(range(len(rows)), np.random.default_rng(seed))


def texts(row):
    """The ids of A and B."""
    return row.ids[1 : row.second - 1].tolist(), row.ids[row.second : -1].tolist()


def places(corpus, tokens):
    """The documents in which these tokens stand one after the other, and where."""
    found = []
    for document in range(len(corpus)):
        whole = corpus.tokens[corpus.bounds[document] : corpus.bounds[document + 1]].tolist()
        found += [(document, at) for at in range(len(whole)) if whole[at : at + len(tokens)] == tokens]
    return found


def test_half_of_the_pairs_are_true_continuations_and_half_come_from_another_document(corpus):
    # FAULTS P7. Label 0 is the true next (transformers: next_sentence_label 0, "is a continuation").
    rows, pairs = made(corpus)
    labels = [pair.next for pair in pairs]
    assert len(pairs) > 60
    assert abs(labels.count(0) - labels.count(1)) <= 1
    for number, pair in enumerate(pairs):
        a, b = texts(pair)
        # Only the document the row is of: short sentences stand in several.
        at = [place for document, place in places(corpus, a) if document == rows.document[number]]
        follows = [place for place in at if (rows.document[number], place + len(a)) in places(corpus, b)]
        assert bool(follows) == (pair.next == 0), (a, b)
        if pair.next == 1:
            assert any(document != rows.document[number] for document, _ in places(corpus, b))


def test_pairs_begin_where_sentences_do_and_fit(corpus):
    _, pairs = made(corpus)
    starts = {tuple(corpus.tokens[s : s + 2].tolist()) for s in corpus.sentences}
    assert all(len(pair.ids) <= 32 for pair in pairs)
    assert all(tuple(texts(pair)[0][:2]) in starts for pair in pairs)
    assert all(tuple(texts(pair)[1][:2]) in starts for pair in pairs)
    assert all(pair.ids[pair.second - 1] == 3 and pair.ids[-1] == 3 and pair.ids[0] == 2 for pair in pairs)


def test_every_token_of_documents_with_two_sentences_stands_in_a_row(corpus):
    rows = pair_rows(corpus, np.arange(len(corpus)), FRAME, 32)
    for document in range(len(corpus)):
        mine = rows.lengths[rows.document == document] - FRAME.length
        assert mine.sum() >= corpus.lengths[document]


def test_a_sentence_longer_than_a_row_is_cut_and_not_lost(wordpiece, tmp_path):
    long = Document("tales", "ada saw the sea " * 30)
    other = Document("tales", "bo left the film\nfay liked a song")
    corpus = load(tmp_path, lambda: [long, other], wordpiece, "line")
    rows = pair_rows(corpus, np.array([0, 1]), FRAME, 32)
    assert (rows.lengths[rows.document == 0] - 3).sum() >= 120
    assert rows.lengths.max() <= 32


def test_false_nexts_come_from_the_same_domain_where_it_has_another_document(corpus):
    rows, pairs = made(corpus, seed=3)
    seen = 0
    for number, pair in enumerate(pairs):
        if pair.next == 1:
            owner = rows.document[number]
            donors = [document for document, _ in places(corpus, texts(pair)[1]) if document != owner]
            assert corpus.domain[owner] in corpus.domain[donors]
            seen += 1
    assert seen > 30


def test_a_corpus_of_one_document_is_refused_with_the_reason(wordpiece, tmp_path):
    # FAULTS P7.
    text = "ada left. bo saw a film. fay liked the sea."
    corpus = load(tmp_path, lambda: [Document("tales", text)], wordpiece, "plain")
    with pytest.raises(Refused, match="a false next sentence must come from another document"):
        pair_rows(corpus, np.array([0]), FRAME, 32)


def test_two_lines_are_two_documents_of_one_sentence_and_make_no_pair(wordpiece, tmp_path):
    # FAULTS P7: a two-line corpus once gave a "random" next that was the true one.
    corpus = load(tmp_path, lambda: [Document("t", "ada left"), Document("t", "bo saw")], wordpiece, "line")
    with pytest.raises(Refused, match="0 of 2 documents hold two sentences"):
        pair_rows(corpus, np.array([0, 1]), FRAME, 32)


def test_blank_lines_make_no_sentences_and_labels_stay_balanced(wordpiece, tmp_path):
    # FAULTS P7: blank lines once made every label 1.
    one = "ada left\n\n\n\nbo saw a film\n\n\nfay liked the sea\n\n"
    two = "\n\ndee left the road\n\n\nelif found a song"
    corpus = load(tmp_path, lambda: [Document("t", one), Document("t", two)], wordpiece, "line")
    assert len(corpus.sentences) == 5
    labels = [pair.next for seed in range(200) for pair in made(corpus, seed=seed)[1]]
    assert labels.count(1) == labels.count(0) == 200


def test_documents_of_one_sentence_are_counted(wordpiece, tmp_path):
    documents = [Document("t", text) for text in ("ada left. Bo saw.", "dee left.", "fay saw. Elif left.")]
    corpus = load(tmp_path, lambda: documents, wordpiece, "plain")
    rows = pair_rows(corpus, np.arange(3), FRAME, 32)
    assert rows.notes == {"documents_of_one_sentence": 1}
    assert sorted(set(rows.document.tolist())) == [0, 2]


def test_a_repeated_sentence_is_never_passed_off_as_false(wordpiece, tmp_path):
    # Every document goes on with the same words: a B from another one would be the true next.
    documents = [Document("t", f"{name} left. The sea.") for name in ("Ada", "Bo", "Dee")]
    corpus = load(tmp_path, lambda: documents, wordpiece, "plain")
    labels = [pair.next for seed in range(50) for pair in made(corpus, seed=seed)[1]]
    assert len(labels) == 150
    assert set(labels) == {0}


def test_what_is_drawn_is_drawn_anew_and_the_seed_decides(corpus):
    first, again, other = (made(corpus, seed=seed)[1] for seed in (1, 1, 2))
    assert all((a.ids == b.ids).all() if len(a.ids) == len(b.ids) else False for a, b in zip(first, again, strict=True))
    assert any(len(a.ids) != len(b.ids) or (a.ids != b.ids).any() for a, b in zip(first, other, strict=True))
