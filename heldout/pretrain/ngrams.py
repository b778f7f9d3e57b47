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
CHUNK = 1 << 21

#: Pairs, sorted, and how often each was seen.
Run = tuple[IntArray, IntArray]


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
    Memory: some 30 bytes for each distinct pair while they are put together, 8 then (vocabularies of less than 2¹⁶).
    """
    limits = (size * size, int(corpus.bounds[-1]) + len(corpus))
    code, time = (np.uint32 if limit < 1 << 32 else np.int64 for limit in limits)
    tokens: IntArray = np.zeros(size, dtype=np.int64)
    runs: list[Run] = []
    for some in _chunks(corpus, documents):
        for left, right in _neighbours(corpus, some, before, after):
            tokens += np.bincount(right, minlength=size)
            codes, times = np.unique(left * size + right, return_counts=True)
            runs.append((codes.astype(code), times.astype(time)))
            # Each run is at least twice as long as the next, so that no pair is moved more than a few times.
            while len(runs) > 1 and len(runs[-2][0]) < 2 * len(runs[-1][0]):
                runs.append(_merged(runs.pop(), runs.pop()))
    while len(runs) > 1:
        runs.append(_merged(runs.pop(), runs.pop()))
    return Counts(tokens, *runs[0])


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


def _merged(one: Run, other: Run) -> Run:
    codes, times = (np.concatenate(both) for both in zip(one, other, strict=True))
    # Two sorted runs: a stable sort merges them.
    order = np.argsort(codes, kind="stable")
    codes, times = codes[order], times[order]
    del order
    first = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    return codes[first], np.add.reduceat(times, first, dtype=times.dtype)


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
    starts = np.searchsorted(counts.pairs, (np.arange(size + 1) * size).astype(counts.pairs.dtype))
    kinds = np.diff(starts)
    # A context that was never seen has no followers: 1 leaves all to the unigram.
    weight = np.where(kinds, kinds, 1)
    seen, best = np.zeros(size), np.full(size, int(single.argmax()))
    for some in np.split(np.arange(size), np.flatnonzero(np.diff(starts[:-1] // CHUNK)) + 1):
        pairs = slice(starts[some[0]], starts[some[-1] + 1])
        contexts = np.repeat(some, kinds[some])
        times, followers = counts.times[pairs], counts.pairs[pairs] - contexts * size
        seen += np.bincount(contexts, times, size)
        _best(best, contexts, followers, times + weight[contexts] * single[followers], weight * single.max())
    code = (left * size + right).astype(counts.pairs.dtype)
    place = np.minimum(np.searchsorted(counts.pairs, code), len(counts.pairs) - 1)
    times = np.where(counts.pairs[place] == code, counts.times[place], 0)
    probability = (times + weight[left] * single[right]) / (seen[left] + weight[left])
    return _scored(-np.log(probability), best[left] == right, row, len(targets))


def _best(best: IntArray, contexts: IntArray, followers: IntArray, scores: FloatArray, least: FloatArray) -> None:
    """Write the most likely token after each of these contexts into ``best`` (V,), which holds the most frequent one
    of all: that scores ``least`` (V,)."""
    # In ascending order of score the last one written stays.
    order = np.argsort(scores, kind="stable")
    order = order[scores[order] > least[contexts[order]]]
    best[contexts[order]] = followers[order]


def _flat(targets: Sequence[Target]) -> tuple[IntArray, IntArray]:
    right = np.array([token for target in targets for token in target.tokens], dtype=np.int64)
    return right, np.repeat(np.arange(len(targets)), [len(target.tokens) for target in targets])


def _scored(nll: FloatArray, hits: BoolArray, row: IntArray, rows: int) -> Scored:
    sums = [np.bincount(row, weights, rows).astype(np.float64) for weights in (nll, None, hits)]
    return Scored(*sums)
