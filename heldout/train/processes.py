"""Several processes as a command sees them: which one writes, and what to say when another one is gone.

Known before torch is imported: torchrun (and accelerate launch through it) sets RANK and WORLD_SIZE.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from heldout.errors import Failed

#: What gloo and NCCL say of a peer that died.
GONE = re.compile(r"connection (closed|reset|refused)|peer|broken pipe|timed out|remote process exited|aborted", re.I)


def is_main_process() -> bool:
    """Whether this process is the one that writes."""
    return os.environ.get("RANK", "0") == "0"


def several() -> bool:
    """Whether this process is one of several."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


@contextmanager
def together(hint: str) -> Iterator[None]:
    """Failed, with ``hint`` as what to do, where the block ends because another process of the group has died.

    A process that the launcher ends for that reason (SIGTERM) leaves without a word: the others have told the cause.
    """
    try:
        yield
    except KeyboardInterrupt as stop:
        # The launcher's signal may come while the error of the exchange is on its way here.
        if several() and _lost(stop.__context__):
            raise _alone(hint) from stop
        if several() and not is_main_process():
            raise SystemExit(1) from None
        raise
    except RuntimeError as error:
        if not (several() and _lost(error)):
            raise
        raise _alone(hint) from error


def _alone(hint: str) -> Failed:
    return Failed(
        f"process {os.environ['RANK']} of {os.environ['WORLD_SIZE']}: another one has died, and the work ends with it "
        f"(its own words or the launcher's report say why); {hint}"
    )


def _lost(error: BaseException | None) -> bool:
    """Whether an error is that of an exchange whose other side has gone."""
    if not isinstance(error, RuntimeError):
        return False
    distributed = sys.modules.get("torch.distributed")
    known = distributed is not None and isinstance(error, distributed.DistError)
    return known or bool(GONE.search(str(error)))
