"""Logistic regression by scikit-learn on rows of numbers, its C chosen on dev: what the fitted baselines share."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from heldout.baselines._contract import Fitted
from heldout.baselines._kept import Kept
from heldout.errors import Refused
from heldout.eval.metrics import find
from heldout.eval.tabulate import tabulate
from heldout.records import Card, Example, Prediction

#: The matrix of examples, a row each.
RowsOf: TypeAlias = Callable[[Sequence[Example]], Any]
#: Values of C that are tried, strongest regularisation first. A C of 0.25 lost on every size of IMDb (tfidf: 0.877 at
#: 22,500).
GRID = (1.0, 4.0, 16.0, 64.0, 256.0)


def check(kind: str, train: Sequence[Example], dev: Sequence[Example], card: Card) -> None:
    """Refused where there is nothing to tell apart, or nothing to choose C on."""
    if card.kind != "label":
        raise Refused(f"{kind}: not applicable to {card.name}, whose answers are no labels; leave it out")
    if not dev or len({example.gold for example in train}) < 2:
        raise Refused(f"{kind}: needs two labels or more in train, and a dev split to choose C on")


def fit_logistic(
    train: Sequence[Example],
    rows: Any,
    dev: Sequence[Example],
    card: Card,
    rows_of: RowsOf,
) -> Fitted:
    """One classifier for each C on train's ``rows``, a matrix; the one that is best on dev by the card's main metric.

    ``rows_of`` makes such a matrix of other examples. Ties go to the lowest dev NLL, then to the strongest
    regularisation. Deterministic: lbfgs draws no random numbers.
    """
    # scikit-learn takes a second to import: only these baselines pay for it.
    from sklearn.linear_model import LogisticRegression

    dev_rows, gold = rows_of(dev), [example.gold for example in train]
    models = [LogisticRegression(C=c, max_iter=1000).fit(rows, gold) for c in GRID]
    ranks = [_rank(_predictions(dev, _probabilities(model, dev_rows, card), card), dev, card) for model in models]
    best = ranks.index(max(ranks))

    return Fitted(_predict(models[best], card, rows_of), {"C": GRID[best]}, _keep(models[best]))


def logistic_again(kept: Kept, card: Card, rows_of: RowsOf) -> Fitted:
    """The classifier that was kept: the same probabilities of the same rows."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression()
    model.classes_ = np.array(kept.about["labels"])
    model.coef_, model.intercept_ = kept.arrays["coefficients"], kept.arrays["intercepts"]
    return Fitted(_predict(model, card, rows_of))


def _keep(model: Any) -> Kept:
    arrays = {"coefficients": model.coef_, "intercepts": model.intercept_}
    return Kept(arrays, about={"labels": model.classes_.tolist()})


def _predict(model: Any, card: Card, rows_of: RowsOf) -> Callable[[Sequence[Example]], list[Prediction]]:
    def predict(examples: Sequence[Example]) -> list[Prediction]:
        if not examples:
            # scikit-learn refuses a matrix without rows.
            return []
        return _predictions(examples, _probabilities(model, rows_of(examples), card), card)

    return predict


def _probabilities(model: Any, rows: Any, card: Card) -> npt.NDArray[np.float64]:
    """Probabilities [examples, labels] in the card's order; a label that train lacks gets 0."""
    scores = np.zeros((rows.shape[0], len(card.labels)))
    scores[:, [card.labels.index(label) for label in model.classes_]] = model.predict_proba(rows)
    return scores


def _predictions(examples: Sequence[Example], scores: npt.NDArray[np.float64], card: Card) -> list[Prediction]:
    answers = [card.labels[i] for i in scores.argmax(axis=1)]
    return [
        Prediction(example.id, answer, row)
        for example, answer, row in zip(examples, answers, scores.tolist(), strict=True)
    ]


def _rank(predictions: Sequence[Prediction], dev: Sequence[Example], card: Card) -> tuple[float, float]:
    """How good predictions of dev are, larger is better: the card's main metric, then minus the NLL."""
    table, main = tabulate(card, dev, predictions), find(card.metrics[0])
    value = main.of(table)
    return value if main.higher_is_better else -value, -find("nll").of(table)
