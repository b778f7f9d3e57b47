"""The smallest difference that a test set could have shown: with 80% power, by a two-sided test at 5%.

A difference that was not found is not a difference that is not there. Two ways to say how large one would have had to
be, both for paired systems (Card et al. 2020, "With little power comes great responsibility"):

- of plain shares (accuracy, exact match) from how many examples the two answer differently: n examples of which a
  share ψ is right in one system only show the δ that solves n δ² = (z₁ √ψ + z₂ √(ψ − δ²))², McNemar's test's power
  (Miettinen 1968; Connor 1987, "Sample size for testing differences in proportions for the paired-sample design");
- of any metric from the spread of its paired difference over the bootstrap's replicates: (z₁ + z₂) sd.

z₁ = 1.960 is the normal quantile at 1 − 0.05/2, z₂ = 0.842 that at 0.80. Neither looks at the difference found.
"""

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from heldout.eval.statistics import LEVEL
from heldout.eval.table import FloatArray

#: The chance with which a difference of the size told would have been shown.
POWER = 0.80
_LEVEL_QUANTILE = NormalDist().inv_cdf((1 + LEVEL) / 2)
_POWER_QUANTILE = NormalDist().inv_cdf(POWER)


def from_discordance(only_first: int, only_second: int, n: int) -> dict[str, Any]:
    """{"value", "method"}: the smallest δ for shares of n independent examples; None where even ψ would not do.

    >>> from_discordance(60, 40, 1000)["value"]
    0.028
    >>> from_discordance(3, 1, 1000)["value"] is None
    True
    """
    share = (only_first + only_second) / n
    method = f"discordance {share:.4f} of {n}, 80% power, two-sided 5% (Connor 1987)"
    if not share or _lacks(share, share, n) > 0:
        return {"value": None, "method": f"{method}: answered differently too seldom to show anything"}
    low, high = 0.0, share
    # 50 halvings leave less than the last bit.
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _lacks(middle, share, n) > 0 else (low, middle)
    return {"value": round(high, 4), "method": method}


def _lacks(difference: float, share: float, n: int) -> float:
    """How much a difference falls short of what 80% power needs; 0 at the smallest that has it."""
    spread = math.sqrt(max(share - difference**2, 0))
    return _LEVEL_QUANTILE * math.sqrt(share) + _POWER_QUANTILE * spread - difference * math.sqrt(n)


def from_spread(differences: FloatArray) -> dict[str, Any]:
    """{"value", "method"} from the replicates (R,) of a paired difference; None where they never differ."""
    spread = float(np.std(differences[np.isfinite(differences)]))
    method = f"bootstrap sd {spread:.4g} of the difference, 80% power, two-sided 5% (Card et al. 2020)"
    if spread == 0:
        return {"value": None, "method": f"{method}: the difference does not vary"}
    return {"value": float(f"{(_LEVEL_QUANTILE + _POWER_QUANTILE) * spread:.4g}"), "method": method}
