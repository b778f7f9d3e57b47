"""Answers written a block at a time: a kill loses one block at most, and the same command goes on behind the last.

    RUN/predictions/NAME.jsonl.part   whole blocks so far       RUN/predictions/NAME.jsonl.part.json   what they are of

Where all are there, the second of these stays until the command calls ``forget``: by it a command that was killed later
(at another set, at scoring) knows that these answers are its own.

A block is answered as if it were alone, so what a resumed command writes is, byte for byte, what it would have written
without a break. Memory is that of one block.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from heldout.records import Example, Prediction
from heldout.runs import append_lines, read_json, write_json
from heldout.train.progress import progress

#: Examples a block: 50 seconds' work at 20 long texts a second.
BLOCK = 1024


class Answers(Protocol):
    """What answers: a model in torch or an exported one."""

    def predict(self, examples: Sequence[Example], what: str = ...) -> list[Prediction]:
        """The predictions in the order of the examples."""

    def agreed(self, number: int) -> int:
        """The main process's number, in all processes."""


def write_answers(
    path: Path, system: Answers, examples: Sequence[Example], what: str, *, key: Mapping[str, Any], main: bool
) -> None:
    """Answer the examples into ``path``, one JSON object a line; only the main process writes.

    Blocks that an earlier life left are kept where its ``key`` is this one's: whatever decides an answer stands there.
    """
    part = _part(path)
    done = system.agreed(_done(path, len(examples), key) if main else 0)
    with progress(what, len(examples), "examples", shown=main) as advance:
        for start in range(done, len(examples), BLOCK):
            some = examples[start : start + BLOCK]
            predictions = system.predict(some, "")
            if main:
                append_lines(part, (one.to_json() for one in predictions))
            advance(len(some), before=done)
    if main and part.exists():
        part.replace(path)


def written(path: Path, key: Mapping[str, Any]) -> bool:
    """Whether all answers are there, of this key, by a command that did not come to its end."""
    return path.exists() and not _part(path).exists() and _is_of(path, key)


def begun(path: Path) -> bool:
    """Whether answers are there, or some of them, by a command that did not come to its end."""
    return _said(path).exists()


def forget(path: Path) -> None:
    """The command that wrote these answers is through: what it would have gone on by is removed."""
    _said(path).unlink(missing_ok=True)


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _said(path: Path) -> Path:
    return path.with_name(f"{path.name}.part.json")


def _whole_key(key: Mapping[str, Any]) -> Any:
    """The key as JSON has it, with the size of a block: a resumed command must cut where the first one did."""
    return json.loads(json.dumps({**key, "block": BLOCK}))


def _is_of(path: Path, key: Mapping[str, Any]) -> bool:
    return _said(path).exists() and read_json(_said(path)) == _whole_key(key)


def _done(path: Path, n: int, key: Mapping[str, Any]) -> int:
    """How many answers stand in whole blocks; what a kill cut off behind them is removed, as is all of another key."""
    if written(path, key):
        return n
    part = _part(path)
    if part.exists() and _is_of(path, key):
        ends = _ends(part)
        whole = len(ends) // BLOCK * BLOCK
        os.truncate(part, ends[whole - 1] if whole else 0)
        return whole
    # In this order: a key without a part would say that all answers are there.
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(b"")
    write_json(_said(path), _whole_key(key))
    return 0


def _ends(part: Path) -> list[int]:
    """The place behind each line; one that was not written to its end is none."""
    ends, at = [], 0
    with part.open("rb") as lines:
        for line in lines:
            at += len(line)
            if line.endswith(b"\n"):
                ends.append(at)
    return ends


def files_of(folder: Path) -> dict[str, Any]:
    """A model's files by name, size and time: it never changes once it is there."""
    return {path.name: [path.stat().st_size, path.stat().st_mtime_ns] for path in sorted(folder.iterdir())}
