"""What every baseline is: a name and a function that fits it and gives back a function that predicts."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from heldout.baselines._kept import Kept
from heldout.embeddings.features import How
from heldout.errors import Refused
from heldout.records import Card, Example, Prediction

Rule = Literal["full", "seeds"]


@dataclass(frozen=True)
class BaselineOptions:
    """What a person can choose: the lexicon's rule and file, static's vectors (None: train's own) and pooling."""

    rule: Rule = "full"
    lexicon: Path | None = None
    vectors: Path | None = None
    pooling: How = "sif"


@dataclass(frozen=True)
class Fitted:
    """A fitted baseline: its predictions, and what was chosen on dev ({"C": 4.0}), which the ledger must name.

    kept: what ``Baseline.again`` makes it of another time, where it can.
    """

    predict: Callable[[Sequence[Example]], list[Prediction]]
    chosen_on_dev: Mapping[str, Any] = field(default_factory=dict)
    kept: Kept | None = None


@dataclass(frozen=True)
class Baseline:
    """A baseline: ``fit(train, dev, card, seed, options)`` raises Refused where it cannot be applied to the card.

    learns: what it reads of train. Those that learn nothing, or golds alone, can answer a set that comes later without
    train's texts; those that learn texts by ``again(kept, card)``, from what they kept.
    """

    name: str
    fit: Callable[[Sequence[Example], Sequence[Example], Card, int, BaselineOptions], Fitted]
    learns: Literal["texts", "golds", "nothing"] = "texts"
    again: Callable[[Kept, Card], Fitted] | None = None


def text_of(example: Example) -> str:
    """All text fields of an example as one string."""
    return " ".join(str(value) for value in example.text.values())


def label_shares(train: Sequence[Example], labels: Sequence[str]) -> list[float]:
    """The share of each label in train, in the order of ``labels``; Refused where train is empty."""
    if not train:
        raise Refused("the train split is empty; a baseline needs labelled examples")
    counts = Counter(example.gold for example in train)
    return [counts[label] / len(train) for label in labels]


def most_frequent(train: Sequence[Example], labels: Sequence[str]) -> str:
    """The label that train has most of; of equally frequent ones the first in the card's order."""
    shares = label_shares(train, labels)
    return labels[shares.index(max(shares))]
