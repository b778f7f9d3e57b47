"""Which layers int8 hurts: each is quantised alone, and the mean movement of the logits on dev is its cost."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heldout.compress.gate import Agreement
from heldout.compress.quantise import Calibration, quantise
from heldout.compress.runtime import OnnxSystem, open_session
from heldout.train.task import Encoded, Logits


@dataclass(frozen=True)
class Scanned:
    """A layer and the mean absolute movement of a logit when it alone is in int8."""

    layer: str
    moved: float

    def to_json(self) -> dict[str, Any]:
        """As compression.json has it."""
        return asdict(self)


def scan(
    path: Path,
    system: OnnxSystem,
    names: Mapping[str, str],
    rows: tuple[Encoded, Logits],
    number: int,
    calibration: Calibration | None,
    say: Callable[[str], None],
) -> list[Scanned]:
    """The layers of ``names`` by their cost, the worst first, on the windows of the first ``number`` examples."""
    encoded, logits = rows
    windows = [window for of_one in encoded.windows[:number] for window in of_one]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for place, (name, node) in enumerate(names.items(), 1):
            target = Path(folder) / "one.onnx"
            quantise(path, target, only=[node], calibration=calibration)
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
