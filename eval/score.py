"""Scores of a system on one data set, as scores/NAME.json has them. Those of a whole run folder: run_scores.py."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from heldout.eval import metrics as metric_folder
from heldout.eval import own_slices
from heldout.eval import slices as slice_folder
from heldout.eval.decodings import decodings
from heldout.eval.evaluate import PLAIN, Entries, evaluate
from heldout.eval.fits import BEST_ON_THIS
from heldout.eval.fits.conformal import CONFORMAL, with_sets
from heldout.eval.fits.costs import with_costs
from heldout.eval.metrics import Metric
from heldout.eval.metrics.conformal import METRICS as OF_SETS
from heldout.eval.permuted import below_chance
from heldout.eval.slices import WHOLE, Part
from heldout.eval.statistics import REPLICATES, Sampling, group_codes
from heldout.eval.table import BINS
from heldout.eval.tabulate import tabulate
from heldout.fits import NEEDS, Fit, able, apply, spoken
from heldout.records import Card, Example, Prediction, canonical, goldless, join


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
    # Fits are judged by gold: without it there is nothing that they could be shown to mend.
    fits, notes = _applicable([] if goldless(gold) else fits, predictions)
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
    gold_hash, all_hash = hashes(card, gold, [prediction for _, prediction in pairs])
    del pairs  # 64 MB of a million, while most is needed
    entries = evaluate(parts, metrics, sampling, own)
    blocks = {variant: _block(entries[variant], parts[variant]) for variant in tables}
    return {
        "card": card.name,
        "version": card.version,
        "data": data,
        "n": len(gold),
        "gold_hash": gold_hash,
        "inputs_hash": all_hash,
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
    return hashes(card, gold, predictions)[1]


def hashes(card: Card, gold: Sequence[Example], predictions: Sequence[Prediction]) -> tuple[str, str]:
    """The ``content_hash`` of gold and the ``inputs_hash`` of it all; each text is written as JSON once for both."""
    content, inputs = hashlib.sha256(), hashlib.sha256()
    _feed(inputs, canonical(card.to_json()))
    for example in gold:
        id_, text, answer = canonical(example.id), canonical(example.text), canonical(example.gold)
        about = canonical(example.about) if example.about else "{}"
        _feed(content, f"[{id_}, {text}, {answer}]")
        _feed(inputs, f'{{"about": {about}, "gold": {answer}, "id": {id_}, "text": {text}}}')
    for prediction in predictions:
        _feed(inputs, canonical(prediction.to_json()))
    return content.hexdigest(), inputs.hexdigest()


def _feed(digest: "hashlib._Hash", line: str) -> None:
    digest.update(line.encode("utf-8", "surrogatepass") + b"\n")


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
    lacking = {fit.kind: lacking_for(fit.kind, predictions) for fit in fits}
    some = by_need(lacking, f"of {len(predictions)}")
    notes = [f"Not shown after {kinds}: {missing}." for missing, kinds in some.items()]
    return [fit for fit in fits if not lacking[fit.kind]], notes


def by_need(lacking: Mapping[str, int], of: str) -> dict[str, str]:
    """Who lacks what, in words, with the kinds of fit that need it: {"1 of 60 have no scores": "temperature or …"}."""
    said: dict[str, list[str]] = {}
    for kind, n in lacking.items():
        if n:
            said.setdefault(f"{n} {of} have no {NEEDS[kind]}", []).append(spoken(kind))
    return {
        missing: " or ".join([", ".join(kinds[:-1]), kinds[-1]][len(kinds) == 1 :]) for missing, kinds in said.items()
    }


def lacking_for(kind: str, predictions: Sequence[Prediction]) -> int:
    """How many predictions lack what a fit of this kind needs."""
    return sum(not able(kind, prediction) for prediction in predictions)


def _beside(fit: Fit, card: Card, gold: Sequence[Example], predictions: Sequence[Prediction]) -> dict[str, Any]:
    """What the best on this very data would have given, {"best_on_this": …}; empty where nothing is shown of it."""
    best = BEST_ON_THIS[fit.kind](fit, card, gold, predictions) if fit.kind in BEST_ON_THIS else {}
    return {"best_on_this": best} if best else {}


def _provenance(fit: Fit, gold_hash: str) -> dict[str, Any]:
    in_sample = fit.fitted_on.get("hash") == gold_hash
    return {"parameters": dict(fit.parameters), "fitted_on": dict(fit.fitted_on), "in_sample": in_sample}
