"""What is fitted on a dev split, never on the split that is scored: a table from the kind of card to the fitters.

Each fitter is a module of its own; the record of a fit and its application are heldout/fits.py, so that a new fit is
one fitter, one line here and one line there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from heldout.eval.fits.conformal import ALPHA, CONFORMAL, check_alpha, fit_conformal
from heldout.eval.fits.costs import Costs, fit_cost_threshold, fit_expected_cost, parse_costs
from heldout.eval.fits.costs import best_on_this as cheapest_on_this
from heldout.eval.fits.isotonic import fit_isotonic
from heldout.eval.fits.null_threshold import best_on_this, fit_null_threshold
from heldout.eval.fits.temperature import HIGHEST as HIGHEST
from heldout.eval.fits.temperature import LOWEST as LOWEST
from heldout.eval.fits.temperature import fit_temperature as fit_temperature
from heldout.fits import Fit, read_fit
from heldout.records import Card, Example, Prediction

Fitter = Callable[[Card, Sequence[Example], Sequence[Prediction], str], Fit | None]
#: What is fitted on dev for cards of a kind, by the kind of the fit; None where the split leaves nothing to fit.
FITTERS: Mapping[str, Mapping[str, Fitter]] = {
    "label": {"temperature": fit_temperature, "isotonic": fit_isotonic, CONFORMAL: fit_conformal},
    "span": {"null_threshold": fit_null_threshold, "isotonic": fit_isotonic},
    "tags": {"temperature": fit_temperature},
}
#: What is shown beside a fit's variant: what the best on the scored data itself would have given, never used.
BEST_ON_THIS: Mapping[str, Callable[[Fit, Card, Sequence[Example], Sequence[Prediction]], dict[str, Any]]] = {
    "null_threshold": lambda fit, *scored: best_on_this(*scored),
    "cost_threshold": cheapest_on_this,
}


@dataclass(frozen=True)
class Asked:
    """What a person asked of the fits: the costs of errors, if any, and the share of sets that may miss gold."""

    costs: Costs | None = None
    alpha: float = ALPHA


def fitters(card: Card, asked: Asked) -> dict[str, Fitter]:
    """The fitters of the card's kind under what was asked; of costs only where some were given."""
    found = dict(FITTERS.get(card.kind, {}))
    if CONFORMAL in found:
        found[CONFORMAL] = partial(fit_conformal, alpha=asked.alpha)
    if asked.costs is not None:
        found["expected_cost"] = partial(fit_expected_cost, costs=asked.costs)
        found["cost_threshold"] = partial(fit_cost_threshold, costs=asked.costs)
    return found


def asked_before(folder: Path, card: Card, costs: Sequence[str], alpha: float | None) -> Asked:
    """What is asked of a run's fits now, or was when those in its fits/ were made: scoring again keeps both."""
    kept = {name: folder / "fits" / f"{name}.json" for name in ("expected_cost", CONFORMAL)}
    before = {name: read_fit(path).parameters for name, path in kept.items() if path.exists()}
    made = before["expected_cost"]["costs"] if "expected_cost" in before else None
    return Asked(
        costs=parse_costs(costs, card) if costs else made,
        alpha=check_alpha(alpha) if alpha is not None else before.get(CONFORMAL, {}).get("alpha", ALPHA),
    )
