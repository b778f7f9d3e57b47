"""Scores of a system as scores/NAME.json has them: of one data set, or of every data set in a run folder."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.eval import metrics as metric_folder
from heldout.eval import own_slices
from heldout.eval import slices as slice_folder
from heldout.eval.decodings import decodings
from heldout.eval.differences import Resampled, domain_drop, resampled
from heldout.eval.evaluate import PLAIN, Entries, evaluate
from heldout.eval.fits import BEST_ON_THIS, Asked, asked_before, fitters
from heldout.eval.fits.conformal import CONFORMAL, with_sets
from heldout.eval.fits.costs import with_costs
from heldout.eval.metrics import Metric
from heldout.eval.metrics.conformal import METRICS as OF_SETS
from heldout.eval.permuted import below_chance
from heldout.eval.slices import WHOLE, Part
from heldout.eval.statistics import REPLICATES, Sampling, group_codes
from heldout.eval.table import BINS
from heldout.eval.tabulate import tabulate
from heldout.fits import NEEDS, Fit, able, apply, spoken, write_fit
from heldout.ledger import Ledger, read_ledger, write_ledger
from heldout.records import Card, Example, Prediction, canonical, content_hash, join, read_gold, read_predictions
from heldout.runs import read_json, write_json

DEV = "dev"


def score(
    card: Card,
    gold: Sequence[Example],
    predictions: Sequence[Prediction],
    *,
    data: str,
    fits: Sequence[Fit] = (),
    replicates: int = REPLICATES,
    seed: int = 0,
    bins: int = BINS,
) -> dict[str, Any]:
    """The scores of one system's predictions on the data set named ``data``, ready for JSON.

    Every number has its 95% interval and every slice its n. Every fit gives a variant with the same metrics and
    slices; it says what it was fitted on, and ``in_sample`` is true where that is this very data. Conformal sets, which
    are no answers, have a block of their own, "conformal". Where a prediction
    lacks the scores for it there is none, and "notes" says so. So does every other way to read tags off their scores.
    Refused where ids or labels don't match the card.
    """
    own_slices.refuse_unnamed_functions(card)
    pairs = join(gold, predictions)
    tables = {PLAIN: tabulate(card, gold, predictions, bins=bins)}
    fits, notes = _applicable(fits, predictions)
    notes += filter(None, [below_chance(tables[PLAIN])])
    decoded, said = decodings(card, [prediction for _, prediction in pairs])
    sets = next((fit for fit in fits if fit.kind == CONFORMAL), None)
    fits = [fit for fit in fits if fit.kind != CONFORMAL]
    others = {fit.kind: apply(fit, predictions) for fit in fits} | decoded
    tables |= {name: tabulate(card, gold, answers, bins=bins) for name, answers in others.items()}
    tables = with_costs(tables, card, fits)
    metrics = metric_folder.chosen(card, tables[PLAIN])
    tables |= {CONFORMAL: with_sets(tables[PLAIN], sets)} if sets else {}
    parts = slice_folder.cut(card, pairs, tables)
    sampling = Sampling(len(gold), group_codes(gold), replicates, seed)
    own = {CONFORMAL: OF_SETS, **{fit.kind: _lean(metrics) for fit in fits if fit.kind == "isotonic"}}
    entries = evaluate(parts, metrics, sampling, own)
    blocks = {variant: _block(entries[variant], parts[variant]) for variant in tables}
    gold_hash = content_hash(gold)
    return {
        "card": card.name,
        "version": card.version,
        "data": data,
        "n": len(gold),
        "gold_hash": gold_hash,
        "inputs_hash": inputs_hash(card, gold, [prediction for _, prediction in pairs]),
        "replicates": replicates,
        "seed": seed,
        **blocks[PLAIN],
        **_own_slices(card),
        "notes": notes + said + _empty_slices(card, parts[PLAIN]),
        "variants": {
            fit.kind: _provenance(fit, gold_hash) | _beside(fit, card, gold, predictions) | blocks[fit.kind]
            for fit in fits
        }
        | {name: blocks[name] for name in decoded},
        **({CONFORMAL: _provenance(sets, gold_hash) | blocks[CONFORMAL]} if sets else {}),
    }


def _own_slices(card: Card) -> dict[str, Any]:
    """What the slices of the user's own mean, {"own_slices": {name: definition}}; empty where there are none."""
    own = own_slices.of_card(card)
    return {"own_slices": own} if own else {}


def _empty_slices(card: Card, parts: Mapping[str, Part]) -> list[str]:
    """A note for each slice of the user's own that no example is in."""
    there = {key.partition("=")[0] for key in parts}
    return [
        f"Slice {name} ({text}) holds no example."
        for name, text in own_slices.of_card(card).items()
        if name not in there
    ]


def inputs_hash(card: Card, gold: Sequence[Example], predictions: Sequence[Prediction]) -> str:
    """SHA-256 of all that scores are computed from: the card, gold with its ``about``, predictions in gold's order."""
    digest = hashlib.sha256()
    for row in (record.to_json() for records in ([card], gold, predictions) for record in records):
        line = canonical(row)
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _block(entries: Mapping[str, Entries], parts: Mapping[str, Part]) -> dict[str, Any]:
    """The "metrics" and "slices" of one variant."""
    slices: dict[str, Any] = {}
    for key, part in parts.items():
        if key != WHOLE:
            slices[key] = {"n": part.n, "metrics": entries[key]}
            slices[key] |= {"of_system": True} if part.of_system else {}
            slices[key] |= {"about": "gold entities"} if part.entities else {}
            slices[key] |= {"read": part.read} if part.read else {}
    return {"metrics": entries[WHOLE], "slices": slices}


def _lean(metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics with those that cost most left to the whole set and without an interval: a third variant of all would
    take three of the 15 seconds that 25,000 examples may. What an isotonic fit does shows in ECE, NLL and Brier score.
    """
    heavy = [m.name for m in metrics if m.needs_scores and m.name not in ("ece", "nll", "brier")]
    left_out = "left out, since it takes long"
    return [
        replace(m, whole_only=True, no_interval=m.no_interval or left_out) if m.name in heavy else m for m in metrics
    ]


def _applicable(fits: Sequence[Fit], predictions: Sequence[Prediction]) -> tuple[list[Fit], list[str]]:
    """The fits that every prediction has the scores for, and a note for each of the others."""
    lacking = {fit.kind: _lacking(fit.kind, predictions) for fit in fits}
    some = _by_need(lacking, f"of {len(predictions)}")
    notes = [f"Not shown after {kinds}: {missing}." for missing, kinds in some.items()]
    return [fit for fit in fits if not lacking[fit.kind]], notes


def _by_need(lacking: Mapping[str, int], of: str) -> dict[str, str]:
    """Who lacks what, in words, with the kinds of fit that need it: {"1 of 60 have no scores": "temperature or …"}."""
    said: dict[str, list[str]] = {}
    for kind, n in lacking.items():
        if n:
            said.setdefault(f"{n} {of} have no {NEEDS[kind]}", []).append(spoken(kind))
    return {
        missing: " or ".join([", ".join(kinds[:-1]), kinds[-1]][len(kinds) == 1 :]) for missing, kinds in said.items()
    }


def _lacking(kind: str, predictions: Sequence[Prediction]) -> int:
    """How many predictions lack what a fit of this kind needs."""
    return sum(not able(kind, prediction) for prediction in predictions)


def _beside(fit: Fit, card: Card, gold: Sequence[Example], predictions: Sequence[Prediction]) -> dict[str, Any]:
    """What the best on this very data would have given, {"best_on_this": …}; empty where nothing is shown of it."""
    best = BEST_ON_THIS[fit.kind](fit, card, gold, predictions) if fit.kind in BEST_ON_THIS else {}
    return {"best_on_this": best} if best else {}


def _provenance(fit: Fit, gold_hash: str) -> dict[str, Any]:
    in_sample = fit.fitted_on.get("hash") == gold_hash
    return {"parameters": dict(fit.parameters), "fitted_on": dict(fit.fitted_on), "in_sample": in_sample}


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
    given. A shifted test set
    also has the "drop" from the first. ``say`` is told the name of each set before it is scored.
    It writes: call it with the folder's lock held (runs.writing, runs.holding).
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
        if name not in (first, DEV):
            if first not in read and _has(folder, first):
                read[first] = read_data(folder, first, card)
            row["drop"] = {"from": first, "metrics": {}}
            if first in read:
                if drops_from is None:
                    drops_from = resampled(card, read[first], replicates=replicates, seed=seed, bins=bins)
                drop = domain_drop(card, drops_from, (gold, predictions), replicates=replicates, seed=seed, bins=bins)
                hashed = scored[first]["inputs_hash"] if first in scored else inputs_hash(card, *read[first])
                row["drop"] |= {"inputs_hash": hashed, "metrics": drop}
        write_json(folder / "scores" / f"{name}.json", row)
        scored[name] = row
    return scored


def refuse_no_run(folder: Path) -> None:
    """Refused where a folder holds no card.json, naming the runs of its seeds where it has them."""
    if not (folder / "card.json").exists():
        seeds = sorted(path.parent.name for path in folder.glob("seed-*/card.json"))
        which = f"; it holds the runs {', '.join(seeds)}: score each" if seeds else "; is it a run folder of heldout?"
        raise Refused(f"{folder}: holds no card.json{which}")


def read_data(folder: Path, name: str, card: Card) -> tuple[list[Example], list[Prediction]]:
    """Gold and predictions of one data set of a run folder, checked to be of the same examples."""
    return read_pair(folder / "gold" / f"{name}.jsonl", folder / "predictions" / f"{name}.jsonl", card)


def read_pair(gold_file: Path, predictions_file: Path, card: Card) -> tuple[list[Example], list[Prediction]]:
    """A gold file and a predictions file; Refused naming the predictions file where their ids don't match."""
    gold = read_gold(gold_file, card)
    return gold, read_answers(gold, gold_file, predictions_file, card)


def read_answers(gold: Sequence[Example], gold_file: Path, predictions_file: Path, card: Card) -> list[Prediction]:
    """The predictions of a file in gold's order; Refused naming the file where its ids are not those of gold."""
    if not predictions_file.exists():
        raise Refused(f"{predictions_file}: no such file; it must hold one line for each id of {gold_file}")
    predictions = read_predictions(predictions_file, card)
    try:
        return [prediction for _, prediction in join(gold, predictions)]
    except Refused as error:
        raise Refused(f"{predictions_file}: {error}; it must hold one line for each id of {gold_file}") from None


def names_of(folder: Path) -> list[str]:
    """The data sets of a run folder: test sets as its options order them (the first is in-domain), others, dev last."""
    found = sorted({path.stem for kind in ("gold", "predictions") for path in (folder / kind).glob("*.jsonl")})
    if not found:
        raise Refused(f"{folder}: holds no gold/NAME.jsonl and predictions/NAME.jsonl; run finetune or predict first")
    options = read_json(folder / "options.json") if (folder / "options.json").exists() else {}
    given = [str(test).split("=", 1)[0] for test in options.get("test") or ()]
    tests = [name for name in given if name in found] + [name for name in found if name not in (*given, DEV)]
    return tests + [name for name in found if name == DEV]


def _has(folder: Path, name: str) -> bool:
    return all((folder / kind / f"{name}.jsonl").exists() for kind in ("gold", "predictions"))


def _fitted(folder: Path, card: Card, asked: Asked) -> tuple[list[Fit], list[str]]:
    """What is fitted on the run's dev split for cards of this kind, written to fits/ and into the ledger, and notes.

    It is fitted where every prediction on dev has the scores for it; that none has any needs no note, every metric
    says so.
    """
    fits: list[Fit] = []
    if not _has(folder, DEV):
        return fits, []
    gold, predictions = read_data(folder, DEV, card)
    lacking = {kind: _lacking(kind, predictions) for kind in fitters(card, asked)}
    for kind, fitter in fitters(card, asked).items():
        fit = None if lacking[kind] else fitter(card, gold, predictions, DEV)
        if fit is None:
            # One that was fitted on earlier predictions is not this system's.
            (folder / "fits" / f"{kind}.json").unlink(missing_ok=True)
            continue
        write_fit(folder / "fits" / f"{kind}.json", fit)
        write_ledger(folder, _ledger(folder).with_fitted(kind, DEV, fit.fitted_on["hash"], fit.fitted_on["n"]))
        fits.append(fit)
    some = _by_need({kind: n for kind, n in lacking.items() if n < len(predictions)}, f"of {len(predictions)}")
    return fits, [f"No {kinds} was fitted on {DEV}: {missing}." for missing, kinds in some.items()]


def _ledger(folder: Path) -> Ledger:
    """The run's ledger, empty where other tools made the folder."""
    return read_ledger(folder) if (folder / "ledger.json").exists() else Ledger()
