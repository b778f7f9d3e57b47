"""Fits: what was learnt on a dev split after training, kept in fits/NAME.json, applied as a pure function.

A fit turns predictions into predictions, so it serves our models, other people's and students alike. Fitting
happens in eval (eval/fits/ lists it); here is only the record and its application, so that anybody can apply one.
KINDS says of every kind what it does, what it needs and what its parameters must be.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.records import Prediction
from heldout.runs import read_json, write_json

#: The floor of a probability inside a logarithm (DESIGN: p floored at 1e-12).
FLOOR = 1e-12


@dataclass(frozen=True)
class Fit:
    """Parameters of a kind (``temperature`` …) and the split they were fitted on: {"split", "hash", "n"}."""

    kind: str
    parameters: Mapping[str, Any]
    fitted_on: Mapping[str, Any]


def soften(scores: Sequence[float], temperature: float) -> list[float]:
    """Temperature scaling of one example's probabilities: softmax(log p / T) (Guo et al. 2017, section 4.2).

    The log of a softmax differs from its logits by a constant, so probabilities are enough.

    >>> [round(p, 4) for p in soften([0.9, 0.1], 2.0)]
    [0.75, 0.25]
    """
    logits = [math.log(max(p, FLOOR)) / temperature for p in scores]
    top = max(logits)
    weights = [math.exp(x - top) for x in logits]
    total = sum(weights)
    return [w / total for w in weights]


def along(x: Sequence[float], y: Sequence[float], p: float) -> float:
    """The value at ``p`` of the line through the knots (x, y), x rising; before the first and behind the last, theirs.

    >>> round(along([0.2, 0.4], [0.1, 0.5], 0.3), 12)
    0.3
    """
    if p <= x[0]:
        return y[0]
    if p >= x[-1]:
        return y[-1]
    right = bisect_right(x, p)
    share = (p - x[right - 1]) / (x[right] - x[right - 1])
    return y[right - 1] + share * (y[right] - y[right - 1])


def cheapest(costs: Sequence[Sequence[float]], scores: Sequence[float]) -> int:
    """The label whose expected cost Σ p(gold) costs[gold][answer] is lowest; of equal ones the first.

    >>> cheapest([[0, 1], [5, 0]], [0.8, 0.2])
    1
    """
    answers = range(len(scores))
    expected = [sum(p * row[answer] for p, row in zip(scores, costs, strict=True)) for answer in answers]
    return min(answers, key=lambda answer: expected[answer])


def _scores(fit: Fit, prediction: Prediction) -> Any:
    if not able(fit.kind, prediction):
        wanted = KINDS[fit.kind].needs
        raise Refused(f"id {prediction.id!r} has no {wanted}; {_article(fit.kind)} needs {_plural(wanted)}")
    return prediction.scores


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {spoken(kind)}"


def _plural(needs: str) -> str:
    return needs if needs.endswith("s") else "one"


def _temperature(fit: Fit, prediction: Prediction) -> Prediction:
    scores, temperature = _scores(fit, prediction), fit.parameters["temperature"]
    of_words = isinstance(prediction.answer, list)
    softened = [soften(word, temperature) for word in scores] if of_words else soften(scores, temperature)
    # The p of entities was that of the scores before.
    return replace(prediction, scores=softened, entities=None)


def _isotonic(fit: Fit, prediction: Prediction) -> Prediction:
    """Each label's probability along its own line, then scaled to sum to 1; of two labels the second's serves both.

    Of a span the p of the best one; those of "nbest", which no metric reads, stay the system's own.
    """
    scores, lines = _scores(fit, prediction), list(zip(fit.parameters["x"], fit.parameters["y"], strict=True))
    if isinstance(scores, Mapping):
        best = {**scores["best"], "p": along(*lines[0], scores["best"]["p"])}
        return replace(prediction, scores={**scores, "best": best})
    if len(lines) == 1 and len(scores) == 2:
        p = along(*lines[0], scores[1])
        return replace(prediction, scores=[1 - p, p])
    if len(lines) != len(scores):
        raise Refused(f"id {prediction.id!r} has {len(scores)} scores, the isotonic fit is of {len(lines)} labels")
    mapped = [along(x, y, p) for (x, y), p in zip(lines, scores, strict=True)]
    total = sum(mapped)
    return replace(prediction, scores=[p / total for p in mapped])


def _null_threshold(fit: Fit, prediction: Prediction) -> Prediction:
    """No answer where the null score is over the threshold, else the best span, whatever the answer was."""
    scores = _scores(fit, prediction)
    none = scores["null_score"] > fit.parameters["null_threshold"]
    return replace(prediction, answer="" if none else scores["best"]["text"])


def _expected_cost(fit: Fit, prediction: Prediction) -> Prediction:
    """The answer with the lowest expected cost under the softened scores; the scores stay."""
    scores = soften(_scores(fit, prediction), fit.parameters["temperature"])
    return replace(prediction, answer=fit.parameters["labels"][cheapest(fit.parameters["costs"], scores)])


def _cost_threshold(fit: Fit, prediction: Prediction) -> Prediction:
    """The second label where its probability reaches the threshold, else the first; the scores stay."""
    reached = _scores(fit, prediction)[1] >= fit.parameters["threshold"]
    return replace(prediction, answer=fit.parameters["labels"][int(reached)])


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_finite, value))


def _wrong_temperature(given: Mapping[str, Any]) -> str:
    found: Any = given.get("temperature")
    return "" if _finite(found) and found > 0 else f"a temperature is a number over 0, got {found}"


def _wrong_null_threshold(given: Mapping[str, Any]) -> str:
    found = given.get("null_threshold")
    return "" if _finite(found) else f"a null threshold is a finite number, got {found}"


def _wrong_isotonic(given: Mapping[str, Any]) -> str:
    lines: list[Any] = [given.get(axis) for axis in "xy"]
    if all(isinstance(line, list) and line and all(map(_numbers, line)) for line in lines):
        x, y = lines
        if [len(line) for line in x] == [len(line) for line in y] and all(map(_rises, x)) and all(map(_climbs, y)):
            return ""
    return 'an isotonic fit needs "x" and "y", of each label as many numbers: x rising, y over 0 to 1, not falling'


def _rises(x: Sequence[float]) -> bool:
    return all(a < b for a, b in pairwise(x))


def _climbs(y: Sequence[float]) -> bool:
    return all(a <= b for a, b in pairwise(y)) and y[0] > 0 and y[-1] <= 1


def _wrong_costs(given: Mapping[str, Any]) -> str:
    labels, costs = given.get("labels"), given.get("costs")
    if not isinstance(labels, list) or len(labels) < 2 or not all(isinstance(label, str) for label in labels):
        return 'costs need "labels", two names or more'
    rows = costs if isinstance(costs, list) else []
    square = len(rows) == len(labels) and all(_numbers(row) and len(row) == len(labels) for row in rows)
    if not square or any(cost < 0 for row in rows for cost in row):
        return 'costs need "costs", for each gold label the cost of each answer, 0 or more'
    return ""


def _wrong_expected_cost(given: Mapping[str, Any]) -> str:
    return _wrong_costs(given) or _wrong_temperature(given)


def _wrong_cost_threshold(given: Mapping[str, Any]) -> str:
    found = given.get("threshold")
    return _wrong_costs(given) or ("" if _finite(found) else f"a cost threshold is a finite number, got {found}")


def _wrong_conformal(given: Mapping[str, Any]) -> str:
    values: list[Any] = [given.get(key) for key in ("alpha", "quantile")]
    inside = all(_finite(value) and 0 <= value <= 1 for value in values)
    return "" if inside else f"conformal sets need alpha and quantile from 0 to 1, got {values[0]} and {values[1]}"


def _one(key: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda given: f"{given[key]:.3f}"


def _steps(given: Mapping[str, Any]) -> str:
    return f"{sum(map(len, given['x']))} knots"


def _from(given: Mapping[str, Any]) -> str:
    """What a cost rule does: of two labels from which probability on the second is answered."""
    if "threshold" not in given:
        return "the answer of lowest expected cost"
    return f"{given['labels'][1]} from {given['threshold']:.3f} on"


@dataclass(frozen=True)
class Kind:
    """A kind of fit.

    apply: one prediction → the prediction after it; None of conformal sets, which are no answers.
    wrong: parameters as a file has them → what is wrong with them, "" for nothing. told: parameters → in words.
    needs: what a prediction must have. keeps_answers: whether it changes scores only.
    """

    apply: Callable[[Fit, Prediction], Prediction] | None
    wrong: Callable[[Mapping[str, Any]], str]
    told: Callable[[Mapping[str, Any]], str]
    needs: str = "scores"
    keeps_answers: bool = False


KINDS: Mapping[str, Kind] = {
    "temperature": Kind(_temperature, _wrong_temperature, _one("temperature"), keeps_answers=True),
    "isotonic": Kind(_isotonic, _wrong_isotonic, _steps, keeps_answers=True),
    "null_threshold": Kind(_null_threshold, _wrong_null_threshold, _one("null_threshold"), needs="null score"),
    "expected_cost": Kind(_expected_cost, _wrong_expected_cost, _from),
    "cost_threshold": Kind(_cost_threshold, _wrong_cost_threshold, _from),
    "conformal": Kind(None, _wrong_conformal, _one("quantile")),
}
#: Kinds that change scores only; every other kind changes answers.
KEEPS_ANSWERS = {name for name, kind in KINDS.items() if kind.keeps_answers}
#: What a prediction must have for a fit of each kind.
NEEDS = {name: kind.needs for name, kind in KINDS.items()}


def spoken(kind: str) -> str:
    """A kind of fit as people say it: null_threshold is a null threshold."""
    return kind.replace("_", " ")


def able(kind: str, prediction: Prediction) -> bool:
    """Whether a prediction has what a fit of this kind needs."""
    scores = prediction.scores
    return scores is not None and (kind != "null_threshold" or "null_score" in scores)


def apply(fit: Fit, predictions: Sequence[Prediction]) -> list[Prediction]:
    """The predictions as the fit makes them; the answers of a temperature stay what they were."""
    if fit.kind not in KINDS:
        raise Refused(f"fit kind {fit.kind!r} is unknown; known are {', '.join(sorted(KINDS))}")
    change = KINDS[fit.kind].apply
    if change is None:
        raise Refused(f"fit kind {fit.kind!r} makes sets of labels, no answers")
    return [change(fit, prediction) for prediction in predictions]


def read_fit(path: Path) -> Fit:
    """Read fits/NAME.json; Refused with the file and the key where it is no fit of ours."""
    row = read_json(path)
    if not isinstance(row, dict) or not isinstance(row.get("kind"), str):
        raise Refused(f'{path}: no fit: it needs a "kind", such as temperature; remove the file or fit again')
    kind, parameters, fitted_on = row["kind"], row.get("parameters"), row.get("fitted_on")
    if not isinstance(parameters, dict):
        raise Refused(f'{path}: "parameters" must be an object; remove the file or fit again')
    if not isinstance(fitted_on, dict):
        raise Refused(f'{path}: "fitted_on" must be an object {{"split", "hash", "n"}}; remove the file or fit again')
    if kind not in KINDS:
        raise Refused(f"{path}: fit kind {kind!r} is unknown; known are {', '.join(KINDS)}; remove the file")
    wrong = KINDS[kind].wrong(parameters)
    if wrong:
        raise Refused(f"{path}: {wrong}; remove the file or fit again")
    return Fit(kind, parameters, fitted_on)


def write_fit(path: Path, fit: Fit) -> None:
    """Write fits/NAME.json."""
    write_json(path, {"kind": fit.kind, "parameters": dict(fit.parameters), "fitted_on": dict(fit.fitted_on)})
