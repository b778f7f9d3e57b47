"""From rows to windows, batches and losses: masked language modelling, next sentences, causal language modelling.

Everything that is drawn for a step is drawn from (seed, step), so epochs differ and a resumed run does not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from heldout.pretrain.masking import BoolArray, IntArray, Masking, corrupt
from heldout.pretrain.rows import Row
from heldout.train.windows import Batch, Window, collate


@dataclass(frozen=True)
class Target:
    """What a window's loss is of: ``tokens`` must be predicted from the outputs at the positions ``at``.

    ``left`` is the input left of each of them, all that a bigram sees. ``share`` and ``next_share`` are what one token
    and the pair's label weigh in the step's loss.
    """

    at: Sequence[int]
    tokens: Sequence[int]
    left: Sequence[int]
    next: int | None = None
    share: float = 1.0
    next_share: float = 0.0


def windows_of(rows: Sequence[Row], masking: Masking | None, generator: np.random.Generator) -> list[Window]:
    """The windows of one step; masked where ``masking`` is given, else every token is predicted from those before.

    A window's weight is its number of predicted tokens: the step's loss is their mean. Rows that are pairs weigh one
    part in as many, and carry their shares of the two means, whose sum the step's loss is then: so neither
    micro-batches nor processes change it.
    """
    if masking is None:
        return [_causal(number, row) for number, row in enumerate(rows)]
    ids = np.concatenate([row.ids for row in rows])
    seen, selected = corrupt(ids, np.concatenate([row.begins for row in rows]), masking, generator)
    edges = np.cumsum([len(row.ids) for row in rows])[:-1]
    seens, selecteds = np.split(seen, edges), np.split(selected, edges)
    windows = [_masked(number, row, seens[number], selecteds[number]) for number, row in enumerate(rows)]
    if rows[0].second is None:
        return windows
    tokens = max(int(selected.sum()), 1)
    return [
        replace(window, weight=1 / len(rows), target=replace(window.target, share=1 / tokens, next_share=1 / len(rows)))
        for window in windows
    ]


def _masked(number: int, row: Row, seen: IntArray, selected: BoolArray) -> Window:
    at = np.flatnonzero(selected)
    target = Target(at.tolist(), row.ids[at].tolist(), seen[at - 1].tolist(), row.next)
    return Window(number, _inputs(row, seen), target, float(len(at)))


def _causal(number: int, row: Row) -> Window:
    at = np.flatnonzero(row.part[1:] == row.part[:-1])
    target = Target(at.tolist(), row.ids[at + 1].tolist(), row.ids[at].tolist())
    return Window(number, _inputs(row, row.ids), target, float(len(at)))


def _inputs(row: Row, seen: IntArray) -> dict[str, Sequence[int]]:
    inputs = {"input_ids": seen.tolist()}
    if row.second is not None:
        inputs["token_type_ids"] = (np.arange(len(seen)) >= row.second).astype(int).tolist()
    if row.part[-1]:
        first = np.searchsorted(row.part, row.part)
        inputs |= {"part": row.part.tolist(), "position_ids": (np.arange(len(seen)) - first).tolist()}
    return inputs


def collate_rows(windows: Sequence[Window], pad_id: int, *, causal: bool) -> Batch:
    """Pad windows; ``inputs["selected"]`` are the predicted positions in the flattened batch.

    Where a row is packed the mask becomes (rows, 1, longest, longest): a token attends within its own part only.
    """
    packed = any("part" in window.inputs for window in windows)
    batch = collate([replace(_unpacked(window) if packed else window, target=None) for window in windows], pad_id)
    longest = batch.inputs["input_ids"].shape[1]
    if packed:
        # Padding is part of no text; that it attends to itself keeps its softmax finite.
        part = batch.inputs.pop("part").masked_fill(batch.inputs["attention_mask"] == 0, -1)
        mask = part[:, None, :, None] == part[:, None, None, :]
        batch.inputs["attention_mask"] = mask.tril() if causal else mask
    targets: Sequence[Target] = [window.target for window in windows]
    sizes = torch.tensor([len(target.at) for target in targets])
    row = torch.repeat_interleave(torch.arange(len(targets)), sizes)
    batch.inputs["selected"] = row * longest + _flat([target.at for target in targets])
    tensors = {"tokens": _flat([target.tokens for target in targets]), "row": row}
    tensors["share"] = torch.tensor([target.share for target in targets])
    if targets[0].next is not None:
        tensors["next"] = torch.tensor([target.next for target in targets])
        tensors["next_share"] = torch.tensor([target.next_share for target in targets])
    return replace(batch, targets=tensors)


def _unpacked(window: Window) -> Window:
    """A row of one piece among packed ones."""
    if "part" in window.inputs:
        return window
    whole = {"part": [0] * len(window), "position_ids": list(range(len(window)))}
    return replace(window, inputs={**window.inputs, **whole})


def _flat(rows: Sequence[Sequence[int]]) -> Tensor:
    return torch.tensor([value for row in rows for value in row], dtype=torch.long)


def loss(outputs: Any, targets: dict[str, Tensor], weights: Tensor) -> Tensor:
    """The micro-batch's part of the step's loss, before the loop divides by the step's weight.

    Outputs hold the logits of the selected positions, (k, V), and of pairs those of the labels, (rows, 2). A weight of
    zero silences a row (a process without a share of its own).
    """
    counts = (weights > 0).to(outputs[0].device)
    logits, row = token_logits(outputs), targets["row"]
    found = F.cross_entropy(logits.float(), targets["tokens"], reduction="none")
    total = (found * (targets["share"] * counts)[row]).sum()
    if "next" in targets:
        pairs = F.cross_entropy(outputs.seq_relationship_logits.float(), targets["next"], reduction="none")
        total = total + (pairs * targets["next_share"] * counts).sum()
    return total


def token_logits(outputs: Any) -> Tensor:
    """The logits over the vocabulary, whatever the model calls them."""
    logits: Tensor = outputs.prediction_logits if hasattr(outputs, "prediction_logits") else outputs.logits
    return logits


def generator_of(seed: int, *place: int) -> np.random.Generator:
    """The generator of a place: (1, step) for a step of training, (0, split) for what is drawn once and fixed."""
    return np.random.default_rng([seed, *place])


def make_windows(
    make: Callable[[Sequence[int], np.random.Generator], list[Row]],
    rows: Sequence[int],
    masking: Masking | None,
    generator: np.random.Generator,
) -> list[Window]:
    """Make the rows and mask them; one generator serves both."""
    return windows_of(make(rows, generator), masking, generator)
