"""Fits: what was learnt on a dev split after training, kept in fits/NAME.json, applied as a pure function.

A fit turns predictions into predictions, so it serves our models, other people's and students alike. Fitting
happens in eval/fits.py; here is only the record and its application, so that ``predict`` can apply one too.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    parameters: Mapping[str, float]
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


def _temperature(fit: Fit, prediction: Prediction) -> Prediction:
    if prediction.scores is None:
        raise Refused(f"id {prediction.id!r} has no scores; a temperature needs scores")
    temperature, scores = fit.parameters["temperature"], prediction.scores
    of_words = isinstance(prediction.answer, list)
    softened = [soften(word, temperature) for word in scores] if of_words else soften(scores, temperature)
    # The p of entities was that of the scores before.
    return replace(prediction, scores=softened, entities=None)


def _null_threshold(fit: Fit, prediction: Prediction) -> Prediction:
    """No answer where the null score is over the threshold, else the best span, whatever the answer was."""
    if not able("null_threshold", prediction):
        raise Refused(f"id {prediction.id!r} has no null score; a null threshold needs one")
    none = prediction.scores["null_score"] > fit.parameters["null_threshold"]
    return replace(prediction, answer="" if none else prediction.scores["best"]["text"])


APPLY: dict[str, Callable[[Fit, Prediction], Prediction]] = {
    "temperature": _temperature,
    "null_threshold": _null_threshold,
}
#: Kinds that change scores only; every other kind changes answers.
KEEPS_ANSWERS = {"temperature"}
#: What a prediction must have for a fit of each kind.
NEEDS = {"temperature": "scores", "null_threshold": "null score"}


def spoken(kind: str) -> str:
    """A kind of fit as people say it: null_threshold is a null threshold."""
    return kind.replace("_", " ")


def able(kind: str, prediction: Prediction) -> bool:
    """Whether a prediction has what a fit of this kind needs."""
    scores = prediction.scores
    return scores is not None and (kind != "null_threshold" or "null_score" in scores)


def apply(fit: Fit, predictions: Sequence[Prediction]) -> list[Prediction]:
    """The predictions as the fit makes them; the answers of a temperature stay what they were."""
    if fit.kind not in APPLY:
        raise Refused(f"fit kind {fit.kind!r} is unknown; known are {', '.join(sorted(APPLY))}")
    return [APPLY[fit.kind](fit, prediction) for prediction in predictions]


def read_fit(path: Path) -> Fit:
    """Read fits/NAME.json; Refused with the file and the key where it is no fit of ours."""
    row = read_json(path)
    if not isinstance(row, dict) or not isinstance(row.get("kind"), str):
        raise Refused(f'{path}: no fit: it needs a "kind", such as temperature; remove the file or fit again')
    kind, parameters, fitted_on = row["kind"], row.get("parameters"), row.get("fitted_on")
    if not isinstance(parameters, dict) or not all(type(v) in (int, float) for v in parameters.values()):
        raise Refused(f'{path}: "parameters" must be an object of numbers; remove the file or fit again')
    if not isinstance(fitted_on, dict):
        raise Refused(f'{path}: "fitted_on" must be an object {{"split", "hash", "n"}}; remove the file or fit again')
    if kind == "temperature" and not 0 < parameters.get("temperature", 0) < math.inf:
        found = parameters.get("temperature")
        raise Refused(f"{path}: a temperature is a number over 0, got {found}; remove the file or fit again")
    if kind == "null_threshold" and not math.isfinite(parameters.get("null_threshold", math.nan)):
        found = parameters.get("null_threshold")
        raise Refused(f"{path}: a null threshold is a finite number, got {found}; remove the file or fit again")
    return Fit(kind, parameters, fitted_on)


def write_fit(path: Path, fit: Fit) -> None:
    """Write fits/NAME.json."""
    write_json(path, {"kind": fit.kind, "parameters": dict(fit.parameters), "fitted_on": dict(fit.fitted_on)})
