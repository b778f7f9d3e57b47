"""The plan: which examples every optimizer step takes, a pure function of lengths, seed and epoch.

Resume, several processes, accumulation and fair comparisons are all equality tests of this one list.
"""

import hashlib
import json
import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

#: Steps a pool: rows are sorted by length within shuffled pools of this many steps. tests/train/test_plan.py holds that
#: less than 5% of the tokens are padding then, on 4,000 texts of 1 to 200 tokens.
POOL = 50

Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Step:
    """One optimizer step: its number from 0 over the whole training, its epoch from 0, the rows of its examples."""

    number: int
    epoch: int
    rows: tuple[int, ...]


class Plan(Sequence[Step]):
    """The steps of a training, made when they are asked for: 4 bytes for each row that a step takes (up to 2³² rows).

    ``rows`` (R,) are those of all steps one after the other; ``begins`` (steps + 1,) where each step's begin among
    them; ``epochs`` (steps,); ``first`` the number of the first step. A slice is a plan too.
    """

    def __init__(self, rows: Ints, begins: Ints, epochs: Ints, first: int = 0) -> None:
        self.rows, self.begins, self.epochs, self.first = rows, begins, epochs, first

    def __len__(self) -> int:
        return len(self.epochs)

    @overload
    def __getitem__(self, place: int) -> Step: ...
    @overload
    def __getitem__(self, place: slice) -> "Plan": ...
    def __getitem__(self, place: int | slice) -> "Step | Plan":
        if isinstance(place, slice):
            start, stop, by = place.indices(len(self))
            if by != 1:
                raise ValueError("a plan is cut into runs of steps")
            stop = max(start, stop)
            return Plan(self.rows, self.begins[start : stop + 1], self.epochs[start:stop], self.first + start)
        place = range(len(self))[place]
        rows = self.rows[self.begins[place] : self.begins[place + 1]]
        return Step(self.first + place, int(self.epochs[place]), tuple(rows.tolist()))

    def __iter__(self) -> Iterator[Step]:
        return (self[place] for place in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def joined(plans: Iterable[tuple[Plan, int]]) -> Plan:
    """Plans one after the other, their steps and epochs numbered through; each with what is added to its rows."""
    rows: list[Ints] = [np.zeros(0, dtype=np.uint8)]
    sizes: list[Ints] = [np.zeros(0, dtype=np.int64)]
    epochs: list[Ints] = [np.zeros(0, dtype=np.int64)]
    epoch = 0
    for plan, added in plans:
        taken = plan.rows[plan.begins[0] : plan.begins[-1]]
        kind = np.min_scalar_type(added + int(taken.max(initial=0)))
        rows.append(taken.astype(kind) + kind.type(added))
        sizes.append(np.diff(plan.begins))
        epochs.append(plan.epochs + epoch)
        epoch = int(epochs[-1][-1]) + 1 if len(plan) else epoch
    return Plan(np.concatenate(rows), _begins(np.concatenate(sizes)), np.concatenate(epochs))


def _begins(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)])


def make_plan(lengths: Sequence[int] | Ints, *, batch_size: int, epochs: int, seed: int, max_steps: int = 0) -> Plan:
    """Every step of a training; each example once an epoch, the last partial step included.

    ``lengths`` are in tokens, one an example. ``max_steps`` cuts the plan short (0: no cut).
    """
    known, a_pass = np.asarray(lengths), -(-len(lengths) // batch_size)
    kind = np.min_scalar_type(max(len(known) - 1, 0))
    if max_steps and a_pass:
        epochs = min(epochs, -(-max_steps // a_pass))
    found = [_epoch(known, batch_size, seed, epoch) for epoch in range(epochs)]
    rows = np.concatenate([np.zeros(0, dtype=kind), *(rows for rows, _ in found)])
    sizes = np.concatenate([np.zeros(0, dtype=np.int64), *(sizes for _, sizes in found)])
    plan = Plan(rows, _begins(sizes), np.repeat(np.arange(epochs), a_pass))
    return plan[:max_steps] if max_steps else plan


def _epoch(lengths: Ints, batch_size: int, seed: int, epoch: int) -> tuple[Ints, Ints]:
    """The rows of one epoch's steps one after the other, and how many each takes.

    Shuffled, pooled, sorted by length within the pool, cut into steps, steps shuffled. The rows of the partial step are
    set aside before any sorting, so that no length is favoured by the larger share that each example has of a smaller
    step. A string seed makes Python's generator independent of the hash seed.
    """
    generator = random.Random(f"heldout plan {seed} {epoch}")
    shuffled = array("q", range(len(lengths)))
    generator.shuffle(shuffled)
    rows = np.array(shuffled, dtype=np.min_scalar_type(max(len(lengths) - 1, 0)))
    full = len(rows) - len(rows) % batch_size
    for start in range(0, full, POOL * batch_size):
        pool = rows[start : min(start + POOL * batch_size, full)]
        pool[:] = pool[np.argsort(lengths[pool], kind="stable")]
    steps = array("q", [full] if full < len(rows) else [])
    steps.extend(range(0, full, batch_size))
    generator.shuffle(steps)
    begins = np.array(steps)
    sizes = np.minimum(begins + batch_size, len(rows)) - begins
    # Each place, counted on from its step's begin.
    places = np.arange(len(rows)) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
    return rows[places], sizes


def plan_hash(plan: Iterable[Step], name: Callable[[int], str]) -> str:
    """SHA-256 of the plan written with the examples' names: equal hashes mean equal steps on equal examples."""
    digest = hashlib.sha256()
    for step in plan:
        digest.update(json.dumps([step.number, step.epoch, [name(row) for row in step.rows]]).encode() + b"\n")
    return digest.hexdigest()
