"""Weak spots: the slices where a system is worse than elsewhere, found on one half of a set, confirmed on the other.

A shallow tree (depth 3 at most) over features of text and gold (features.py) is grown on the first half; each leaf
that is answered wrong more often than the rest of that half is a suspect. Searching through hundreds of cuts always
finds something, so a suspect is judged on the second half alone, which had no part in the search: the difference of its
share of wrong answers to that of all others, its standard error from sums over whole groups (sandwich), a two-sided p
by the normal, adjusted by Holm over all suspects. It is confirmed where that is below 0.05 and the difference positive.
Which half a case is in depends on its group, or else its text: copies and questions about one passage stay together.

On pure noise nothing is confirmed in at least 95 of 100 seeded sets (a test).
"""

import math
from collections.abc import Sequence
from hashlib import blake2b
from statistics import NormalDist
from typing import Any

import numpy as np

from heldout.eval.statistics import LEVEL, holm
from heldout.eval.table import FloatArray, IntArray, Table
from heldout.eval.weak_spots.conditions import Column, conditions, expression, said
from heldout.eval.weak_spots.features import Cases, Feature, cases, whole_text
from heldout.eval.weak_spots.tree import Step, grow, leaves
from heldout.records import Card, Example

DEPTH, LEAST, BINS = 3, 30, 16
#: Where a run folder keeps what was found: weak_spots/NAME.json.
FOLDER = "weak_spots"
#: Chi-squared with one degree of freedom that one in a thousand cuts reaches by chance: less is not worth a cut.
WORTH = 10.8
#: Below this many cases on either side of the second half the normal says nothing: such a suspect is not confirmed.
FEWEST = 10
SURE = 1 - LEVEL
#: How many wrongly answered cases are named as examples of a spot.
SHOWN = 5


def weak_spots(card: Card, gold: Sequence[Example], table: Table, *, depth: int = DEPTH) -> dict[str, Any]:
    """The weak spots of a system's answers (its ``table``) to a set, ready for JSON.

    Those that are confirmed stand first; of these, and of the others, those with most wrong answers more than there
    would be at the rate of elsewhere.
    """
    return searched(cases(card, gold, table), gold, depth)


def searched(found: Cases, gold: Sequence[Example], depth: int = DEPTH) -> dict[str, Any]:
    """The weak spots among the cases of a set, as ``weak_spots`` gives them."""
    halves = _halves(gold)[found.owner]
    first, second = np.flatnonzero(~halves), np.flatnonzero(halves)
    columns, codes = _columns(found.features, first)
    suspects = _suspects(found, columns, codes, first, depth)
    groups = _groups(gold)[found.owner]
    spots = [_judged(found, way, columns, codes, first, second, groups) for way in suspects]
    for spot, p in zip(spots, holm([spot["p"] for spot in spots]), strict=True):
        spot["p_holm"] = p
        spot["confirmed"] = bool(p < SURE and spot["difference"]["value"] > 0)
    ids = [gold[row].id for row in found.owner]
    for spot in spots:
        spot["examples"] = _wrong_ids(spot.pop("rows"), found, ids)
    return {
        "of": found.what,
        "n": len(found),
        "wrong": float(found.wrong.mean()) if len(found) else None,
        "halves": [len(first), len(second)],
        "looked_at": [feature.name for feature in found.features],
        "spots": sorted(spots, key=lambda spot: (not spot["confirmed"], -spot["difference"]["value"] * spot["n"])),
    }


def _wrong_ids(rows: IntArray, found: Cases, ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ids[row] for row in rows if found.wrong[row] > 0))[:SHOWN]


def _keys(gold: Sequence[Example]) -> list[str]:
    """What keeps examples in one half: the group, or the pair, or else the text."""
    return [str(e.about.get("group", e.about.get("pair", whole_text(e)))) for e in gold]


def _halves(gold: Sequence[Example]) -> Any:
    digests = [blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest() for key in _keys(gold)]
    return np.array([digest[0] % 2 == 1 for digest in digests], dtype=bool)


def _groups(gold: Sequence[Example]) -> IntArray:
    number: dict[str, int] = {}
    return np.array([number.setdefault(key, len(number)) for key in _keys(gold)], dtype=np.int64)


def _columns(features: Sequence[Feature], first: IntArray) -> tuple[list[Column], IntArray]:
    """The columns of the tree and their codes of all cases; borders and parts are those of the first half."""
    columns: list[Column] = []
    codes: list[IntArray] = []
    for feature in features:
        here = feature.values[first]
        if feature.parts:
            for part in range(len(feature.parts)):
                if LEAST <= (here == part).sum() <= len(here) - LEAST:
                    columns.append(Column(feature, part=part))
                    codes.append((feature.values == part).astype(np.int64))
            continue
        shares = np.arange(1, BINS) / BINS
        borders = np.unique(np.quantile(here, shares, method="lower")) if len(here) else np.array([])
        columns.append(Column(feature, tuple(map(float, borders))))
        codes.append(np.searchsorted(borders, feature.values, side="left"))
    cases = len(features[0].values) if features else 0
    return columns, np.array(codes, dtype=np.int64).reshape(len(columns), cases).T


def _suspects(
    found: Cases, columns: Sequence[Column], codes: IntArray, first: IntArray, depth: int
) -> list[tuple[Step, ...]]:
    """The ways to the leaves of the first half's tree that are wrong more often than the rest of it."""
    if not columns or not len(first):
        return []
    wrong = found.wrong[first]
    tree = grow(wrong, codes[first], depth=depth, least=LEAST, worth=WORTH)
    ways = []
    for way, rows in leaves(tree):
        rest = np.delete(wrong, rows)
        if len(rest) and wrong[rows].mean() > rest.mean():
            ways.append(way)
    return ways


def _judged(
    found: Cases,
    way: Sequence[Step],
    columns: Sequence[Column],
    codes: IntArray,
    first: IntArray,
    second: IntArray,
    groups: IntArray,
) -> dict[str, Any]:
    inside = np.ones(len(found), dtype=bool)
    for step in way:
        inside &= (codes[:, step.column] > step.code) == step.above
    asked = conditions(way, columns)
    then = {"n": int(inside[first].sum()), **_rates(found.wrong[first], inside[first])}
    now = {"n": int(inside[second].sum()), **_rates(found.wrong[second], inside[second])}
    return {
        "where": " and ".join(said(condition) for condition in asked),
        "slice": expression(asked),
        "found_on": then,
        **now,
        **_difference(found.wrong[second], inside[second], groups[second]),
        "rows": second[inside[second]],
    }


def _rates(wrong: FloatArray, inside: Any) -> dict[str, float | None]:
    here, rest = wrong[inside], wrong[~inside]
    return {"wrong": float(here.mean()) if len(here) else None, "elsewhere": float(rest.mean()) if len(rest) else None}


def _difference(wrong: FloatArray, inside: Any, groups: IntArray) -> dict[str, Any]:
    """The share wrong inside minus elsewhere, its interval and two-sided p; groups whole.

    Each case's part in the difference of the two means, summed by group: the variance of that sum over groups.
    """
    n, rest = int(inside.sum()), int((~inside).sum())
    if min(n, rest) < FEWEST:
        return {"difference": {"value": 0.0, "low": None, "high": None}, "p": 1.0, "note": f"{min(n, rest)} cases"}
    value = float(wrong[inside].mean() - wrong[~inside].mean())
    part = np.where(inside, (wrong - wrong[inside].mean()) / n, -(wrong - wrong[~inside].mean()) / rest)
    sums = np.bincount(groups, part)[np.unique(groups)]
    variance = float((sums**2).sum()) * len(sums) / max(1, len(sums) - 1)
    error = math.sqrt(variance + sum(_unseen(side) for side in (wrong[inside], wrong[~inside])))
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) * error
    p = 2 * NormalDist().cdf(-abs(value) / error) if error else 1.0
    return {"difference": {"value": value, "low": value - half, "high": value + half}, "p": p}


def _unseen(side: FloatArray) -> float:
    """The variance of the mean of cases that are all wrong or all right, which shows none: by Laplace's (k+1)/(n+2)."""
    if side.min() < side.max():
        return 0.0
    share = (float(side.sum()) + 1) / (len(side) + 2)
    return share * (1 - share) / len(side)
