"""Sides of a benchmark, each in a process of its own, that take turns at blocks of work.

A child reads its spec (a JSON line), says what it is once it is ready, then does a block of n steps for every
{"block": n} that it is sent and answers with what it did and how long that took; 0 ends it. So a busy moment of the
machine hits every side, and each side has a precision, threads and a peak memory of its own.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from heldout.errors import Failed

#: One block of one side: what the child answered.
Block = Mapping[str, Any]
#: How much of what a child says on stderr is shown where it ends badly.
LAST_WORDS = 300


class Side:
    """A child process that waits for blocks; ``facts`` is what it said of itself when it was ready."""

    def __init__(self, name: str, spec: Mapping[str, Any], stderr: Path) -> None:
        self.name = name
        self._log = stderr
        with stderr.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "heldout.bench.child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        self._send(spec)
        self.facts: dict[str, Any] = self._answer()

    def block(self, steps: int) -> Block:
        """Let it do so many steps; Failed where it ends instead."""
        self._send({"block": steps})
        return self._answer()

    def peak_memory(self) -> int:
        """Bytes, the most it held so far (VmHWM of Linux); 0 where the system does not tell."""
        try:
            lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        except OSError:
            return 0
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)

    def close(self) -> None:
        """End it: what it holds is not needed any more."""
        self._process.kill()
        self._process.communicate()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        found: dict[str, Any] = json.loads(line)
        return found

    def _ended(self) -> Failed:
        self._process.wait()
        said = self._log.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
        return Failed(f"{self.name} ended with status {self._process.returncode}: {said[-1][-LAST_WORDS:]}")


@contextmanager
def opened(specs: Mapping[str, Mapping[str, Any]], logs: Path, say: Callable[[str], None]) -> Iterator[dict[str, Side]]:
    """The sides by name, started one after the other, each ready before the next; ended with the block."""
    with ExitStack() as stack:
        sides = {}
        for name, spec in specs.items():
            say(f"starting {name}")
            sides[name] = Side(name, spec, logs / f"{name}.log")
            stack.callback(sides[name].close)
        yield sides


def rounds(
    sides: Sequence[Side], *, steps: Mapping[str, int], blocks: int, say: Callable[[str], None]
) -> list[dict[str, Block]]:
    """``blocks`` rounds in which every side does one block; every other round goes backwards (A B, B A, A B …).

    So whatever drifts (heat, a neighbour) is spread over the sides. ``steps`` is the size of each side's block.
    """
    found = []
    for number in range(blocks):
        order = sides if number % 2 == 0 else sides[::-1]
        done = {side.name: side.block(steps[side.name]) for side in order}
        found.append({side.name: done[side.name] for side in sides})
        say(f"round {number + 1} of {blocks}")
    return found
