import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from heldout.pretrain.masking import Masking, corrupt
from heldout.pretrain.objectives import collate_rows, windows_of
from heldout.pretrain.rows import Row

MASK = 4
SPECIAL = np.arange(50) < 5


def rows_of(generator, tokens):
    """Rows of 1 to 40 tokens, each within [CLS] … [SEP], with [UNK] now and then, until there are so many tokens."""
    rows, total = [], 0
    while total < tokens:
        n = int(generator.integers(1, 41))
        ids = np.concatenate([[2], generator.integers(5, 50, n), [3]])
        ids[generator.random(n + 2) < 0.01] = 1
        rows.append(Row(ids, np.ones(n + 2, dtype=bool), np.zeros(n + 2, dtype=int)))
        total += n
    return rows


@pytest.fixture(scope="module")
def million():
    """A million tokens in short rows, masked: ids, what is seen, what is selected, and the windows."""
    rows = rows_of(np.random.default_rng(0), 1_000_000)
    ids = np.concatenate([row.ids for row in rows])
    seen, selected = corrupt(ids, np.ones(len(ids), dtype=bool), Masking(MASK, SPECIAL), np.random.default_rng(1))
    return ids, seen, selected


def test_of_a_million_tokens_fifteen_in_a_hundred_are_selected(million):
    # FAULTS P5: chi-square at 1 in 10,000; with a fixed seed it passes or it doesn't.
    ids, _, selected = million
    ordinary = int((~SPECIAL[ids]).sum())
    assert ordinary > 980_000
    chosen = int(selected.sum())
    assert chisquare([chosen, ordinary - chosen], [0.15 * ordinary, 0.85 * ordinary]).pvalue > 1e-4


def test_special_tokens_are_never_selected_and_never_put_in(million):
    ids, seen, selected = million
    assert SPECIAL[ids].sum() > 50_000
    assert not (selected & SPECIAL[ids]).any()
    replaced = seen[selected & (seen != MASK)]
    assert len(replaced) > 20_000
    assert not SPECIAL[replaced].any()


def test_what_is_not_selected_stays_what_it_was(million):
    ids, seen, selected = million
    assert (seen[~selected] == ids[~selected]).all()


def test_of_the_selected_eighty_ten_ten_in_a_hundred_are_masked_replaced_kept(million):
    ids, seen, selected = million
    n = int(selected.sum())
    masked = int((seen[selected] == MASK).sum())
    changed = int((seen != ids)[selected].sum()) - masked
    # A random token is the true one once in 45: those look kept.
    random = 0.1 * 44 / 45
    assert chisquare([masked, changed, n - masked - changed], [0.8 * n, random * n, (0.2 - random) * n]).pvalue > 1e-4


def test_random_tokens_are_uniform_over_the_ordinary_vocabulary():
    ids = np.full(400_000, 7)
    seen, _ = corrupt(ids, np.ones(len(ids), dtype=bool), Masking(MASK, SPECIAL), np.random.default_rng(2))
    counts = np.bincount(seen[(seen != 7) & (seen != MASK)], minlength=50)
    assert counts.sum() > 5_000
    assert (counts[:5] == 0).all() and counts[7] == 0
    assert chisquare(np.delete(counts[5:], 2)).pvalue > 1e-4


def test_padding_is_never_predicted():
    rows = rows_of(np.random.default_rng(3), 3_000)
    windows = windows_of(rows, Masking(MASK, SPECIAL), np.random.default_rng(4))
    batch = collate_rows(windows, 0, causal=False)
    assert (batch.inputs["attention_mask"] == 0).sum() > 1_000
    assert batch.inputs["attention_mask"].flatten()[batch.inputs["selected"]].all()
    truth = np.concatenate([row.ids[window.target.at] for row, window in zip(rows, windows, strict=True)])
    assert batch.targets["tokens"].tolist() == truth.tolist()
    assert len(truth) > 300


@given(st.lists(st.integers(0, 49), min_size=1, max_size=60), st.booleans(), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_only_selected_ordinary_tokens_change_and_the_seed_decides_all(ids, whole_words, seed):
    ids = np.array(ids)
    begins = ids % 3 > 0
    masking = Masking(MASK, SPECIAL, whole_words)
    seen, selected = corrupt(ids, begins, masking, np.random.default_rng(seed))
    again = corrupt(ids, begins, masking, np.random.default_rng(seed))
    assert (seen == again[0]).all() and (selected == again[1]).all()
    assert not (selected & SPECIAL[ids]).any()
    assert (seen[~selected] == ids[~selected]).all()
    assert not SPECIAL[seen[selected & (seen != MASK)]].any()


def test_whole_words_are_selected_with_all_their_pieces_and_as_often():
    # FAULTS P6; real vocabularies, ## and byte-level, are in test_store.py.
    generator = np.random.default_rng(5)
    ids, begins = generator.integers(5, 50, 300_000), generator.random(300_000) < 0.6
    begins[0] = True
    _, selected = corrupt(ids, begins, Masking(MASK, SPECIAL, whole_words=True), generator)
    word = np.cumsum(begins) - 1
    share = np.bincount(word, selected) / np.bincount(word)
    assert set(np.unique(share)) == {0.0, 1.0}
    words = len(share)
    assert chisquare([share.sum(), words - share.sum()], [0.15 * words, 0.85 * words]).pvalue > 1e-4
