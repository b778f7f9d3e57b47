"""What a smaller system kept of the one it was made of: retention, agreement, churn, KL, calibration; per slice.

retention   value of the smaller ÷ value of the reference, its 95% interval from the paired bootstrap of that ratio
            (the same draws for both sides, groups whole)
agreement   the share of answers that are the same, right or wrong (of tagged sentences the words)
churn       answers that turned from right to wrong, and from wrong to right
kl          mean of Σ p log(p / q), p the reference's probabilities and q the smaller one's, in nats
ece         as answered, and after each system's own temperature, which its own dev was fitted for
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout.eval.comparison.churn import right
from heldout.eval.comparison.field import Field, prepare
from heldout.eval.comparison.inputs import Contest, read_contest
from heldout.eval.metrics import Metric
from heldout.eval.run_data import DEV, names_of
from heldout.eval.slices import WHOLE
from heldout.eval.statistics import FEW, REPLICATES, Sampling, percentiles
from heldout.eval.table import BINS
from heldout.fits import FLOOR
from heldout.records import Prediction
from heldout.runs import read_json

Entry = dict[str, Any]


def retention(run: Path, reference: Path, *, replicates: int = REPLICATES, seed: int = 0) -> dict[str, Any]:
    """By data set {"n", "metric", "slices": {"" or SLICE: {"n", "reference", "value", "low", "high"}}, "agreement",
    "churn", "kl", "ece"}, ready for JSON; of dev where the runs share no test set.
    """
    tests = [name for name in names_of(run) if name != DEV]
    contest = read_contest({"reference": reference, "run": run}, {}, None if tests else DEV, None)
    return {name: _kept(contest, name, (reference, run), replicates, seed) for name in contest.golds}


def _kept(contest: Contest, name: str, folders: tuple[Path, Path], replicates: int, seed: int) -> Entry:
    metric = contest.card.metrics[0]
    field, _ = prepare(contest, name, [metric], Sampling(2, None, replicates, seed), BINS)
    sides = [system.members[0][name] for system in contest.systems]
    first, second = (right(field.tables[place, WHOLE]) for place in (0, 1))
    return {
        "n": len(contest.golds[name].examples),
        "metric": metric,
        "slices": _ratios(field),
        "agreement": agreement(*sides),
        "churn": {
            "right_to_wrong": int((first > second).sum()),
            "wrong_to_right": int((second > first).sum()),
        },
        "kl": divergence(*sides),
        "ece": {side: _ece(folder, name) for side, folder in zip(("reference", "run"), folders, strict=True)},
    }


def _ratios(field: Field) -> dict[str, Entry]:
    """The retention of the main metric on the whole set ("") and on every slice."""
    drawn, filled = field.drawn()
    metric = field.metrics[0]
    return {
        "" if key == WHOLE else key: _ratio(field, metric, key, [drawn[side, key, metric.name][0] for side in (0, 1)])
        | ({"few": True} if filled[key] < FEW else {})
        for key in field.keys
    }


def _ratio(field: Field, metric: Metric, key: str, drawn: Sequence[Any]) -> Entry:
    tables = [field.tables[side, key][0] for side in (0, 1)]
    n = metric.count(tables[0])
    entry: Entry = {"n": field.parts[0, 0][key].n, "value": None, "low": None, "high": None}
    if not n:
        return entry
    before, after = (float(metric.of(table)) for table in tables)
    entry |= {"reference": before, "run": after}
    if before <= 0:
        # Of nothing no share can be kept.
        return entry
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = drawn[1] / drawn[0]
    if np.isfinite(ratios).mean() < 0.95:
        return entry | {"value": after / before}
    low, high = percentiles(ratios)
    return entry | {"value": after / before, "low": low, "high": high}


def agreement(first: Sequence[Prediction], second: Sequence[Prediction]) -> float:
    """The share of equal answers of two systems to the same examples in one order; of tags the share of words."""
    pairs = [
        pair
        for one, other in zip(first, second, strict=True)
        for pair in zip(_each(one.answer), _each(other.answer), strict=True)
    ]
    return float(sum(a == b for a, b in pairs) / len(pairs))


def _each(answer: Any) -> Sequence[Any]:
    return answer if isinstance(answer, list) else [answer]


def divergence(reference: Sequence[Prediction], other: Sequence[Prediction]) -> float | None:
    """Mean KL(reference ‖ other) in nats over examples (of tags over words), probabilities floored at 1e-12.

    None where a side lacks probabilities of all labels: answers in a text list their best spans only.
    """
    if any(not isinstance(prediction.scores, list) for prediction in (*reference, *other)):
        return None
    p, q = (np.array([row for one in side for row in _rows(one)], np.float64) for side in (reference, other))
    # A probability of 0 adds nothing, whatever the other's is.
    return float((p * (np.log(np.maximum(p, FLOOR)) - np.log(np.maximum(q, FLOOR)))).sum(axis=1).mean())


def _rows(prediction: Prediction) -> list[Any]:
    scores: list[Any] = prediction.scores
    return scores if isinstance(prediction.answer, list) else [scores]


def _ece(folder: Path, name: str) -> dict[str, float | None]:
    """The ECE in a run's scores, before and after its own temperature (its threshold's variant has no other ECE)."""
    path = folder / "scores" / f"{name}.json"
    scores = read_json(path) if path.exists() else {}
    return {"before": _value(scores), "after": _value(scores.get("variants", {}).get("temperature", {}))}


def _value(block: Mapping[str, Any]) -> float | None:
    entry = block.get("metrics", {}).get("ece") or {}
    value = entry.get("value")
    return float(value) if isinstance(value, int | float) else None
