"""How far a product answers as the model that it was made of, and the gates that it must pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.records import Prediction
from heldout.train.task import Logits

#: The share of answers that must stay, by product. fp32 differs by the order of additions alone; int8 by rounding.
GATES: Mapping[str, float] = {"fp32": 0.999, "int8": 0.99}
#: Fewer rows than this say little of a share of 99%; it is said where a run has no more.
FEWEST = 200


@dataclass(frozen=True)
class Agreement:
    """``same`` of ``n`` answers stay (words of tagged sentences); ``apart``: the largest difference of a logit."""

    same: int
    n: int
    apart: float
    product: str

    @property
    def share(self) -> float:
        """The share of answers that stay."""
        return self.same / self.n

    @property
    def holds(self) -> bool:
        """Whether the product's gate is passed."""
        return self.share >= GATES[self.product]

    @property
    def words(self) -> str:
        """The figure in words."""
        gate = f"gate {GATES[self.product]:.1%}"
        return f"{self.share:.2%} of {self.n:,} answers agree ({gate}), logits apart by {self.apart:.1e} at most"

    def to_json(self) -> dict[str, Any]:
        """As compression.json has it."""
        return {"share": self.share, "same": self.same, "n": self.n, "apart": self.apart, "gate": GATES[self.product]}


def agreement(
    first: tuple[Sequence[Prediction], Logits], second: tuple[Sequence[Prediction], Logits], product: str
) -> Agreement:
    """How far two systems agree on the same examples, each given as (predictions, logits of all windows)."""
    pairs = [pair for one, other in zip(first[0], second[0], strict=True) for pair in _answers(one, other)]
    apart = max(float(np.abs(a - b).max()) for a, b in zip(first[1], second[1], strict=True))
    return Agreement(sum(a == b for a, b in pairs), len(pairs), apart, product)


def _answers(one: Prediction, other: Prediction) -> list[tuple[Any, Any]]:
    if isinstance(one.answer, list):
        return list(zip(one.answer, other.answer, strict=True))
    return [(one.answer, other.answer)]
