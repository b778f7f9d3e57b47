"""What rounds of blocks come to: medians with quartiles, and ratios with an interval that assumes no distribution."""

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any

from heldout.compress.measure import quartiles


def spread(values: Sequence[float]) -> dict[str, Any]:
    """{"median", "quartiles": [lower, upper], "values"}."""
    lower, median, upper = quartiles(values)
    return {"median": median, "quartiles": [lower, upper], "values": list(values)}


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> dict[str, Any]:
    """The median over rounds of ours / theirs, with the interval for a median between two of the ratios themselves.

    Between the k-th smallest and the k-th largest of n the median lies with probability 1 − 2·P(Binomial(n, ½) < k),
    whatever the distribution (Conover 1999, section 3.2). The narrowest that holds 95% is given, or the whole range
    where there are fewer than 6, with its "coverage".

    >>> ratio([2, 4, 6], [1, 2, 2])["median"], ratio([2.0] * 6, [1.0] * 6)["coverage"]
    (2.0, 0.96875)
    """
    each = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    n = len(each)
    cut = max((k for k in range(1, n // 2 + 1) if coverage(n, k) >= 0.95), default=1)
    low, high = each[cut - 1], each[n - cut]
    return {"median": quartiles(each)[1], "low": low, "high": high, "coverage": coverage(n, cut), "rounds": n}


def beside(rows: dict[str, dict[str, Any]], unit: str, others: Mapping[str, str]) -> dict[str, float]:
    """Note in every side's row what the first one's speed is to it ("ours_is"); the figures of all sides by name.

    A row has "UNIT_a_second" (a ``spread``) and "peak_memory"; ``others`` are more of its keys by what they are called.
    """
    first, found = next(iter(rows)), dict[str, float]()
    rates = {name: row[f"{unit}_a_second"]["values"] for name, row in rows.items()}
    for name, row in rows.items():
        row["ours_is"] = None if name == first else ratio(rates[first], rates[name])
        found[f"{name} {unit}/s"] = row[f"{unit}_a_second"]["median"]
        found |= {f"{name} {called}": row[key] for called, key in others.items()}
        found[f"{name} peak memory"] = row["peak_memory"]
        if row["ours_is"]:
            found[f"ours over {name}"] = row["ours_is"]["median"]
    return found


def coverage(n: int, k: int) -> float:
    """The probability that a median lies between the k-th smallest and the k-th largest of n values.

    >>> coverage(8, 1), coverage(8, 2)
    (0.9921875, 0.9296875)
    """
    return 1 - 2 * sum(comb(n, below) for below in range(k)) / float(2**n)
