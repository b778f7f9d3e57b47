"""Which number format the matrices are multiplied in, and the accelerator that does it."""

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Literal

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType, InitProcessGroupKwargs

from heldout.errors import Refused
from heldout.train.memory import keep_freed
from heldout.train.options import Precision
from heldout.train.sharded import check_sharding

#: One process, processes that each hold all weights, and processes that share them.
KNOWN = (DistributedType.NO, DistributedType.MULTI_CPU, DistributedType.MULTI_GPU, DistributedType.FSDP)

#: How long processes wait for one that works alone (tokenising a corpus, a teacher that reads train) before they give
#: up; torch's own 10 minutes (nccl) and 30 (gloo) are too short. One that died is found by the launcher at once.
PATIENCE = timedelta(hours=6)


def resolve(wanted: Precision) -> tuple[Literal["fp32", "bf16"], str]:
    """The precision to use and the reason, in words for the person: auto is bf16 where the hardware multiplies it."""
    if wanted != "auto":
        return wanted, "as asked"
    if torch.cuda.is_available() and os.environ.get("ACCELERATE_USE_CPU", "").lower() not in ("1", "true", "yes"):
        # T4 and V100 emulate bf16, slower than fp32.
        has = torch.cuda.is_bf16_supported(including_emulation=False)
        return ("bf16", "the GPU has it") if has else ("fp32", "the GPU lacks bf16")
    flags = _cpu_flags()
    found = sorted(flags & {"avx512_bf16", "amx_bf16", "bf16"})
    return ("bf16", f"the CPU has {found[0]}") if found else ("fp32", "the CPU lacks bf16 instructions")


def _cpu_flags() -> set[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    for line in lines:
        if line.lower().startswith(("flags", "features")):
            return set(line.split(":", 1)[1].split())
    return set()


def make_accelerator(
    precision: Literal["fp32", "bf16"], trackers: Sequence[str] = (), folder: Path | None = None
) -> Accelerator:
    """accelerate's engine, for one process, data-parallel ones or FSDP2; Refused for others that shard the weights.

    Its precision cannot change within one process: one command uses one. ``trackers`` write under ``folder``.
    """
    accelerator = Accelerator(
        mixed_precision="bf16" if precision == "bf16" else "no",
        # Launched processes that saw no GPU would each believe to be alone, and write the same run folder.
        cpu=not torch.accelerator.is_available(),
        log_with=list(trackers) or None,
        project_dir=folder,
        kwargs_handlers=[InitProcessGroupKwargs(timeout=PATIENCE)],
    )
    if accelerator.device.type == "cpu":
        keep_freed()
    if accelerator.distributed_type not in KNOWN:
        raise Refused(
            f"{accelerator.distributed_type}: checkpoints are not written of it; "
            "launch data-parallel processes (--multi_gpu) or FSDP 2 (see recipes/accelerate)"
        )
    if accelerator.distributed_type == DistributedType.FSDP:
        check_sharding(accelerator)
    return accelerator
