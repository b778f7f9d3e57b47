"""The scores that a report shows: those that lie in a run folder where they are of what lies there, else made anew."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.eval.fits.conformal import CONFORMAL
from heldout.eval.run_data import DEV
from heldout.eval.run_scores import score_run
from heldout.eval.score import inputs_hash
from heldout.fits import Fit, able, read_fit
from heldout.records import Card, Example, Prediction, goldless
from heldout.runs import holding, read_json

#: Hears what is being done.
Say = Callable[[str], None]
#: What scores/NAME.json holds.
Scores = Mapping[str, Any]


def fits_of(folder: Path) -> dict[str, Fit]:
    """The fits of a run folder by name."""
    return {path.stem: read_fit(path) for path in sorted((folder / "fits").glob("*.json"))}


def fresh_scores(
    folder: Path,
    card: Card,
    gold: Mapping[str, Sequence[Example]],
    predictions: Mapping[str, Sequence[Prediction]],
    replicates: int,
    say: Say,
) -> dict[str, Scores]:
    """The scores of each set of predictions; those missing, or of other records than lie here, are computed."""
    hashes = {name: inputs_hash(card, gold[name], rows) for name, rows in predictions.items()}
    found = {name: read_object(folder / "scores" / f"{name}.json") for name in predictions}

    def stale(name: str) -> bool:
        # A fit whose scores a prediction lacks makes no variant, nor does any of a set without gold.
        there = {} if goldless(gold[name]) else fits_of(folder)
        fits = {key: f for key, f in there.items() if all(able(f.kind, said) for said in predictions[name])}
        return not _usable(found[name], hashes[name], hashes, fits)

    stale_ones = [name for name in predictions if stale(name)]
    if not stale_ones:
        return found
    with holding(folder):
        if len(stale_ones) == len(gold):
            return found | score_run(folder, replicates=replicates, say=say)
        # Dev first: another temperature makes the scores of the tests stale.
        for name in sorted(predictions, key=lambda name: name != DEV):
            if stale(name):
                found |= score_run(folder, name, replicates=replicates, say=say)
    return found


def _usable(row: Scores, inputs: str, hashes: Mapping[str, str], fits: Mapping[str, Fit]) -> bool:
    """Whether scores are of these inputs, their drop of those of the first set, their variants of these fits."""
    if row.get("inputs_hash") != inputs or not all(
        isinstance(row.get(k), dict) for k in ("metrics", "slices", "variants")
    ):
        return False
    drop = row.get("drop")
    fitted = row["variants"] | ({CONFORMAL: row[CONFORMAL]} if CONFORMAL in row else {})
    made = {kind: variant["parameters"] for kind, variant in fitted.items() if "parameters" in variant}
    return made == {fit.kind: dict(fit.parameters) for fit in fits.values()} and (
        drop is None or drop.get("inputs_hash") == hashes.get(drop.get("from"))
    )


def read_object(path: Path) -> Mapping[str, Any]:
    """A JSON object of a run folder, empty where the file is absent."""
    row = read_json(path) if path.exists() else {}
    if not isinstance(row, dict):
        raise Refused(f"{path}: must hold a JSON object")
    return row
