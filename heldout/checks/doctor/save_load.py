"""Saved and loaded again the model gives the same logits bit for bit, from safetensors and JSON alone."""

import tempfile
from pathlib import Path

from heldout.checks.doctor._contract import Check, Finding, Patient, apart, judged, small
from heldout.train.system import load_system
from heldout.train.untrusted import PICKLES, Source


def examine(patient: Patient) -> Finding:
    """Save the loaded system to a temporary folder, load that, compare logits."""
    system = patient.system
    with tempfile.TemporaryDirectory(prefix="heldout-doctor-") as folder:
        system.save(Path(folder))
        source = Source(str(Path(folder, "model")), bool(patient.options.get("trust_remote_code")))
        again = load_system(patient.task, source, system.labels, patient.options, system.accelerator)
        found = apart(patient.whole, patient.logits(system=again))
    pickled = [name for name in PICKLES if (patient.folder / "model" / name).exists()]
    figure = f"logits of {len(patient.windows)} windows differ by {small(found)}"
    advice = "a part of the model is not saved: a buffer that is not persistent, a setting that its config lacks"
    if pickled:
        figure, advice = f"{figure}; model/ holds {pickled[0]}", f"remove model/{pickled[0]}: pickles can run code"
    return judged(found == 0 and not pickled, figure, tolerance="0", advice=advice, value=found)


CHECK = Check("save and load", "files", "what was trained must be what is shared", examine)
