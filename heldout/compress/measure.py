"""How long systems take to answer the same windows, taken in turns in one process, so that a busy moment hits all.

latency     one example at a time, the time from its windows to its logits; quartiles over examples
throughput  batches of each size over all examples, sorted by length as prediction does; quartiles over repeats

Tokenising and decoding, which are the same for all, are left out. Nothing here imports torch.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.train.windows import Window

#: Batch sizes that are tried, in examples.
BATCHES = (1, 4, 8, 16, 32, 64)
#: Examples that each system answers before anything is timed.
WARM = 8
#: Seconds before each timing. onnxruntime's threads spin for a while after a turn: on two cores a model of torch whose
#: turn came next took 70 ms for what a larger one, whose turn came after torch's, did in 45.
SETTLE = 0.05

Ask = Callable[[Sequence[Window]], Any]


@dataclass(frozen=True)
class Side:
    """One system: its name, its answer to a batch of windows, and the windows of every example."""

    name: str
    ask: Ask
    rows: Sequence[Sequence[Window]]


def measured(sides: Sequence[Side], *, repeats: int, say: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """By name {"latency", "throughput"}; sides take turns, and a turn begins with another side each time."""
    for side in sides:
        for row in side.rows[:WARM]:
            side.ask(row)
    say("latency, one example at a time")
    latency = _latency(sides)
    found: dict[str, dict[str, Any]] = {side.name: {} for side in sides}
    for size in (size for size in BATCHES if size <= len(sides[0].rows)):
        say(f"throughput at {size} examples a batch")
        for name, rates in _rates(sides, size, repeats).items():
            found[name][str(size)] = quartiles(rates)
    return {name: {"latency": latency[name], "throughput": best_of(by_batch)} for name, by_batch in found.items()}


def _latency(sides: Sequence[Side]) -> dict[str, dict[str, Any]]:
    seconds: dict[str, list[float]] = {side.name: [] for side in sides}
    for number in range(len(sides[0].rows)):
        for side in _turn(sides, number):
            seconds[side.name].append(_timed(side, [side.rows[number]]))
    return {name: {"n": len(values), "seconds": quartiles(values)} for name, values in seconds.items()}


def _rates(sides: Sequence[Side], size: int, repeats: int) -> dict[str, list[float]]:
    """Examples a second of each side, once a repeat."""
    rates: dict[str, list[float]] = {side.name: [] for side in sides}
    for repeat in range(repeats):
        for side in _turn(sides, repeat):
            rows = sorted(side.rows, key=lambda row: -sum(map(len, row)))
            batches = [rows[start : start + size] for start in range(0, len(rows), size)]
            rates[side.name].append(len(rows) / sum(_timed(side, batch) for batch in batches))
    return rates


def _turn(sides: Sequence[Side], number: int) -> list[Side]:
    first = number % len(sides)
    return [*sides[first:], *sides[:first]]


def _timed(side: Side, rows: Sequence[Sequence[Window]]) -> float:
    windows = [window for row in rows for window in row]
    time.sleep(SETTLE)
    started = time.perf_counter()
    side.ask(windows)
    return time.perf_counter() - started


def quartiles(values: Sequence[float]) -> list[float]:
    """The quartiles: lower, median, upper.

    >>> quartiles([1, 2, 3, 4, 5])
    [2.0, 3.0, 4.0]
    """
    return [float(value) for value in np.percentile(values, [25, 50, 75])]


def best_of(by_batch: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """The batch size with the highest median, its quartiles, and all of them."""
    batch = max(by_batch, key=lambda size: by_batch[size][1])
    return {"batch": int(batch), "examples_a_second": list(by_batch[batch]), "by_batch": dict(by_batch)}
