"""Batches of 1 and of 32 give the same logits (FAULTS E3): what stands beside an example says nothing about it."""

from heldout.checks.doctor._contract import Check, Finding, Patient, apart, within

MANY = 32


def examine(patient: Patient) -> Finding:
    """Compare the logits of every window alone with those in batches of 32."""
    alone = patient.logits(token_budget=1)
    together = patient.logits(token_budget=MANY * max(map(len, patient.windows)))
    advice = "something mixes the rows of a batch (a norm over the batch, padding that is read): see padding below"
    return within(apart(alone, together), f"batches of 1 and {MANY}", len(patient.windows), advice)


CHECK = Check("batch size", "arithmetic", "an answer must not depend on what stands beside it in the batch", examine)
