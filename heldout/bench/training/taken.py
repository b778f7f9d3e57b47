"""What a side was trained on, step by step, so that nobody wins by doing less."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

#: A row as a side read it: its token ids, and its target (a label id, a list of them, a start and an end).
Row = tuple[Sequence[int], Any]
#: Digests are summed modulo this, so that the order of rows does not matter and how often each was read does.
MODULUS = 2**256


@dataclass
class Taken:
    """Counts over steps: optimizer steps, rows, real tokens, and a digest of the rows whatever their order."""

    steps: int = 0
    rows: int = 0
    tokens: int = 0
    digest: int = 0
    lengths: list[int] = field(default_factory=list)

    def add(self, rows: Iterable[Row]) -> None:
        """One optimizer step over these rows."""
        self.steps += 1
        for ids, target in rows:
            self.rows += 1
            self.tokens += len(ids)
            self.lengths.append(len(ids))
            self.digest = (self.digest + digest(ids, target)) % MODULUS

    def to_json(self) -> dict[str, Any]:
        """For the parent; the digest as hexadecimal."""
        counts = {"steps": self.steps, "rows": self.rows, "tokens": self.tokens, "lengths": self.lengths}
        return counts | {"digest": f"{self.digest:064x}"}


def digest(ids: Sequence[int], target: Any) -> int:
    """The SHA-256 of a row as a number."""
    targets = np.asarray(target, np.int64).ravel()
    found = sha256(np.asarray(ids, np.int64).tobytes() + b"|" + targets.tobytes())
    return int.from_bytes(found.digest(), "big")
