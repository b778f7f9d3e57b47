"""A side of a benchmark as a process: python -m heldout.bench.child, its spec on stdin (see turns.py)."""

import importlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

#: What a spec's "work" may be, and the module whose ``work(spec, channel)`` does it.
WORK = {
    "matmul": "heldout.bench.matmul",
    "ours": "heldout.bench.training.ours",
    "trainer": "heldout.bench.training.peer",
    "predict": "heldout.bench.answering",
    "pretrain": "heldout.bench.pretraining",
    "tokenize": "heldout.bench.tokenizing",
}


class Channel:
    """The child's end of the pipes; whatever else is printed goes to stderr."""

    def __init__(self) -> None:
        self._in = sys.stdin.buffer
        self._out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)

    def spec(self) -> dict[str, Any]:
        """What this side is to be."""
        return self._line()

    def say(self, message: Mapping[str, Any]) -> None:
        """Tell the parent that this side is ready, or what a block came to."""
        self._out.write(json.dumps(message).encode() + b"\n")
        self._out.flush()

    def asked(self) -> int:
        """The steps of the next block; 0 where there is none."""
        return int(self._line().get("block", 0))

    def _line(self) -> dict[str, Any]:
        line = self._in.readline()
        found: dict[str, Any] = json.loads(line) if line else {}
        return found


def since(started: float) -> float:
    """Seconds since ``started`` (perf_counter), once a GPU is through with all that it was given."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - started


def timed(channel: Channel, steps: Iterator[Any]) -> Iterator[tuple[slice, float]]:
    """Take as many of the steps as are asked for, block by block: which these were, and their seconds."""
    place = 0
    while count := channel.asked():
        started = time.perf_counter()
        for _ in range(count):
            next(steps)
        yield slice(place, place + count), since(started)
        place += count


def main() -> None:
    """Be the side that the spec asks for until the parent has enough."""
    channel = Channel()
    spec = channel.spec()
    importlib.import_module(WORK[spec["work"]]).work(spec, channel)


if __name__ == "__main__":
    main()
