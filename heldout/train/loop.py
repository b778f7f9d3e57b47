"""The training loop: a generator that yields after each optimizer step. The caller logs, saves, evaluates, stops.

A step is always ``--batch-size`` examples. Its windows are split over the processes, cut into micro-batches by a
token budget, and each micro-batch's summed loss is divided by the weight of the whole step over all processes, so
that neither accumulation nor the number of processes changes the gradient.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from heldout.errors import Diverged
from heldout.train import attention, dropout, first_token
from heldout.train.optim import set_learning_rate
from heldout.train.plan import Step
from heldout.train.sharded import whole
from heldout.train.windows import Batch, Window, by_budget

#: (the model's outputs, targets, weights of the rows) → the weighted sum over the rows.
Loss = Callable[[Any, Any, Tensor], Tensor]


@dataclass(frozen=True)
class Done:
    """What one optimizer step did: ``loss`` is the mean over the step's weight, ``tokens`` are real (unpadded)."""

    step: int
    epoch: int
    loss: float
    learning_rate: float
    gradient_norm: float
    tokens: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """A line of losses.jsonl."""
        return self.__dict__ | {"seconds": round(self.seconds, 4)}

    @property
    def words(self) -> str:
        """What stands beside a progress bar."""
        return f"loss {self.loss:.3f}, {self.tokens / self.seconds:,.0f} tokens/s"


@dataclass(frozen=True)
class Recipe:
    """What the loop needs beyond model and data.

    ``windows`` gives all windows of a step, made on the spot where they change with it (fresh masks); ``collate`` pads
    some of them into tensors.
    """

    windows: Callable[[Step], Sequence[Window]]
    collate: Callable[[Sequence[Window]], Batch]
    loss: Loss
    rate: Callable[[int], float]
    seed: int
    token_budget: int = 4096
    clip: float = 1.0


def train(
    model: nn.Module, optimizer: torch.optim.Optimizer, steps: Sequence[Step], recipe: Recipe, accelerator: Accelerator
) -> Iterator[Done]:
    """Take the steps one by one, from wherever the list begins; model and optimizer come prepared by accelerate.

    Raises Diverged, before the weights are touched, when loss or gradients are no longer finite numbers.
    """
    attention.use(model)
    dropout.use(model)
    with first_token.alone(accelerator.unwrap_model(model)):
        for step in steps:
            yield _taken(model, optimizer, step, recipe, accelerator)


def _taken(
    model: nn.Module, optimizer: torch.optim.Optimizer, step: Step, recipe: Recipe, accelerator: Accelerator
) -> Done:
    started = time.perf_counter()
    # Dropout is a function of seed, step and process: no generator state to save, resuming draws the same masks.
    torch.manual_seed(step_seed(recipe.seed, step.number, accelerator.process_index))
    model.train()
    set_learning_rate(optimizer, recipe.rate(step.number))
    try:
        loss, tokens = _backward(model, step, recipe, accelerator)
    except torch.OutOfMemoryError:
        raise Diverged(f"step {step.number}: the device's memory is full; lower --token-budget") from None
    norm = float(whole(nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)))
    if not (math.isfinite(loss) and math.isfinite(norm)):
        raise Diverged(
            f"step {step.number}: the loss is {loss:.4g} and the gradient's norm {norm:.4g}; "
            "lower --learning-rate or use --precision fp32"
        )
    optimizer.step()
    optimizer.zero_grad()
    return Done(
        step.number,
        step.epoch,
        loss,
        recipe.rate(step.number),
        norm,
        tokens,
        time.perf_counter() - started,
    )


def step_seed(seed: int, step: int, process: int) -> int:
    """A 63-bit seed, different for every (seed, step, process): splitmix64's finaliser over the three."""
    value = seed
    for part in (step, process):
        value = (value + 0x9E3779B97F4A7C15 * (part + 1)) & 0xFFFFFFFFFFFFFFFF
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        value ^= value >> 31
    return value >> 1


def _backward(model: nn.Module, step: Step, recipe: Recipe, accelerator: Accelerator) -> tuple[float, int]:
    """Accumulate the gradients of one step; returns its mean loss and its real tokens, over all processes."""
    windows = recipe.windows(step)
    # A step whose every position is ignored (sentences that came to nothing) has no loss and no gradient.
    total = sum(window.weight for window in windows) or 1.0
    every = accelerator.num_processes
    cuts = [by_budget([len(w) for w in windows[process::every]], recipe.token_budget) for process in range(every)]
    ours, cut = windows[accelerator.process_index :: every], cuts[accelerator.process_index]
    batches = [[ours[i] for i in rows] for rows in cut]
    # A process with less to do takes part in the exchanges that the others need, with losses of zero: that of the
    # gradients, and where weights are spread over the processes one at every pass.
    passes = max(map(len, cuts)) if accelerator.is_fsdp2 else max(len(cut), 1)
    batches += [[windows[0]]] * (passes - len(cut))
    summed = torch.zeros(2, device=accelerator.device)
    summed[1] = sum(map(len, ours))
    for number, micro in enumerate(batches):
        last = number == len(batches) - 1
        with nullcontext() if last else accelerator.no_sync(model):
            batch = recipe.collate(micro).to(accelerator.device)
            outputs = model(**batch.inputs)
            loss = recipe.loss(outputs, batch.targets, batch.weights * (number < len(cut))) / total
            # DDP averages the gradients of the processes; theirs must be summed.
            accelerator.backward(loss * accelerator.num_processes)
            summed[0] += loss.detach()
    if accelerator.num_processes > 1:
        summed = accelerator.reduce(summed, "sum")
    return float(summed[0]), int(summed[1])
