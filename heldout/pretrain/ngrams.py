"""What counting alone predicts: a unigram and an interpolated bigram, scored at the very positions of the model.

The unigram is add-one over the vocabulary. The bigram sees the token to the left, as the model does: where that is
masked too there is nothing to count from, and it falls back to the unigram. Its interpolation is Witten and Bell's
(1991): a context that was followed by T different tokens in n places gives T / (n + T) to the unigram.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heldout.pretrain.masking import BoolArray, IntArray
from heldout.pretrain.objectives import Target
from heldout.pretrain.scoring import FloatArray, Scored
from heldout.pretrain.store import Corpus

#: Tokens that are counted at a time.
CHUNK = 1 << 24


@dataclass(frozen=True)
class Counts:
    """How often each token (V,) and each pair of neighbours was seen; ``pairs`` are left · V + right, sorted."""

    tokens: IntArray
    pairs: IntArray
    times: IntArray

    @property
    def unigram(self) -> FloatArray:
        """The probability of each token, add-one, (V,)."""
        smoothed: FloatArray = (self.tokens + 1) / (self.tokens.sum() + len(self.tokens))
        return smoothed


def count(corpus: Corpus, documents: IntArray, *, size: int, before: int, after: int | None) -> Counts:
    """Count the tokens and neighbours of these documents, whose first token has ``before`` on its left.

    ``after`` is counted as each document's last token where it is something to predict (causal models).
    Memory: 16 bytes for each distinct pair.
    """
    tokens: IntArray = np.zeros(size, dtype=np.int64)
    pairs: IntArray = np.zeros(0, dtype=np.int64)
    times: IntArray = np.zeros(0, dtype=np.int64)
    for some in _chunks(corpus, documents):
        for left, right in _neighbours(corpus, some, before, after):
            tokens += np.bincount(right, minlength=size)
            pairs, times = _added(pairs, times, left * size + right)
    return Counts(tokens, pairs, times)


def _chunks(corpus: Corpus, documents: IntArray) -> Sequence[IntArray]:
    """Runs of documents of about CHUNK tokens."""
    edges = np.flatnonzero(np.diff(np.cumsum(corpus.lengths[documents]) // CHUNK)) + 1
    return np.split(documents, edges)


def _neighbours(corpus: Corpus, documents: IntArray, before: int, after: int | None) -> list[tuple[IntArray, IntArray]]:
    """Left and right tokens of all neighbours in these documents, borders included."""
    first, last = corpus.bounds[documents[0]], corpus.bounds[documents[-1] + 1]
    stream = np.asarray(corpus.tokens[first:last], dtype=np.int64)
    ours = np.zeros(documents[-1] - documents[0] + 1, dtype=bool)
    ours[documents - documents[0]] = True
    kept = np.repeat(ours, corpus.lengths[documents[0] : documents[-1] + 1])
    left = np.append(before, stream[:-1])
    left[corpus.bounds[documents] - first] = before
    found = [(left[kept], stream[kept])]
    if after is not None:
        ends = stream[corpus.bounds[documents + 1] - 1 - first]
        found.append((ends, np.full(len(ends), after)))
    return found


def _added(pairs: IntArray, times: IntArray, more: IntArray) -> tuple[IntArray, IntArray]:
    codes, counts = np.unique(more, return_counts=True)
    merged, place = np.unique(np.concatenate([pairs, codes]), return_inverse=True)
    return merged, np.bincount(place, np.concatenate([times, counts])).astype(np.int64)


def unigram(counts: Counts, targets: Sequence[Target]) -> Scored:
    """The unigram's scores at the positions of the targets."""
    right, row = _flat(targets)
    probability = counts.unigram
    hits = right == int(probability.argmax())
    return _scored(-np.log(probability[right]), hits, row, len(targets))


def bigram(counts: Counts, targets: Sequence[Target]) -> Scored:
    """The interpolated bigram's scores at the positions of the targets."""
    right, row = _flat(targets)
    left = np.array([token for target in targets for token in target.left], dtype=np.int64)
    size, single = len(counts.tokens), counts.unigram
    contexts, followers = np.divmod(counts.pairs, size)
    seen = np.bincount(contexts, counts.times, size)
    kinds = np.bincount(contexts, minlength=size)
    # A context that was never seen has no followers: 1 leaves all to the unigram.
    weight = np.where(kinds, kinds, 1)
    place = np.minimum(np.searchsorted(counts.pairs, left * size + right), len(counts.pairs) - 1)
    times = np.where(counts.pairs[place] == left * size + right, counts.times[place], 0)
    probability = (times + weight[left] * single[right]) / (seen[left] + weight[left])
    best = _best(contexts, followers, counts.times + weight[contexts] * single[followers], weight, single)
    return _scored(-np.log(probability), best[left] == right, row, len(targets))


def _best(
    contexts: IntArray, followers: IntArray, scores: FloatArray, weight: IntArray, single: FloatArray
) -> IntArray:
    """The most likely token after each token, (V,): of those seen there, or the most frequent one of all."""
    best = np.full(len(single), int(single.argmax()))
    top = weight * single.max()
    # In ascending order of score the last one written stays.
    order = np.argsort(scores, kind="stable")
    order = order[scores[order] > top[contexts[order]]]
    best[contexts[order]] = followers[order]
    return best


def _flat(targets: Sequence[Target]) -> tuple[IntArray, IntArray]:
    right = np.array([token for target in targets for token in target.tokens], dtype=np.int64)
    return right, np.repeat(np.arange(len(targets)), [len(target.tokens) for target in targets])


def _scored(nll: FloatArray, hits: BoolArray, row: IntArray, rows: int) -> Scored:
    sums = [np.bincount(row, weights, rows).astype(np.float64) for weights in (nll, None, hits)]
    return Scored(*sums)
