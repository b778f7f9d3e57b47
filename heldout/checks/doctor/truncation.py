"""What the model did not read is on file: each prediction's tokens that were lost, as encoding counts them again."""

from heldout.checks.doctor._contract import Check, Finding, Patient, judged
from heldout.checks.doctor.labels import answered


def examine(patient: Patient) -> Finding:
    """Compare the counts on file with those of encoding the examples again, and tell how much was lost."""
    _, predictions = answered(patient)
    by_id = {prediction.id: prediction.seen for prediction in predictions}
    again = {example.id: seen for example, seen in zip(patient.examples, patient.encoded.seen, strict=True)}
    unnoted = sum(seen is None for seen in by_id.values())
    differ = sum(by_id[identity] not in (None, seen) for identity, seen in again.items())
    cut = [seen for seen in by_id.values() if seen and seen["lost"]]
    lost, read = (sum(seen[key] for seen in by_id.values() if seen) for key in ("lost", "tokens"))
    figure = f"{len(cut)} of {len(by_id)} texts are cut, {lost / max(lost + read, 1):.1%} of their tokens are lost"
    figure += f"; {unnoted} of them say nothing of it" if unnoted else ""
    figure += f"; {differ} of {len(again)} counts are wrong" if differ else ""
    advice = "predict again with heldout predict, which counts what it does not read"
    return judged(not unnoted and not differ, figure, tolerance="all noted", advice=advice, value=len(cut) / len(by_id))


CHECK = Check("truncation noted", "answers", "a text that is not read whole is judged on what was read", examine)
