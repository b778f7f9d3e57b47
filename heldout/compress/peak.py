"""The peak memory of a process, and the batch that needs most of it; imports no torch, which alone takes 200 MB."""

import resource
import sys
from collections.abc import Sequence
from pathlib import Path

from heldout.compress.runtime import TOKEN_BUDGET
from heldout.train.windows import Window


def own_peak() -> int:
    """This process's peak memory in bytes.

    On Linux the kernel's own mark: getrusage's begins with the size of the process that started this one.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux tells kilobytes, macOS bytes.
    return peak if sys.platform == "darwin" else peak * 1024


def fullest(rows: Sequence[Sequence[Window]]) -> list[Window]:
    """The longest windows that prediction takes at a time."""
    windows = sorted((window for row in rows for window in row), key=len, reverse=True)
    return windows[: max(1, TOKEN_BUDGET // len(windows[0]))]
