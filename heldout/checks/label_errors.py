"""Labels that look wrong: confident learning over cross-validated probabilities.

For each label j its threshold t_j is the mean probability of j over the texts labelled j. A text is put down as the
most probable of the labels whose probability reaches their threshold; where that is not the label given, it is
suspected (Northcutt, Jiang and Chuang 2021, Confident Learning, section 3: the off-diagonal of the confident joint).
Suspects are ranked by the normalised margin, p(given) − the largest other p, the least first.

The probabilities are those of tf-idf + logistic regression, which never saw the text, its group or a near duplicate;
or those of any system that was cross-fitted likewise. Of 200 labels flipped in 5,000 IMDb reviews it finds 125, among
215 suspects (docs/label_errors.py). What a linear model of words cannot tell (a pair's logic, irony) it suspects
wrongly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heldout.data.duplicates import connect
from heldout.records import Example

FOLDS = 5
#: The inverse of the classifier's regularisation. Of those 200 flipped labels precision and recall are 0.58 and 0.57 at
#: C = 1, 0.58 and 0.63 at 4, 0.53 and 0.68 at 16.
C = 4.0
Probabilities = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Suspect:
    """A row whose label looks wrong: given and suggested label with their probabilities."""

    row: int
    given: str
    suggested: str
    p_given: float
    p_suggested: float


def suspects(given: Sequence[str], labels: Sequence[str], scores: Probabilities) -> list[Suspect]:
    """The suspected rows of out-of-sample probabilities ``scores`` (n, L), in the order of ``labels``; worst first."""
    number = {label: place for place, label in enumerate(labels)}
    codes = np.array([number[label] for label in given])
    present = np.isin(np.arange(len(labels)), codes)
    thresholds = [float(scores[codes == j, j].mean()) if present[j] else np.inf for j in range(len(labels))]
    confident = np.where(scores >= np.array(thresholds), scores, -1.0)
    rows = np.arange(len(codes))
    said = confident.argmax(axis=1)
    suspected = rows[(confident[rows, said] >= 0) & (said != codes)]
    others = scores.copy()
    others[rows, codes] = -1.0
    margin = scores[rows, codes] - others.max(axis=1)
    ranked = suspected[np.argsort(margin[suspected], kind="stable")]
    return [
        Suspect(int(r), labels[codes[r]], labels[said[r]], float(scores[r, codes[r]]), float(scores[r, said[r]]))
        for r in ranked
    ]


def units(examples: Sequence[Example], clusters: Sequence[int]) -> list[int]:
    """A number for each example, equal for those that one fold must hold: near duplicates, a group, a pair."""
    first: dict[tuple[str, str], int] = {}
    joins = []
    for row, example in enumerate(examples):
        marks = [("cluster", str(clusters[row]))]
        marks += [(field, str(example.about[field])) for field in ("group", "pair") if field in example.about]
        joins += [(first.setdefault(mark, row), row) for mark in marks]
    return connect(len(examples), joins)


def cross_validated(
    texts: Sequence[str], given: Sequence[str], labels: Sequence[str], groups: Sequence[int], *, seed: int, c: float = C
) -> Probabilities:
    """Out-of-fold probabilities (n, L) by tf-idf and logistic regression, a group whole in one of FOLDS folds.

    The words' document frequencies are those of all texts, which know nothing of labels; each fold's classifier is
    fitted on the other folds. A label that they lack has probability 0 there.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    rows = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=min(2, len(texts))).fit_transform(texts)
    codes = np.array([labels.index(label) for label in given])
    fold = folds(codes, groups, seed=seed)
    scores = np.zeros((len(texts), len(labels)))
    for number in np.unique(fold):
        inside = fold == number
        if len(set(codes[~inside].tolist())) < 2:
            scores[np.ix_(inside, np.unique(codes[~inside]))] = 1.0
            continue
        model = LogisticRegression(C=c, max_iter=1000).fit(rows[~inside], codes[~inside])
        scores[np.ix_(inside, model.classes_)] = model.predict_proba(rows[inside])
    return scores


def folds(codes: npt.NDArray[np.int64], groups: Sequence[int], *, seed: int) -> npt.NDArray[np.int64]:
    """A fold from 0 to FOLDS − 1 a row: groups whole, largest first, each where its first label is fewest so far."""
    members: dict[int, list[int]] = {}
    for row, group in enumerate(groups):
        members.setdefault(group, []).append(row)
    shuffled = [list(members.values())[i] for i in np.random.default_rng(seed).permutation(len(members))]
    fold = np.zeros(len(codes), np.int64)
    counts = np.zeros((FOLDS, int(codes.max()) + 1), np.int64)
    for rows in sorted(shuffled, key=len, reverse=True):
        label = codes[rows[0]]
        to = int(np.lexsort((counts.sum(axis=1), counts[:, label]))[0])
        fold[rows] = to
        np.add.at(counts[to], codes[rows], 1)
    return fold
