"""Check the cost model (heldout/train/cost.py) here: predicted and measured seconds and memory of 1 and 2 processes.

    OMP_NUM_THREADS=1 python docs/scaling_check.py

The share of the peak is read off one process on a small model; everything else is predicted. Peak, memory's and
gloo's bandwidth are measured in the same processes, between the steps, since others may use the machine.
"""

import os
import socket
import statistics
import time
from pathlib import Path

import torch
import torch.distributed as dist
from transformers import BertConfig, BertForMaskedLM

from heldout.train.cost import Machine, Model, step
from heldout.train.optim import make_optimizer

ROWS, LENGTH, STEPS = 16, 128, 5
SMALL, LARGE = Model(4, 256, 1024, 8192, chosen=1.0), Model(4, 512, 2048, 8192, chosen=1.0)


def timed(work):
    """Seconds of a call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def resident(field):
    """Bytes of memory that this process has (VmRSS) or has had (VmHWM)."""
    with Path("/proc/self/status").open() as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def measured(shape, processes):
    """Seconds of a step, peak memory of this process, and what the machine gave meanwhile: peak, memory, exchange."""
    a, large, sent = torch.randn(1024, 1024), torch.randn(8 << 20), torch.randn(4 << 20)
    # The peak counts from here.
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    torch.manual_seed(0)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=shape.vocabulary, hidden_size=shape.width, num_hidden_layers=shape.layers,
            num_attention_heads=shape.width // 64, intermediate_size=shape.ffn,
            hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        )
    )  # fmt: skip
    wrapped = torch.nn.parallel.DistributedDataParallel(model) if processes > 1 else model
    optimizer = make_optimizer(model, learning_rate=1e-4, weight_decay=0.0)
    ids = torch.randint(5, shape.vocabulary, (ROWS // processes, LENGTH))

    def one():
        wrapped(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    one()
    seconds, peaks, copies, sends = [], [], [], []
    for _ in range(STEPS):
        peaks.append(2 * 1024**3 / timed(lambda: a @ a))
        seconds.append(timed(one))
        copies.append(2 * large.nbytes / timed(lambda: large.clone()))
        sends.append(sent.nbytes / timed(lambda: dist.all_reduce(sent)) if processes > 1 else 1.0)
    found = [statistics.median(values) for values in (seconds, peaks, copies, sends)]
    return found[0], resident("VmHWM") - before, found[1:]


def lives(rank, processes, port, shape, pipe):
    """One process of a group: what it measured, as a line into the pipe."""
    if processes > 1:
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        dist.init_process_group("gloo", rank=rank, world_size=processes)
    seconds, memory, machine = measured(shape, processes)
    if rank == 0:
        os.write(pipe, (" ".join(map(str, [seconds, memory, *machine])) + "\n").encode())
    os._exit(0)


def group(shape, processes):
    """What the first of so many processes measured."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    out, into = os.pipe()
    children = []
    for rank in range(processes):
        pid = os.fork()
        if pid == 0:
            lives(rank, processes, port, shape, into)
        children.append(pid)
    os.close(into)
    with os.fdopen(out) as lines:
        numbers = [float(word) for word in lines.readline().split()]
    for pid in children:
        os.waitpid(pid, 0)
    return numbers


def main():
    """Print a line for each model and number of processes."""
    share = 1.0
    runs = ("calibrate", SMALL, 1), ("small", SMALL, 2), ("large", LARGE, 1), ("large", LARGE, 2)
    for name, shape, processes in runs:
        seconds, memory, peak, copied, exchange = group(shape, processes)
        # An all-reduce of two moves as much as the tensor past each of them.
        machine = Machine(peak, share, copied, exchange)
        cost = step(shape, machine, tokens=ROWS * LENGTH, length=LENGTH, processes=processes, bf16=False)
        if name == "calibrate":
            share = cost.compute / (seconds - cost.optimizer)
            cost = step(shape, Machine(peak, share, copied, exchange), tokens=ROWS * LENGTH, length=LENGTH, bf16=False)
        print(
            f"{name:9} {shape.parameters / 1e6:5.1f}M parameters, {processes} process(es): "
            f"step {cost.seconds:.3f} s predicted, {seconds:.3f} measured ({cost.seconds / seconds:.2f}); "
            f"memory {cost.bytes / 2**20:.0f} MB predicted, {memory / 2**20:.0f} measured ({cost.bytes / memory:.2f}); "
            f"peak {peak / 1e9:.0f} GFLOP/s, share {share:.2f}, exchange {exchange / 1e9:.2f} GB/s",
            flush=True,
        )


if __name__ == "__main__":
    main()
