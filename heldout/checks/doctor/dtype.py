"""bf16 and fp32 agree but for a few answers: as mixed precision computes it, matrices in bf16, weights in fp32."""

import torch

from heldout.checks.doctor._contract import Check, Finding, Patient, judged, moved, small, tolerated


def examine(patient: Patient) -> Finding:
    """Count the answers that bf16 changes."""
    with torch.autocast(patient.system.accelerator.device.type, dtype=torch.bfloat16):
        half = patient.system.predict(patient.examples, "checking")
    differ, most = moved(patient.predictions, half)
    n = len(half)
    figure = f"{differ} of {n} answers change in bf16 ({differ / n:.1%}), probabilities by {small(most)} at most"
    advice = "predict with --precision fp32; logits that large or that close need more digits than bf16's three"
    return judged(differ <= tolerated(n), figure, tolerance=f"{tolerated(n)} of {n}", advice=advice, value=differ / n)


CHECK = Check("number format", "arithmetic", "bf16 has three digits; a model may need more", examine)
