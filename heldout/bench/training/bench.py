"""`heldout bench train`: the data read once for all sides, then speed, quality, or both."""

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from heldout.bench.result import Result, short
from heldout.bench.training.quality import quality
from heldout.bench.training.speed import epochs_for, speed, total_steps
from heldout.bench.training.work import fit_options, write_data
from heldout.data.prepare import Prepared, prepare
from heldout.data.splits import limited
from heldout.errors import Refused
from heldout.options import flag, nearest
from heldout.runs import read_json, write_json

PEERS = ("trainer", "trainer-tuned")
OURS = "ours"
#: What only we can do would set two different things beside each other.
OURS_ALONE = {"long": "head", "only": "", "freeze": False}
#: The speed part takes so many times the rows that its steps read: Trainer sorts by length within groups of a quarter
#: of the rows (of 50 steps at most), longest first, so the steps that are timed are one whole group, of every length.
GROUPS = 4
#: What was measured, written where a quality part can be continued.
BENCH = "bench.json"
#: Options that change what is measured, beside those of fine-tuning.
TOLD = (
    "task",
    "train",
    "dev",
    "model",
    "limit",
    "dev_size",
    "batch_size",
    "max_length",
    "learning_rate",
    "warmup",
    "weight_decay",
    "precision",
)


def bench_train(
    options: Any, *, parts: Sequence[str], seeds: Sequence[int], replicates: int, say: Callable[[str], None]
) -> list[Result]:
    """The results of the parts that are asked for; ``options`` are those of the command (scripts/bench.py)."""
    for peer in options.peer:
        if peer not in PEERS:
            raise Refused(f"--peer {peer}: the peers are {', '.join(PEERS)}{nearest(peer, PEERS)}")
    peers = tuple(dict.fromkeys(options.peer or PEERS))
    for name, value in OURS_ALONE.items():
        if getattr(options, name) != value:
            raise Refused(f"{flag(name)}: the examples of transformers have no such thing; leave it out")
    if "quality" in parts and options.max_steps:
        raise Refused("--max-steps: the quality part takes whole epochs, so that all rows are the same; use --limit")
    data = prepare(options.task, train=options.train, dev=options.dev, tests={}, options=options, seed=options.seed)
    with ExitStack() as stack:
        out = options.out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="heldout-bench-")))
        told = {name: short(getattr(options, name)) for name in TOLD} | {
            "attention_dropout": options.attention_dropout,
            "data": [data.splits[name].hash[:16] for name in ("train", "dev")],
            "peers": list(peers),
        }
        found = []
        if "speed" in parts:
            found.append(_speed(options, data, peers, out, told, say))
        if "quality" in parts:
            found.append(_quality(options, data, peers, out, told, seeds, replicates, say))
        return found


def _speed(
    options: Any,
    data: Prepared,
    peers: Sequence[str],
    out: Path,
    told: Mapping[str, Any],
    say: Callable[[str], None],
) -> Result:
    total = total_steps(options.steps, options.blocks)
    train = limited(data.splits["train"].examples, GROUPS * total * options.batch_size, seed=options.seed)
    folder, logs = out / "speed", out / "logs"
    write_data(data, folder, train)
    logs.mkdir(exist_ok=True)
    epochs = epochs_for(total, len(train), options.batch_size)
    fit = fit_options(options, epochs=epochs, max_steps=total)
    specs = _specs(options, peers, folder, fit, total)
    arguments = {**told, "steps": options.steps, "blocks": options.blocks, "seed": options.seed, "rows": len(train)}
    return speed(specs, steps=options.steps, blocks=options.blocks, arguments=arguments, logs=logs, say=say)


def _quality(
    options: Any,
    data: Prepared,
    peers: Sequence[str],
    out: Path,
    told: Mapping[str, Any],
    seeds: Sequence[int],
    replicates: int,
    say: Callable[[str], None],
) -> Result:
    folder, arguments = out / "data", {**told, "epochs": options.epochs, "seeds": list(seeds)}
    # Whatever a side trains by must be the same for its seeds that are done and those that are not.
    asked = {**{name: short(value) for name, value in fit_options(options).items()}, **arguments}
    before = read_json(out / BENCH) if (out / BENCH).exists() else asked
    changed = [name for name, value in asked.items() if before.get(name) != value]
    if changed:
        raise Refused(
            f"{out}: was begun with {changed[0]} {before.get(changed[0])}, not {asked[changed[0]]}; take another --out"
        )
    write_json(out / BENCH, asked)
    write_data(data, folder)
    steps = options.epochs * math.ceil(len(data.splits["train"].examples) / options.batch_size)
    specs = _specs(options, peers, folder, fit_options(options), steps)
    return quality(specs, seeds=seeds, arguments=arguments, out=out, replicates=replicates, say=say)


def _specs(
    options: Any, peers: Sequence[str], folder: Path, fit: Mapping[str, Any], steps: int
) -> dict[str, dict[str, Any]]:
    shared = {"task": options.task, "data": str(folder), "options": dict(fit), "seed": options.seed, "steps": steps}
    ours = {"work": "ours", "side": OURS, **shared}
    return {OURS: ours} | {peer: {"work": "trainer", "side": peer, **shared} for peer in peers}
