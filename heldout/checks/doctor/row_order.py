"""Rows in another order get the same answers: from encoding to decoding, each is told by its id."""

import random

from heldout.checks.doctor._contract import TOLERANCE, Check, Finding, Patient, judged, moved, small


def examine(patient: Patient) -> Finding:
    """Answer the examples in a shuffled order and compare by id."""
    shuffled = random.Random(0).sample(list(patient.examples), len(patient.examples))
    by_id = {prediction.id: prediction for prediction in patient.system.predict(shuffled, "checking")}
    differ, most = moved(patient.predictions, [by_id[example.id] for example in patient.examples])
    figure = f"{differ} of {len(shuffled)} answers change, probabilities by {small(most)} at most"
    advice = "an answer depends on the rows before it: look for a state that the model or the task keeps"
    holds = not differ and most <= TOLERANCE
    return judged(holds, figure, tolerance=f"0, {TOLERANCE:.0e}", advice=advice, value=float(differ))


CHECK = Check("row order", "arithmetic", "shuffled rows must get the same answers", examine)
