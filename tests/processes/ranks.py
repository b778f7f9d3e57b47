"""Run heldout commands as groups of processes, forked from one that has imported torch: a group costs a second.

Reads lines of JSON: {"words": [...], "processes": 2, "environment": {...}, "logs": "FOLDER"}. Forks the ranks with what
torchrun would put into their environment, prints their pids, and when all are gone their ends ("exit 0", "signal 9").
As torchrun does, it ends the others with SIGTERM when one has failed. What rank 1 says is in FOLDER/1.log.

"environment" may hold SHARD_ON_CPU: accelerate ignores FSDP where there is no GPU (AcceleratorState looks at the kind
of device); this lets it shard on gloo, so that all of our own code runs as it would on GPUs.
"""

import faulthandler
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

import accelerate.state
from accelerate.utils import DistributedType

import heldout.pretrain.pretrain
import heldout.scripts._taught
import heldout.scripts.distill
import heldout.scripts.finetune
import heldout.scripts.predict
import heldout.scripts.pretrain
import heldout.train.finetune  # noqa: F401  what every life would import first
from heldout.cli import main

#: Seconds that a group may take; on an idle machine it takes two.
PATIENCE = 150
#: Seconds between a failure and SIGTERM. torchrun looks every 0.1 s; a busy machine needs longer to say a line.
GRACE = 2
PLAIN = accelerate.state.AcceleratorState.__init__


def shard_on_cpu(self, *given, fsdp_plugin=None, **named):
    """AcceleratorState.__init__ of a machine with GPUs, as far as FSDP goes."""
    PLAIN(self, *given, fsdp_plugin=fsdp_plugin, **named)
    if self.distributed_type == DistributedType.MULTI_CPU and fsdp_plugin is not None:
        self.distributed_type = DistributedType.FSDP
        if self._mixed_precision != "no":
            fsdp_plugin.set_mixed_precision(self._mixed_precision)
        self.fsdp_plugin = fsdp_plugin
        # As AcceleratorState itself does, so that the next one made agrees.
        accelerate.state.PartialState._shared_state["distributed_type"] = self.distributed_type


def child(call, rank, port):
    log = os.open(Path(call["logs"]) / f"{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    world = str(call["processes"])
    if call["processes"] > 1:
        os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world}
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    os.environ |= call["environment"]
    if "SHARD_ON_CPU" in call["environment"]:
        accelerate.state.AcceleratorState.__init__ = shard_on_cpu
    # A group that waits for itself ends, and says where, instead of keeping the tests.
    faulthandler.dump_traceback_later(PATIENCE)
    signal.alarm(PATIENCE + 10)
    sys.argv = ["heldout", *call["words"]]
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def ended(status):
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"


for line in sys.stdin:
    call = json.loads(line)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    pids = []
    for rank in range(call["processes"]):
        pid = os.fork()
        if pid == 0:
            try:
                child(call, rank, port)
            except BaseException as error:
                print(f"rank {rank}: {error!r}", file=sys.stderr, flush=True)
                os._exit(3)
        pids.append(pid)
    print(json.dumps(pids), flush=True)
    ends, failed = {}, 0.0
    while len(ends) < len(pids):
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            ends[pid] = ended(status)
            failed = failed or (time.monotonic() if status else 0.0)
        elif failed and time.monotonic() > failed + GRACE:
            # The second time for those that wait inside of torch, where no handler of Python's runs.
            number = signal.SIGTERM if time.monotonic() < failed + 5 * GRACE else signal.SIGKILL
            for other in set(pids) - set(ends):
                os.kill(other, number)
            time.sleep(4 * GRACE)
        else:
            time.sleep(0.005)
    print(json.dumps([ends[pid] for pid in pids]), flush=True)
