"""The metrics on file are those of gold and predictions on file, computed again by eval and by a slow oracle."""

import math
from collections.abc import Iterator

from heldout.checks.doctor._contract import Check, Finding, Patient, judged, not_applicable, small
from heldout.checks.doctor._oracle import plain
from heldout.eval.metrics import find
from heldout.eval.run_data import names_of, read_data
from heldout.eval.tabulate import tabulate
from heldout.records import goldless
from heldout.runs import read_json

#: Sums of up to a million shares in float64, added in another order.
CLOSE = 1e-9


def examine(patient: Patient) -> Finding:
    """Compare every metric that the oracle knows, on every set of the run that has predictions."""
    has = [n for n in names_of(patient.folder) if (patient.folder / "predictions" / f"{n}.jsonl").exists()]
    found = [entry for name in has for entry in _differences(patient, name)]
    if not found:
        return not_applicable("no set of this run has predictions that the oracle can score")
    worst, said = max(found)
    figure = said if worst > CLOSE else f"{len(found)} values on {', '.join(has)} differ by {small(worst)} at most"
    advice = "gold, predictions or scores were changed after scoring; score again, and find out what changed"
    return judged(worst <= CLOSE, figure, tolerance=f"{CLOSE:.0e}", advice=advice, value=worst)


def _differences(patient: Patient, name: str) -> Iterator[tuple[float, str]]:
    """How far eval, and the scores on file, are from the oracle on one set, each with a sentence."""
    gold, predictions = read_data(patient.folder, name, patient.card)
    if goldless(gold):
        return
    table = tabulate(patient.card, gold, predictions)
    written = _written(patient, name)
    for metric, slow in plain(patient.card, gold, predictions).items():
        values = {"heldout.eval": find(metric).of(table)}
        values |= {f"scores/{name}.json": written[metric]} if metric in written else {}
        for where, value in values.items():
            if not math.isnan(slow):
                yield abs(value - slow), f"{name}: {metric} is {slow:.6f}, {where} says {value:.6f}"


def _written(patient: Patient, name: str) -> dict[str, float]:
    """The values in scores/NAME.json, where there is one."""
    path = patient.folder / "scores" / f"{name}.json"
    entries = read_json(path)["metrics"] if path.exists() else {}
    return {metric: entry["value"] for metric, entry in entries.items() if entry.get("value") is not None}


CHECK = Check("metrics", "answers", "a number that is computed twice, in two ways, is not a slip", examine)
