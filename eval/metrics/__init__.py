"""Metrics, one file a family: a module here lists its metrics in METRICS and is found by listing the folder.

A metric is sums of per-example columns and a function of those sums. That is what makes resampling cheap: the sums
of a bootstrap replicate are its counts (how often each example was drawn) times the columns.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from heldout.errors import Refused
from heldout.eval.expected import brought
from heldout.eval.labels import LabelTable
from heldout.eval.spans import SpanTable
from heldout.eval.table import FloatArray, Table
from heldout.eval.tags import TagTable
from heldout.options import nearest
from heldout.records import Card

#: What is counted among the surest answers, by the kind of card.
SURE = {"label": "accuracy", "span": "em", "tags": "precision"}


def no_extras(table: Table, seed: int) -> dict[str, Any]:
    """Nothing to say beside the value."""
    return {}


def unscored(table: Table) -> int:
    """How many examples have no scores."""
    return table.unscored


def unsure(table: Table) -> int:
    """How many examples leave the confidence of their answers open."""
    return table.unsure if isinstance(table, TagTable) else table.unscored


def answers(table: Table) -> int:
    """How many answers have a confidence: examples, questions, or the entities found in sentences."""
    return len(table.events.confidence)


@dataclass(frozen=True)
class Metric:
    """A metric over a table of n examples.

    columns: Table → (n, k) sufficient statistics of each example; whatever is fixed before resampling (the labels
        that have gold, the edges of bins) is fixed here.
    value: sums of columns (R, k) → (R,), NaN where a replicate holds no example.
    extras: (Table, seed) → further keys of the entry in scores.json.
    share: a plain share of examples, whose columns are (hit, 1) of those it is about and (0, 0) of the others:
        Wilson's interval holds where there are no groups.
    about, count: what the metric is about, and Table → how many of them there are, the entry's n. Where there are
        none, the value is NaN, which scores.json has as None with a note.
    exact: the value on a table where that of summed columns is but near it.
    missing: of a metric that needs scores, Table → how many examples lack those that it needs.
    no_interval: why it is not resampled, in words, where it is not.
    whole_only: of the whole set alone, no slice: it would be noise there, or cost too much of everybody's time.
    """

    name: str
    kinds: tuple[str, ...]
    needs_scores: bool
    unit: str
    higher_is_better: bool
    columns: Callable[[Any], FloatArray]
    value: Callable[[FloatArray], FloatArray]
    extras: Callable[[Any, int], Mapping[str, Any]] = no_extras
    share: bool = False
    only_two_labels: bool = False
    about: str = "examples"
    count: Callable[[Any], int] = len
    exact: Callable[[Any], float] | None = None
    missing: Callable[[Any], int] = unscored
    no_interval: str = ""
    whole_only: bool = False

    def lacking(self, table: Table) -> int:
        """How many examples lack the scores that the metric needs; one is enough for it to have no value."""
        return self.missing(table) if self.needs_scores else 0

    def of(self, table: Table) -> float:
        """The value on a table, summed in float64; NaN where it holds nothing that the metric is about."""
        return self.exact(table) if self.exact is not None else self.sum_of(self.columns(table))

    def sum_of(self, columns: FloatArray) -> float:
        """The value of a table's columns, summed in float64."""
        return float(self.value(columns.sum(axis=0, keepdims=True))[0])


@cache
def known() -> dict[str, Metric]:
    """Every metric of this folder by name."""
    found: dict[str, Metric] = {}
    for module in pkgutil.iter_modules(__path__):
        for metric in importlib.import_module(f"{__name__}.{module.name}").METRICS:
            if metric.name in found:
                raise ValueError(f"two metrics are named {metric.name}")
            found[metric.name] = metric
    return found


def find(name: str) -> Metric:
    """The metric of this name; Refused naming the nearest known one."""
    if name not in known():
        raise Refused(f"metric {name!r} is unknown{nearest(name, list(known()))}; known are {', '.join(known())}")
    return known()[name]


def chosen(card: Card, table: Table) -> list[Metric]:
    """The card's metrics in its order, with those that others bring: after ece its siblings and what answering the
    surest alone gives, after accuracy and its like the consistency of pairs where there are some and what answers cost
    where errors have costs, after em and f1 those by answerable and impossible questions where there are both. Where
    the table has no gold, those of the card have no value, and what changes are expected to do is all that is told.
    """
    if isinstance(table, LabelTable) and table.goldless:
        return [*map(_without_gold, map(find, dict.fromkeys(card.metrics))), *map(find, brought(table))]
    names = list(dict.fromkeys(card.metrics))
    if "ece" in names and card.kind in SURE and not unsure(table):
        names = _with(names, ("ece", "ece_mass"), _of_confidence(card, table))
    two_labels = isinstance(table, LabelTable) and len(table.labels) == 2
    if two_labels:
        names = _with(names, ("ece",), ("ece_positive",))
    if isinstance(table, LabelTable) and table.pairs is not None:
        names = _with(names, ("accuracy", "macro_f1", "mcc"), ("pair_consistency",))
    if isinstance(table, LabelTable) and table.costs is not None:
        names = _with(names, ("accuracy", "macro_f1", "mcc"), ("cost",))
    if isinstance(table, SpanTable) and not table.answerable.all():
        names = _with(names, ("em", "f1"), ("has_ans_em", "has_ans_f1", "no_ans_acc"))
    # What test cases expect stands last: it is about the set, not about the card.
    names += [name for name in brought(table) if name not in names]
    metrics = [find(name) for name in names]
    metrics = [replace(metric, whole_only=metric.whole_only or _heavy(metric, card)) for metric in metrics]
    for metric in metrics:
        if card.kind not in metric.kinds:
            raise Refused(f"card {card.name!r}: metric {metric.name!r} is for {', '.join(metric.kinds)} cards only")
        if metric.only_two_labels and not two_labels:
            raise Refused(f"card {card.name!r}: metric {metric.name!r} needs two labels, got {len(card.labels)}")
    return metrics


def _without_gold(metric: Metric) -> Metric:
    """The metric as it is of examples without gold: no value, and nothing to resample."""
    return replace(
        metric,
        needs_scores=False,
        columns=lambda table: np.zeros((len(table), 1)),
        value=lambda sums: np.full(len(sums), np.nan),
        exact=lambda table: np.nan,
        count=lambda table: 0,
        about="gold",
        no_interval="no gold",
    )


def _heavy(metric: Metric, card: Card) -> bool:
    """An AURC that the card does not ask for stands for the whole set: its columns are as many as all others'."""
    return metric.name == "aurc" and metric.name not in card.metrics


def _of_confidence(card: Card, table: Table) -> list[str]:
    classwise = isinstance(table, LabelTable) and len(table.labels) > 2
    at = [f"{SURE[card.kind]}_at_{share}" for share in (80, 90, 95)]
    return ["mce", *(["ece_classwise"] if classwise else []), "aurc", *at]


def _with(names: list[str], bring: Sequence[str], brought: Sequence[str]) -> list[str]:
    """The names with those brought, where they lack them, behind the last of the names that bring them."""
    places = [names.index(name) + 1 for name in bring if name in names]
    new = [name for name in brought if name not in names]
    return names if not places else [*names[: max(places)], *new, *names[max(places) :]]


def ratio(sums: FloatArray) -> FloatArray:
    """The value of a mean whose columns are (x, 1): Σx / Σ1, NaN where nothing was drawn."""
    with np.errstate(invalid="ignore", divide="ignore"):
        quotient: FloatArray = sums[:, 0] / sums[:, 1]
    return quotient
