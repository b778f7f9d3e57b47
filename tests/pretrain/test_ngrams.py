import math
from collections import Counter

import numpy as np
import pytest

from heldout.pretrain import ngrams
from heldout.pretrain.ngrams import bigram, count, unigram
from heldout.pretrain.objectives import Target

V, BEFORE, AFTER = 32, 2, 3


def tokens_of(corpus, documents):
    return [corpus.tokens[corpus.bounds[d] : corpus.bounds[d + 1]].tolist() for d in documents]


def by_hand(texts, after):
    """Plain dictionaries: how often each token and each pair of neighbours was seen."""
    singles, pairs = Counter(), Counter()
    for text in texts:
        whole = [*text, AFTER] if after else text
        singles.update(whole)
        pairs.update(zip([BEFORE, *whole], whole, strict=False))
    return singles, pairs


def probability(singles, pairs, left, right):
    one = {w: (singles[w] + 1) / (singles.total() + V) for w in range(V)}
    followers = [w for (v, w) in pairs if v == left]
    n = sum(times for (v, _), times in pairs.items() if v == left)
    if not n:
        return one
    kinds = len(followers)
    return {w: (pairs[left, w] + kinds * one[w]) / (n + kinds) for w in range(V)}


@pytest.mark.parametrize("after", [None, AFTER])
@pytest.mark.parametrize("chunk", [1 << 24, 50])
def test_both_n_grams_are_what_plain_counting_gives(corpus, monkeypatch, after, chunk):
    monkeypatch.setattr(ngrams, "CHUNK", chunk)
    documents = np.arange(0, len(corpus), 3)
    singles, pairs = by_hand(tokens_of(corpus, documents), after)
    counts = count(corpus, documents, size=V, before=BEFORE, after=after)
    assert counts.tokens.tolist() == [singles[w] for w in range(V)]
    generator = np.random.default_rng(0)
    targets = [
        Target(list(range(n)), generator.integers(0, V, n).tolist(), generator.integers(0, V, n).tolist())
        for n in generator.integers(0, 9, 40).tolist()
    ]
    one, two = unigram(counts, targets), bigram(counts, targets)
    looked = 0
    for row, target in enumerate(targets):
        tables = [probability(singles, pairs, left, None) for left in target.left]
        losses = [-math.log(table[w]) for table, w in zip(tables, target.tokens, strict=True)]
        hits = [max(table, key=table.get) == w for table, w in zip(tables, target.tokens, strict=True)]
        assert two.nll[row] == pytest.approx(sum(losses))
        assert two.correct[row] == sum(hits)
        single = {w: (singles[w] + 1) / (singles.total() + V) for w in range(V)}
        assert one.nll[row] == pytest.approx(sum(-math.log(single[w]) for w in target.tokens))
        assert one.correct[row] == target.tokens.count(max(single, key=single.get))
        assert one.n[row] == two.n[row] == len(target.tokens)
        looked += len(losses)
    assert looked > 100


def test_the_probabilities_after_any_token_sum_to_one(corpus):
    counts = count(corpus, np.arange(len(corpus)), size=V, before=BEFORE, after=None)
    for left in (BEFORE, 4, int(corpus.tokens[0])):
        found = bigram(counts, [Target([0], [w], [left]) for w in range(V)])
        assert np.exp(-found.nll).sum() == pytest.approx(1)


def test_a_masked_neighbour_leaves_the_bigram_the_unigram(corpus):
    counts = count(corpus, np.arange(len(corpus)), size=V, before=BEFORE, after=None)
    targets = [Target([0], [w], [4]) for w in range(V)]
    assert bigram(counts, targets).nll == pytest.approx(unigram(counts, targets).nll)
