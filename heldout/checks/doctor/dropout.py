"""Two passes give the same logits: dropout is off in prediction, and nothing else draws random numbers."""

from heldout.checks.doctor._contract import Check, Finding, Patient, apart, judged, small

#: Two passes of one batch on one machine add in the same order; a GPU may not, in the last digit.
TWICE = 1e-6


def examine(patient: Patient) -> Finding:
    """Compare two passes over the same batches."""
    found = apart(patient.whole, patient.logits())
    figure = f"two passes over {len(patient.windows)} windows differ by {small(found)} at most"
    advice = "something is random in prediction: a dropout that ignores model.eval() (functional, training=True)"
    return judged(found <= TWICE, figure, tolerance=f"{TWICE:.0e}", advice=advice, value=found)


CHECK = Check("dropout off", "arithmetic", "the same question must get the same answer twice", examine)
