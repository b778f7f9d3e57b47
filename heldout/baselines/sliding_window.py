"""Sliding window: the noun-like piece whose surroundings share most with the question; nothing is learnt.

Richardson, Burges and Renshaw (2013, algorithm 1) with the candidates cut down as by Rajpurkar et al. (2016, section
5): of the sentences that share most words and pairs of words with the question, the candidate with the greatest

    max over j of the sum over w = 1 … |S| of IC(P[j + w]) where P[j + w] is in S

with S the words of the question and of the candidate, P the passage's words and IC(w) = log(1 + 1 / count of w in P).
Theirs are the constituents of a parse; ours are runs of words that are no function words and not in the question.
On SQuAD 1.1's dev set this gives EM 0.120, F1 0.198 (theirs: 0.132, 0.202).

Answers only: an overlap is no probability, so there are no scores. Questions without an answer are answered too.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted
from heldout.baselines._noun_like import Word, need_spans, runs, words
from heldout.baselines.first_noun import answer as first_noun
from heldout.records import Card, Example, Prediction

#: The end of a sentence: a stop with a space behind it and no small letter after that.
END = re.compile(r"[.!?][\"'”’)\]]*\s+(?![a-z])")


def fit(train: Sequence[Example], dev: Sequence[Example], card: Card, seed: int, options: BaselineOptions) -> Fitted:
    """Nothing is fitted; Refused for a card that is not about pieces of a passage."""
    need_spans("sliding-window", card)
    return Fitted(lambda examples: [Prediction(one.id, answer(**one.text)) for one in examples])


def answer(question: str, context: str) -> str:
    """The best candidate; the first noun where there is none. Of equals the one that stands first.

    >>> answer("Who sold the mill?", "Ada Moor built the mill near York. Her son Tom sold it to a baker in 1850.")
    'Ada Moor'
    >>> answer("In what year did her son sell the mill?", "Ada built the mill. Her son sold the mill in 1850 to Jim.")
    '1850'
    """
    asked = [word.fold for word in words(question)]
    passage = words(context)
    best = [
        (overlap, run)
        for sentence in sentences(context, passage)
        for overlap in [_overlap(asked, [word.fold for word in sentence])]
        for run in runs(context, sentence)
        if not any(word.fold in asked for word in run)
    ]
    if not best:
        return first_noun(question, context)
    most = max(overlap for overlap, _ in best)
    candidates = [run for overlap, run in best if overlap == most]
    scores = _windows([word.fold for word in passage], asked, candidates)
    run = candidates[int(np.argmax(scores))]
    return context[run[0].start : run[-1].end]


def sentences(text: str, among: Sequence[Word]) -> list[list[Word]]:
    """The words of a text by sentence."""
    ends = [found.end() for found in END.finditer(text)]
    found: list[list[Word]] = [[] for _ in range(len(ends) + 1)]
    for word in among:
        found[bisect_left(ends, word.end)].append(word)
    return found


def _overlap(asked: Sequence[str], sentence: Sequence[str]) -> int:
    """How many words and pairs of neighbours of the question the sentence has."""
    pairs = set(pairwise(asked)) & set(pairwise(sentence))
    return len(set(asked) & set(sentence)) + len(pairs)


def _windows(passage: Sequence[str], asked: Sequence[str], candidates: Sequence[Sequence[Word]]) -> list[float]:
    """The score of each candidate's best window."""
    counts = Counter(passage)
    worth = np.array([np.log(1 + 1 / counts[word]) for word in passage])
    scores = []
    for run in candidates:
        wanted = {*asked, *(word.fold for word in run)}
        sums = np.concatenate([[0.0], np.cumsum(worth * [word in wanted for word in passage])])
        size = min(len(wanted), len(passage))
        scores.append(float((sums[size:] - sums[:-size]).max()))
    return scores


BASELINE = Baseline("sliding-window", fit, "nothing")
