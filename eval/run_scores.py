"""Scores of every data set in a run folder: what is fitted on dev, each set's scores, the drop from the first."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from heldout.eval import own_slices
from heldout.eval.differences import Resampled, domain_drop, resampled
from heldout.eval.fits import Asked, asked_before, fitters
from heldout.eval.fits.conformal import CONFORMAL
from heldout.eval.run_data import DEV, has_data, names_of, read_data, refuse_no_run
from heldout.eval.score import by_need, inputs_hash, lacking_for, score
from heldout.eval.statistics import REPLICATES
from heldout.eval.table import BINS
from heldout.fits import Fit, write_fit
from heldout.ledger import Ledger, read_ledger, write_ledger
from heldout.records import Card, goldless
from heldout.runs import write_json


def score_run(
    folder: Path,
    data: str | None = None,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    bins: int = BINS,
    costs: Sequence[str] = (),
    alpha: float | None = None,
    say: Callable[[str], None] = lambda name: None,
) -> dict[str, dict[str, Any]]:
    """Score the data sets of a run folder (or the one named ``data``); returns them by name, tests first, dev last.

    What is fitted for the card's kind (FITTERS) is fitted on dev where dev's predictions have the scores for it; it is
    kept in fits/, the ledger says what it was fitted on, and each scores/NAME.json shows its effect. ``costs`` of
    errors ("positive>negative=5") and the ``alpha`` of conformal sets are those of the fits that lie there, if none are
    given. A shifted test set also has the "drop" from the first. ``say`` is told the name of each set before it is
    scored. It writes: call it with the folder's lock held (runs.writing, runs.holding).
    """
    refuse_no_run(folder)
    card = own_slices.scored_card(folder)
    names = names_of(folder) if data is None else [data]
    read = {name: read_data(folder, name, card) for name in names}
    fits, notes = _fitted(folder, card, asked_before(folder, card, costs, alpha))
    ledger = _ledger(folder)
    first = names_of(folder)[0]
    scored: dict[str, dict[str, Any]] = {}
    drops_from: Resampled | None = None
    for name in names:
        say(name)
        gold, predictions = read[name]
        row = score(card, gold, predictions, data=name, fits=fits, replicates=replicates, seed=seed, bins=bins)
        row["notes"] += notes
        row["fitted_on_this"] = ledger.fitted_on(row["gold_hash"], name)
        for fit in fits:
            if fit.kind in row["variants"]:
                row["variants"][fit.kind]["in_sample"] |= fit.kind in row["fitted_on_this"]
        if CONFORMAL in row:
            row[CONFORMAL]["in_sample"] |= CONFORMAL in row["fitted_on_this"]
        if name not in (first, DEV) and not goldless(gold):
            if first not in read and has_data(folder, first):
                read[first] = read_data(folder, first, card)
            row["drop"] = {"from": first, "metrics": {}}
            if first in read and not goldless(read[first][0]):
                if drops_from is None:
                    drops_from = resampled(card, read[first], replicates=replicates, seed=seed, bins=bins)
                drop = domain_drop(card, drops_from, (gold, predictions), replicates=replicates, seed=seed, bins=bins)
                hashed = scored[first]["inputs_hash"] if first in scored else inputs_hash(card, *read[first])
                row["drop"] |= {"inputs_hash": hashed, "metrics": drop}
        write_json(folder / "scores" / f"{name}.json", row)
        scored[name] = row
    return scored


def _fitted(folder: Path, card: Card, asked: Asked) -> tuple[list[Fit], list[str]]:
    """What is fitted on the run's dev split for cards of this kind, written to fits/ and into the ledger, and notes.

    It is fitted where every prediction on dev has the scores for it; that none has any needs no note, every metric
    says so.
    """
    fits: list[Fit] = []
    if not has_data(folder, DEV):
        return fits, []
    gold, predictions = read_data(folder, DEV, card)
    if goldless(gold):
        return fits, [f"Nothing was fitted on {DEV}: it has no gold."]
    lacking = {kind: lacking_for(kind, predictions) for kind in fitters(card, asked)}
    for kind, fitter in fitters(card, asked).items():
        fit = None if lacking[kind] else fitter(card, gold, predictions, DEV)
        if fit is None:
            # One that was fitted on earlier predictions is not this system's.
            (folder / "fits" / f"{kind}.json").unlink(missing_ok=True)
            continue
        write_fit(folder / "fits" / f"{kind}.json", fit)
        write_ledger(folder, _ledger(folder).with_fitted(kind, DEV, fit.fitted_on["hash"], fit.fitted_on["n"]))
        fits.append(fit)
    some = by_need({kind: n for kind, n in lacking.items() if n < len(predictions)}, f"of {len(predictions)}")
    return fits, [f"No {kinds} was fitted on {DEV}: {missing}." for missing, kinds in some.items()]


def _ledger(folder: Path) -> Ledger:
    """The run's ledger, empty where other tools made the folder."""
    return read_ledger(folder) if (folder / "ledger.json").exists() else Ledger()
