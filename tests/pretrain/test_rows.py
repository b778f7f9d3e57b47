import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.pretrain.frames import Frame
from heldout.pretrain.rows import best_fit, cut, plain_rows
from heldout.pretrain.store import small

FRAME = Frame((2,), (3,))


@given(st.lists(st.integers(1, 30), max_size=80))
def test_packing_holds_every_piece_once_within_the_capacity(sizes):
    order, bounds = best_fit(np.array(sizes, dtype=np.int64), 30)
    rows = [order[start:stop].tolist() for start, stop in itertools.pairwise(bounds)]
    assert all(rows)
    assert sorted(piece for row in rows for piece in row) == list(range(len(sizes)))
    assert all(sum(sizes[piece] for piece in row) <= 30 for row in rows)
    # Best fit decreasing never needs more than 11/9 of the best and one (Johnson 1973).
    assert len(rows) <= 11 / 9 * max(-(-sum(sizes) // 30), sum(size > 15 for size in sizes)) * 1.5 + 1


@given(st.lists(st.integers(1, 700), min_size=1, max_size=60), st.integers(1, 40), st.integers(1, 3))
def test_pieces_are_those_of_plain_counting_in_the_fewest_bytes(lengths, room, every):
    # 60 documents of 700 tokens are up to 42,000 pieces: numbers of one byte and of two, and past either.
    corpus = SimpleNamespace(bounds=np.cumsum([0, *lengths]), lengths=np.array(lengths))
    documents = small(np.arange(0, len(lengths), every))
    pieces = cut(corpus, documents, room)
    wanted = [
        (document, start, min(start + room, int(corpus.bounds[document + 1])))
        for document in documents.tolist()
        for start in range(int(corpus.bounds[document]), int(corpus.bounds[document + 1]), room)
    ]
    found = zip(pieces.document.tolist(), *(edge.tolist() for edge in pieces.bounds(corpus, slice(None))), strict=True)
    assert list(found) == wanted
    assert pieces.document.itemsize == 1 and pieces.number.itemsize <= 2


@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("whole_end", [False, True])
def test_rows_hold_every_token_of_their_documents_once(corpus, pack, whole_end):
    documents = np.arange(0, len(corpus), 2)
    rows = plain_rows(corpus, documents, FRAME, 24, pack=pack, whole_end=whole_end)
    made = rows.make(range(len(rows)), np.random.default_rng(0))
    assert [len(row.ids) for row in made] == rows.lengths.tolist()
    assert rows.lengths.max() <= 24
    wanted = np.concatenate([corpus.tokens[corpus.bounds[d] : corpus.bounds[d + 1]] for d in documents])
    found = np.concatenate([row.ids[row.ids > 3] for row in made])
    assert np.sort(found).tolist() == np.sort(wanted).tolist()
    if not pack:
        assert found.tolist() == wanted.tolist()
    ends = sum(int((row.ids == 3).sum()) for row in made)
    assert ends == (len(documents) if whole_end else len(cut(corpus, documents, 22)))
    assert max(row.part.max() for row in made) == 0 if not pack else max(row.part.max() for row in made) > 0


def test_packing_fills_rows(corpus):
    documents = np.arange(len(corpus))
    loose = plain_rows(corpus, documents, FRAME, 64, pack=False, whole_end=False)
    packed = plain_rows(corpus, documents, FRAME, 64, pack=True, whole_end=False)
    assert loose.lengths.mean() < 45
    assert packed.lengths.mean() > 55
    assert packed.lengths.sum() == loose.lengths.sum()
