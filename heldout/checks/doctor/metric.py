"""The metrics on file are those of gold and predictions on file, computed again by eval and by a slow oracle."""

import math

from heldout.checks.doctor._contract import Check, Finding, Patient, judged, not_applicable
from heldout.checks.doctor._oracle import plain
from heldout.eval.metrics import find
from heldout.eval.score import names_of, read_data
from heldout.eval.tabulate import tabulate
from heldout.runs import read_json

#: Sums of up to a million shares in float64, added in another order.
CLOSE = 1e-9


def examine(patient: Patient) -> Finding:
    """Compare every metric that the oracle knows, on every set of the run that has predictions."""
    found, compared, sets = [], 0, []
    for name in names_of(patient.folder):
        if not (patient.folder / "predictions" / f"{name}.jsonl").exists():
            continue
        gold, predictions = read_data(patient.folder, name, patient.card)
        table = tabulate(patient.card, gold, predictions)
        written = _written(patient, name)
        sets.append(name)
        for metric, slow in plain(patient.card, gold, predictions).items():
            values = [find(metric).of(table)] + ([written[metric]] if metric in written else [])
            compared += len(values)
            where = ("heldout score", f"scores/{name}.json")
            found += [
                (abs(v - slow), f"{name}: {metric} is {slow:.6f}, {w} says {v:.6f}") for v, w in zip(values, where)
            ]
    found = [entry for entry in found if not math.isnan(entry[0])]
    if not found:
        return not_applicable("no set of this run has predictions that the oracle can score")
    worst, said = max(found)
    figure = said if worst > CLOSE else f"{compared} values on {', '.join(sets)} differ by {worst:.0e} at most"
    advice = (
        "gold, predictions or scores were changed after scoring; run heldout score again, and find out what changed"
    )
    return judged(worst <= CLOSE, figure, tolerance=f"{CLOSE:.0e}", advice=advice, value=worst)


def _written(patient: Patient, name: str) -> dict[str, float]:
    """The values in scores/NAME.json, where there is one."""
    path = patient.folder / "scores" / f"{name}.json"
    entries = read_json(path)["metrics"] if path.exists() else {}
    return {metric: entry["value"] for metric, entry in entries.items() if entry.get("value") is not None}


CHECK = Check("metrics", "answers", "a number that is computed twice, in two ways, is not a slip", examine)
