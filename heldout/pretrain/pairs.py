"""Pairs for next-sentence prediction (Devlin et al. 2019, section 3.1): half true continuations, half of another text.

A row is a run of a document's sentences. Each time it is made it is cut in two between sentences, A and B. For the
half that is false, B comes from another row, cut by the same rule: seen alone, a B tells nothing about its label. The
other row is of another document of the same domain, where the domain has one: a review beside an encyclopedia's
sentence would be told by its subject.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from heldout.errors import Refused
from heldout.pretrain.frames import Frame
from heldout.pretrain.masking import BoolArray, IntArray
from heldout.pretrain.rows import Row, Rows, joined
from heldout.pretrain.store import Corpus

#: Draws of a false B, before a row stays true: only where nearly every sentence of a corpus is the same.
TRIES = 20


def pair_rows(corpus: Corpus, documents: IntArray, frame: Frame, length: int) -> Rows:
    """Rows of at most ``length`` tokens, each of two sentences or more of one document.

    Documents of one sentence make no pair and are counted. Refused where fewer than two documents make one: B could
    come from no other document (FAULTS P7).
    """
    room = length - frame.length
    found = [_runs(corpus, int(document), room) for document in documents]
    lone = sum(not runs for runs in found)
    if len(found) - lone < 2:
        raise Refused(
            f"--objective mlm-nsp: {len(found) - lone} of {len(found)} documents hold two sentences or more, and a "
            "false next sentence must come from another document; cut the text into documents (--documents), hold "
            "out more (--held-out), or use --objective mlm"
        )
    runs = [run for of_document in found for run in of_document]
    owner = np.repeat(documents, [len(of_document) for of_document in found])
    pairs = _Pairs(corpus, frame, room, runs, owner, _pools(corpus, owner))
    lengths = np.array([run[-1] - run[0] for run in runs]) + frame.length
    return Rows(lengths, owner, pairs.make, {"documents_of_one_sentence": lone} if lone else {})


def _runs(corpus: Corpus, document: int, room: int) -> list[IntArray]:
    """A document's runs: for each the places in the stream where its segments begin, and where the last one ends.

    A segment is a sentence, or a part of one that is longer than half the room. A single segment left at the end
    takes the one before it along, so that nothing is left out.
    """
    start, stop = corpus.bounds[document], corpus.bounds[document + 1]
    first, last = np.searchsorted(corpus.sentences, [start, stop])
    borders = [*corpus.sentences[first:last].tolist(), int(stop)]
    edges = [edge for a, b in pairwise(borders) for edge in range(a, b, room // 2)] + [int(stop)]
    runs, begin = [], 0
    while begin < len(edges) - 1:
        end = int(np.searchsorted(edges, edges[begin] + room, side="right")) - 1
        if end == begin + 1 and begin:
            begin -= 1
        if end > begin + 1:
            runs.append(np.array(edges[begin : end + 1]))
        begin = end
    return runs


def _pools(corpus: Corpus, owner: IntArray) -> dict[int, IntArray]:
    """The rows that a false B may come from, by the domain of A; all rows where the domain has a single document."""
    domain = corpus.domain[owner]
    pools = {int(d): np.flatnonzero(domain == d) for d in np.unique(domain)}
    return {d: rows if len(np.unique(owner[rows])) > 1 else np.arange(len(owner)) for d, rows in pools.items()}


@dataclass(frozen=True)
class _Pairs:
    """Makes rows; ``runs`` and ``owner`` are their segments and documents."""

    corpus: Corpus
    frame: Frame
    room: int
    runs: Sequence[IntArray]
    owner: IntArray
    pools: dict[int, IntArray]

    def make(self, rows: Sequence[int], generator: np.random.Generator) -> list[Row]:
        """The rows, half of them (rounded up or down by a coin) with a B from another document."""
        labels = (generator.permutation(len(rows)) + generator.integers(2)) % 2
        return [self._one(row, bool(label), generator) for row, label in zip(rows, labels, strict=True)]

    def _one(self, row: int, other: bool, generator: np.random.Generator) -> Row:
        run = self.runs[row]
        middle = int(generator.integers(1, len(run) - 1))
        a, b, label = (int(run[0]), int(run[middle])), (int(run[middle]), int(run[-1])), 0
        if other:
            found = self._other(row, self._tokens((int(run[middle]), int(run[middle + 1]))), generator)
            if found is not None:
                b, label = (found[0], min(found[1], found[0] + self.room - (a[1] - a[0]))), 1
        return self._row(a, b, label)

    def _other(self, row: int, true_next: IntArray, generator: np.random.Generator) -> tuple[int, int] | None:
        """A B of another document that does not begin with the true next sentence; None where none was found."""
        pool = self.pools[int(self.corpus.domain[self.owner[row]])]
        for _ in range(TRIES):
            donor = int(pool[generator.integers(len(pool))])
            run = self.runs[donor]
            middle = int(generator.integers(1, len(run) - 1))
            same = np.array_equal(self._tokens((int(run[middle]), int(run[middle + 1]))), true_next)
            if self.owner[donor] != self.owner[row] and not same:
                return int(run[middle]), int(run[-1])
        return None

    def _tokens(self, span: tuple[int, int]) -> IntArray:
        return self.corpus.tokens[span[0] : span[1]]

    def _row(self, a: tuple[int, int], b: tuple[int, int], label: int) -> Row:
        frame, tokens, begins = self.frame, self.corpus.tokens, self.corpus.begins
        second = len(frame.before) + a[1] - a[0] + len(frame.between)
        ids = joined([frame.before, tokens[slice(*a)], frame.between, tokens[slice(*b)], frame.after], np.int64)
        marks = [_all(frame.before), begins[slice(*a)], _all(frame.between), begins[slice(*b)], _all(frame.after)]
        return Row(ids, joined(marks, np.bool_), np.zeros(len(ids), dtype=np.int64), second, label)


def _all(tokens: Sequence[int]) -> BoolArray:
    return np.ones(len(tokens), dtype=bool)
