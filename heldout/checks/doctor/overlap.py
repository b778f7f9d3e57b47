"""Train, dev and tests share few texts: exactly (case, white space, markup folded) or nearly (FAULTS X1)."""

from itertools import combinations

import numpy as np

from heldout.checks.doctor._contract import Check, Finding, Patient, judged, not_applicable
from heldout.data import load_task
from heldout.data.duplicates import counted
from heldout.data.fitted import fingerprints, read_fitted
from heldout.data.sources import Loaded
from heldout.data.texts import Texts
from heldout.eval.run_data import DEV, names_of
from heldout.records import read_gold

#: The share of a set that may stand in another: it can move an accuracy by as much. IMDb's test has 0.5% of train's.
SHARED = 0.01


def examine(patient: Patient) -> Finding:
    """Compare the gold of every two sets whose one is dev, and each with the fingerprints of train's texts."""
    paths = {name: patient.folder / "gold" / f"{name}.jsonl" for name in names_of(patient.folder)}
    sets = {name: tuple(read_gold(path, patient.card)) for name, path in paths.items() if path.exists()}
    loaded = {name: Loaded(str(paths[name]), examples, "") for name, examples in sets.items()}
    texts = Texts(loaded, key=load_task(str(patient.options["task"])).key)
    at = {name: texts.positions(name, examples) for name, examples in sets.items()}
    found: list[tuple[float, str]] = []
    for one, other in combinations(sets, 2):
        if DEV not in (one, other):
            continue
        test = other if one == DEV else one
        matched = counted(texts.matches(at[test], at[DEV]))
        found.append(_said(matched["exact"] + matched["near"], len(sets[test]), test, DEV, matched.get("shared", 0)))
    train = next(split.texts for split in read_fitted(patient.folder) if split.name == "train")
    for name, examples in sets.items() if train is not None else ():
        inside = int(np.isin(fingerprints(examples), [] if train is None else train).sum())
        found.append(_said(inside, len(examples), name, "train", 0))
    if not found:
        return not_applicable("there is no dev beside the test, and train's texts are not known")
    worst = max(share for share, _ in found)
    shown = [said for _, said in sorted(found, reverse=True) if not said.startswith("0 ")] or ["none"]
    left_out = f", and {len(shown) - 4} more pairs" if len(shown) > 4 else ""
    advice = "take them out (--exclude, heldout data check), or read the slice overlap: none, scored without them"
    return judged(
        worst <= SHARED, "; ".join(shown[:4]) + left_out, tolerance=f"{SHARED:.0%}", advice=advice, value=worst
    )


def _said(n: int, of: int, name: str, where: str, shared: int) -> tuple[float, str]:
    share = n / of
    more = f" ({shared} more share their material)" if shared else ""
    return share, f"{n} of {of} texts of {name} stand in {where}{more}, {share:.1%}"


CHECK = Check("overlap", "data", "a text that was trained or chosen on is no test", examine)
