"""Which layers int8 hurts: each is quantised alone, and the mean movement of the logits on dev is its cost."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heldout.compress.gate import Agreement
from heldout.compress.runtime import OnnxSystem, open_session
from heldout.train.task import Logits
from heldout.train.windows import Window


@dataclass(frozen=True)
class Scanned:
    """A layer and the mean absolute movement of a logit when it alone is in int8."""

    layer: str
    moved: float

    def to_json(self) -> dict[str, Any]:
        """As compression.json has it."""
        return asdict(self)


def scan(
    system: OnnxSystem,
    names: Mapping[str, str],
    windows: Sequence[Window],
    logits: Logits,
    alone: Callable[[str, Path], None],
    say: Callable[[str], None],
) -> list[Scanned]:
    """The layers of ``names`` by their cost, the worst first, on these windows, the first of those of ``logits``.

    ``alone`` writes the model with one node (by name) in int8 to a file; ``system`` is the model in fp32.
    """
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for place, (name, node) in enumerate(names.items(), 1):
            target = Path(folder) / "one.onnx"
            alone(node, target)
            # An OnnxSystem of another session: replace() would keep it too, but says less of what changes.
            one = OnnxSystem(system.task, open_session(target), system.encoding, system.labels)
            moved = [np.abs(a - b).mean() for a, b in zip(one.logits(windows), logits, strict=False)]
            found.append(Scanned(name, float(np.mean(moved))))
            say(f"scan {place}/{len(names)}: {name} moves a logit by {found[-1].moved:.1e}")
    return sorted(found, key=lambda one: -one.moved)


def keep_until(
    make: Callable[[Sequence[str]], tuple[OnnxSystem, Agreement]],
    scanned: Sequence[Scanned],
    kept: Sequence[str],
    say: Callable[[str], None],
) -> tuple[OnnxSystem, Agreement, list[str]]:
    """The product with the fewest of the worst layers in fp32 (0, 1, 2, 4, 8 …) whose gate holds, else the last.

    ``kept`` stay in fp32 in any case.
    """
    worst = [one.layer for one in scanned if one.layer not in kept]
    number = 0
    while True:
        left_out = [*kept, *worst[:number]]
        made, found = make(left_out)
        say(f"{len(left_out)} of {len(scanned)} layers in fp32: {found.words}")
        if found.holds or number >= len(worst):
            return made, found, left_out
        number = min(max(1, 2 * number), len(worst))
