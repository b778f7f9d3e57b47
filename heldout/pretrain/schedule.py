"""The plan of a pretraining: the steps of each row length, one length after the other."""

from collections.abc import Sequence

from heldout.pretrain.rows import Rows
from heldout.train.plan import Plan, joined, make_plan


def schedule(
    phases: Sequence[Rows], shares: Sequence[float], *, batch_size: int, epochs: int, seed: int, max_steps: int
) -> Plan:
    """The steps of all phases, numbered through; rows are numbered over the phases one after the other.

    A phase takes its share of ``max_steps``, or, where that is 0, of the steps that ``epochs`` passes over its own rows
    have. It goes over its rows as often as that needs.
    """
    plans: list[tuple[Plan, int]] = []
    first = taken = 0
    for number, (rows, share) in enumerate(zip(phases, shares, strict=True)):
        pass_ = -(-len(rows) // batch_size)
        wanted = round(share * (max_steps or epochs * pass_))
        if max_steps and number == len(phases) - 1:
            wanted = max_steps - taken
        passes = -(-wanted // pass_)
        plan = make_plan(rows.lengths, batch_size=batch_size, epochs=passes, seed=seed, max_steps=wanted)
        plans.append((plan, first))
        first += len(rows)
        taken += len(plan)
    return joined(plans)
