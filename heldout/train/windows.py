"""Windows: what one forward pass sees of an example. Most examples are one window; a long text may be several.

torch is imported where tensors are made: an exported model is asked without it (heldout/compress/runtime.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Ids = NDArray[np.int64]

#: The target of positions that take no part in a loss (torch's cross entropy skips it).
IGNORED = -100


@dataclass(frozen=True)
class Window:
    """One row of a batch.

    ``example`` is the row of its example; ``inputs`` are lists of equal length under the model's own names;
    ``target`` is a label id, a list of ids (one a position), a (start, end) pair, or None where gold is unknown;
    ``weight`` is its share of the loss, which is normalised by the weights of a whole step: the windows of one example
    sum to 1, or, where every position has a loss of its own, to the number of those positions.
    ``places`` is what decoding needs to find back into the text: a word's or a character's place for each position.
    """

    example: int
    inputs: Mapping[str, Sequence[int]]
    target: Any = None
    weight: float = 1.0
    places: Any = None

    def __len__(self) -> int:
        """Its length in tokens, special tokens included."""
        return len(self.inputs["input_ids"])


@dataclass(frozen=True)
class Batch:
    """Padded tensors: ``inputs`` of shape (rows, longest), ``targets`` (a tensor or several by name), ``weights``."""

    inputs: dict[str, Tensor]
    targets: Any
    weights: Tensor

    def to(self, device: torch.device) -> Batch:
        """The same on a device; the weights stay where they are, the loss brings them over."""
        targets = self.targets
        if isinstance(targets, dict):
            targets = {name: tensor.to(device) for name, tensor in targets.items()}
        elif targets is not None:
            targets = targets.to(device)
        return Batch({name: tensor.to(device) for name, tensor in self.inputs.items()}, targets, self.weights)


def collate(windows: Sequence[Window], pad_id: int, *, pad_type: int = 0, pad_to: int = 0) -> Batch:
    """Pad windows on the right to the longest of them (or to ``pad_to``, if longer) and mask the padding."""
    import torch

    inputs = padded(windows, pad_id, pad_type=pad_type, pad_to=pad_to)
    tensors = {name: torch.from_numpy(values) for name, values in inputs.items()}
    longest = inputs["input_ids"].shape[1]
    return Batch(tensors, _targets(windows, longest), torch.tensor([window.weight for window in windows]))


def padded(windows: Sequence[Window], pad_id: int, *, pad_type: int = 0, pad_to: int = 0) -> dict[str, Ids]:
    """The inputs of ``collate`` by name, attention_mask the last, each (rows, longest)."""
    longest = max(pad_to, *map(len, windows))
    fill = {"input_ids": pad_id, "token_type_ids": pad_type}
    inputs = {
        name: _padded([window.inputs[name] for window in windows], longest, fill.get(name, 0))
        for name in windows[0].inputs
    }
    return inputs | {"attention_mask": _padded([[1] * len(window) for window in windows], longest, 0)}


def _padded(rows: Sequence[Sequence[int]], longest: int, fill: int) -> Ids:
    return np.array([[*row, *[fill] * (longest - len(row))] for row in rows], dtype=np.int64)


def _targets(windows: Sequence[Window], longest: int) -> Tensor | None:
    import torch

    targets = [window.target for window in windows]
    if any(target is None for target in targets):
        # Gold may be known of some only: of HANS's two labels a three-way model has one.
        return None
    if isinstance(targets[0], list):
        return torch.from_numpy(_padded(targets, longest, IGNORED))
    return torch.tensor(targets, dtype=torch.long)


def by_budget(lengths: Sequence[int], token_budget: int) -> list[list[int]]:
    """Rows grouped into batches of at most ``token_budget`` padded tokens, longest first; a longer row stands alone.

    A pure function of the lengths, so the batches are the same whatever the number of processes.

    >>> by_budget([3, 9, 4, 2], token_budget=8)
    [[1], [2, 0], [3]]
    """
    batches: list[list[int]] = []
    room = 0
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        if room == 0:
            batches.append([])
            room = max(token_budget // max(lengths[row], 1), 1)
        batches[-1].append(row)
        room -= 1
    return batches
