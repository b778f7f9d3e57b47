"""Tables of kind lm: of every row of held-out text the summed loss over its predicted tokens and how many were hit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heldout.errors import Refused
from heldout.eval.table import BINS, Events, FloatArray, IntArray
from heldout.records import Card, Example, Prediction, join


@dataclass(frozen=True)
class LmTable:
    """n rows in gold's order, shapes (n,): ``nll`` summed in nats over ``n`` predicted tokens, ``hits`` of them right.

    ``right`` tells whether the label of a pair is (its second text is the true next one or not), NaN where a row is no
    pair. Rows whose predictions tell less than gold asks for are ``unscored``, and their numbers NaN.
    """

    nll: FloatArray
    n: FloatArray
    hits: FloatArray
    right: FloatArray
    unscored: int = 0
    bins: int = BINS

    def __len__(self) -> int:
        return len(self.nll)

    @property
    def scored(self) -> bool:
        """Whether every row tells its hits and, of a pair, its label."""
        return self.unscored == 0

    @property
    def correct(self) -> FloatArray:
        """1.0 where the pair's label is right, or, where a row is no pair, all of its tokens are; shape (n,)."""
        whole: FloatArray = np.where(np.isnan(self.right), self.hits == self.n, self.right == 1).astype(np.float64)
        return whole

    @property
    def events(self) -> Events:
        """Refused: the records of a language model have no confidence of an answer."""
        raise Refused("a language model's predictions hold no confidence; calibration is for label, tags and span")

    def take(self, rows: IntArray) -> "LmTable":
        """The table of these rows only."""
        return replace(self, nll=self.nll[rows], n=self.n[rows], hits=self.hits[rows], right=self.right[rows])


def tabulate_lm(card: Card, gold: Sequence[Example], predictions: Sequence[Prediction], bins: int = BINS) -> LmTable:
    """Join by id; Refused where ids don't match, or a prediction is of another number of tokens than gold asks for."""
    pairs = join(gold, predictions)
    rows = []
    for example, prediction in pairs:
        answer = prediction.answer
        if answer["n"] != example.gold["n"]:
            raise Refused(
                f"id {example.id!r}: predicts {answer['n']} tokens where gold has {example.gold['n']}; "
                "systems are scored at the same positions"
            )
        truth = example.gold.get("next")
        right = np.nan if truth is None or "next" not in answer else float((answer["next"] >= 0.5) == truth)
        lacks = "correct" not in answer or (truth is not None and "next" not in answer)
        rows.append((answer["nll"], answer["n"], answer.get("correct", np.nan), right, lacks))
    nll, n, hits, right, lacks = np.array(rows, dtype=np.float64).T
    return LmTable(nll, n, hits, right, int(lacks.sum()), bins)
