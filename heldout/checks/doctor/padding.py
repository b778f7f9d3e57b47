"""Padding by 0, 7 and 64 more positions changes no logit (FAULTS E6): the model masks what is filled up."""

from heldout.checks.doctor._contract import Check, Finding, Patient, apart, not_applicable, within
from heldout.train.models import max_positions

MORE = (7, 64)


def examine(patient: Patient) -> Finding:
    """Compare the logits of windows alone with those of the same windows padded, as far as the model has positions."""
    model = patient.system.accelerator.unwrap_model(patient.system.model)
    limit = max_positions(model) or max(map(len, patient.windows)) + max(MORE)
    windows = [window for window in patient.windows if len(window) + min(MORE) <= limit]
    if not windows:
        return not_applicable(f"every window fills the model's {limit} positions")
    longest = max(map(len, windows))
    plain = patient.logits(windows, token_budget=1)
    sizes = [min(longest + more, limit) for more in MORE]
    found = max(apart(plain, patient.logits(windows, token_budget=size, pad_to=size)) for size in sizes)
    advice = (
        "the model reads its padding: it must be given attention_mask, and a mean over tokens must leave padding out"
    )
    return within(found, f"alone and padded to {' and '.join(map(str, sizes))} tokens", len(windows), advice)


CHECK = Check("padding", "arithmetic", "what fills up a batch must not be read", examine)
