"""Prediction: dropout off, padding masked, one row of outputs a window, in the order of the windows."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from accelerate import Accelerator
from accelerate.utils import gather_object
from torch import Tensor, nn

from heldout.errors import Failed
from heldout.train import attention, first_token, linear
from heldout.train.sharded import answering, share
from heldout.train.windows import Window, by_budget, collate

#: Padded tokens a batch. On 2 cores 2,048 predicts faster than 8,192: the activations stay in the cache.
TOKEN_BUDGET = 2048


def predict(
    model: nn.Module,
    windows: Sequence[Window],
    accelerator: Accelerator,
    *,
    pad_id: int,
    logits: Callable[[Any], Tensor] = lambda outputs: outputs.logits,
    pad_type: int = 0,
    token_budget: int = TOKEN_BUDGET,
    pad_to: int = 0,
    progress: Callable[[int], None] = lambda rows: None,
) -> list[np.ndarray[Any, np.dtype[np.float32]]]:
    """The logits of every window, float32, in the order given; each process does its share of the batches.

    ``logits`` takes them from the model's outputs: (rows, labels), or (rows, longest, labels), the padding of which is
    cut off.
    ``progress`` is told how many windows each batch held. Raises Failed if not exactly every window came back.
    """
    # Not through DDP: its forward exchanges buffers, and a process whose share is empty would keep the others waiting.
    raw = accelerator.unwrap_model(model).eval()
    attention.use(raw)
    batches = by_budget([len(window) for window in windows], token_budget)
    found: list[tuple[int, Any]] = []
    # Trained weights may change until the next call, so they are laid out at each.
    half = accelerator.device.type == "cpu" and accelerator.mixed_precision == "bf16" and not accelerator.is_fsdp2
    with first_token.alone(raw), linear.laid_out(raw) if half else nullcontext():
        for rows, counts in share(batches, accelerator):
            batch = collate([windows[row] for row in rows], pad_id, pad_type=pad_type, pad_to=pad_to)
            with answering(accelerator):
                given = logits(raw(**batch.to(accelerator.device).inputs)).float().cpu().numpy()
            if not counts:
                continue
            for row, values in zip(rows, given, strict=True):
                found.append((row, values[: len(windows[row])].copy() if values.ndim == 2 else values))
            progress(len(rows))
    if accelerator.num_processes > 1:
        found = gather_object(found)
    by_row = dict(found)
    if len(found) != len(windows) or len(by_row) != len(windows):
        raise Failed(f"{len(found)} outputs came back for {len(windows)} windows; this is a fault of ours, report it")
    return [by_row[row] for row in range(len(windows))]
