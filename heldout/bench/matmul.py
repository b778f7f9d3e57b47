"""The limit that a side could reach: matrix multiplications alone, of the same dtype, on the same threads."""

import time
from collections.abc import Mapping
from typing import Any

from heldout.bench.child import Channel

#: Square matrices of these sizes; the fastest of a block is the limit. Smaller and larger ones are slower here.
SIZES = (512, 1024, 2048)
#: Seconds that a block spends on one size.
SECONDS = 0.5


def work(spec: Mapping[str, Any], channel: Channel) -> None:
    """Blocks of multiplications; a block answers {"flops_a_second"}, the best over the sizes."""
    import torch

    channel.say({"precision": spec["precision"], "threads": torch.get_num_threads()})
    while channel.asked():
        channel.say({"flops_a_second": peak(spec["precision"])})


def peak(precision: str) -> float:
    """FLOPs a second of multiplying square matrices of "fp32" or "bf16", the best over SIZES."""
    import torch

    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pairs = [[torch.randn(size, size, device=device).to(dtype) for _ in range(2)] for size in SIZES]
    for first, second in pairs:
        first @ second
    return max(_rate(first, second) for first, second in pairs)


def _rate(first: Any, second: Any) -> float:
    """FLOPs a second of first @ second, over SECONDS of it; a multiplication of two n×n matrices is 2n³."""
    import torch

    wait: Any = torch.cuda.synchronize if first.is_cuda else lambda: None
    wait()
    count, started = 0, time.perf_counter()
    while (passed := time.perf_counter() - started) < SECONDS or not count:
        first @ second
        wait()
        count += 1
    return float(2 * first.shape[0] ** 3 * count / passed)
