"""Run heldout commands in forks of one process that has imported torch already: a life costs tenths of a second.

Reads a line of JSON (the words of a command) from stdin, forks, prints the child's pid, and when it is gone its
status ("exit 0", "signal 9"). The parent itself never runs torch, so its forks start with fresh thread pools.
"""

import json
import os
import sys

import heldout.pretrain.pretrain
import heldout.scripts.finetune
import heldout.scripts.pretrain
import heldout.train.finetune  # noqa: F401  what every life would import first
from heldout.cli import main

for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        log = os.open(os.environ["LIVES_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.argv = ["heldout", *json.loads(line)]
        status = main()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(pid, flush=True)
    _, status = os.waitpid(pid, 0)
    print(f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}", flush=True)
