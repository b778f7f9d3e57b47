"""Nothing was fitted on a test: weights, checkpoint, temperature and thresholds name the split they come from (C3)."""

from heldout.checks.doctor._contract import Check, Finding, Patient, judged, not_applicable
from heldout.eval.run_data import DEV
from heldout.ledger import read_ledger
from heldout.runs import read_json


def examine(patient: Patient) -> Finding:
    """Ask ledger.json and fits/ of every test set of the run what was fitted on it."""
    if not (patient.folder / "ledger.json").exists():
        return not_applicable("the run has no ledger.json")
    ledger = read_ledger(patient.folder)
    tests = {name: entry for name, entry in ledger.splits.items() if name not in ("train", DEV)}
    fits = sorted((patient.folder / "fits").glob("*.json"))
    if not tests:
        return not_applicable("the run has no test set")
    found = {name: set(ledger.fitted_on(entry.get("hash", ""), name)) for name, entry in tests.items()}
    for path in fits:
        origin = read_json(path).get("fitted_on", {})
        for name, entry in tests.items():
            if origin.get("split") == name or origin.get("hash") == entry.get("hash"):
                found[name].add(path.stem)
    guilty = [f"{', '.join(sorted(things))} fitted on {name}" for name, things in found.items() if things]
    counted = f"{len(ledger.fitted) + len(fits)} fitted things, none on {', '.join(tests)}"
    advice = "score other data: numbers on a set that was fitted on say nothing of new texts"
    return judged(not guilty, "; ".join(guilty) or counted, tolerance="none", advice=advice, value=float(len(guilty)))


CHECK = Check("fitted on", "answers", "what was chosen on a test flatters it", examine)
