"""How well a model predicts held-out tokens: the loss, the hits and the pair's label of every window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import gather_object
from numpy.typing import NDArray
from torch import nn

from heldout.errors import Failed
from heldout.pretrain.objectives import token_logits
from heldout.train.predict import TOKEN_BUDGET
from heldout.train.sharded import answering, share
from heldout.train.windows import Batch, Window, by_budget

FloatArray: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Scored:
    """Arrays of one number a window: summed loss (nats), predicted tokens, tokens that were the most likely one.

    ``other`` is the probability that B comes from another document, None where rows are no pairs.
    """

    nll: FloatArray
    n: FloatArray
    correct: FloatArray
    other: FloatArray | None = None

    @property
    def mean(self) -> float:
        """The mean loss of a predicted token."""
        return float(self.nll.sum() / self.n.sum())


def score(
    model: nn.Module,
    windows: Sequence[Window],
    accelerator: Accelerator,
    collate: Callable[[Sequence[Window]], Batch],
    *,
    progress: Callable[[int], None] = lambda rows: None,
) -> Scored:
    """Score windows in their order, dropout off; each process does its share of the batches."""
    # Not through DDP: a process whose share is empty would keep the others waiting.
    raw = accelerator.unwrap_model(model).eval()
    batches = by_budget([len(window) for window in windows], TOKEN_BUDGET)
    found: list[tuple[int, list[float]]] = []
    for rows, counts in share(batches, accelerator):
        batch = collate([windows[row] for row in rows]).to(accelerator.device)
        with answering(accelerator):
            outputs = raw(**batch.inputs)
        if counts:
            found += zip(rows, _columns(outputs, batch), strict=True)
            progress(len(rows))
    if accelerator.num_processes > 1:
        found = gather_object(found)
    by_row = dict(found)
    if len(found) != len(windows) or len(by_row) != len(windows):
        raise Failed(f"{len(found)} scores came back for {len(windows)} windows; this is a fault of ours, report it")
    columns = np.array([by_row[row] for row in range(len(windows))]).T
    return Scored(columns[0], columns[1], columns[2], columns[3] if len(columns) > 3 else None)


def _columns(outputs: Any, batch: Batch) -> list[list[float]]:
    """Of every row of a batch: summed loss, tokens, hits, and for pairs the probability of "another document"."""
    logits, targets = token_logits(outputs).float(), batch.targets
    nll = F.cross_entropy(logits, targets["tokens"], reduction="none")
    hits = (logits.argmax(-1) == targets["tokens"]).double()
    each = torch.stack([nll.double(), torch.ones_like(hits), hits], 1)
    sums = torch.zeros(len(batch.weights), 3, dtype=torch.float64, device=each.device)
    sums.index_add_(0, targets["row"], each)
    if "next" in targets:
        other = outputs.seq_relationship_logits.double().softmax(-1)[:, 1:]
        sums = torch.cat([sums, other], 1)
    rows: list[list[float]] = sums.tolist()
    return rows
