"""Two processes answer exactly the N examples there are, each once, as one process does (FAULTS E1)."""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from heldout.checks.doctor._contract import TOLERANCE, Check, Finding, Patient, judged, moved, small
from heldout.records import Prediction, read_predictions
from heldout.runs import write_json, write_lines

#: Seconds that two processes may take, most of which they load torch.
TIMEOUT = 600


def examine(patient: Patient) -> Finding:
    """Answer an odd number of examples by two processes over gloo; compare ids and answers with one process's."""
    n = len(patient.examples) - (len(patient.examples) % 2 == 0 and len(patient.examples) > 1)
    found, said = two_processes(patient, n)
    if said:
        return judged(False, f"two processes did not end well: {said}", advice="run it alone to see more", value=None)
    wanted = patient.predictions[:n]
    counted = Counter(prediction.id for prediction in found)
    ids_hold = counted == Counter(prediction.id for prediction in wanted)
    figure = f"{len(found)} answers to {len(counted)} of {n} examples"
    advice = "the last batch was repeated or lost: gather by id, as heldout.train.predict does"
    if not ids_hold:
        return judged(False, figure, tolerance="each once", advice=advice, value=float(len(found) - n))
    by_id = {prediction.id: prediction for prediction in found}
    differ, most = moved(wanted, [by_id[prediction.id] for prediction in wanted])
    figure += f"; {differ} answers change, probabilities by {small(most)} at most"
    advice = "the processes have unequal weights or settings"
    return judged(
        not differ and most <= TOLERANCE, figure, tolerance=f"each once, {TOLERANCE:.0e}", advice=advice, value=most
    )


def two_processes(patient: Patient, n: int) -> tuple[list[Prediction], str]:
    """The answers of two processes to the first ``n`` examples, as they came back, and what went wrong, if anything.

    On the CPU, whatever the machine has: a second GPU need not be there.
    """
    with tempfile.TemporaryDirectory(prefix="heldout-doctor-") as folder:
        work = Path(folder)
        write_lines(work / "gold.jsonl", (example.to_json() for example in patient.examples[:n]))
        write_json(work / "job.json", {"run": str(patient.folder.resolve()), "card": patient.card.to_json()})
        launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
        surroundings = {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
        try:
            done = subprocess.run(
                [*launch, "-m", "heldout.checks.doctor._process", str(work)],
                env=os.environ | surroundings,
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            return [], f"no answer after {TIMEOUT} s"
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            told = [line for line in lines if line.startswith("heldout: ")] or lines or ["no message"]
            return [], told[0][:200]
        return read_predictions(work / "predictions.jsonl", patient.card), ""


CHECK = Check("two processes", "arithmetic", "each example must be answered once, however many share the work", examine)
