"""`heldout bench pretrain`: masked tokens over packed rows, by the loop of heldout pretrain, beside the matmul peak."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from heldout.bench.child import Channel, timed
from heldout.bench.figures import spread
from heldout.bench.flops import TRAINING, Costs
from heldout.bench.result import Result, mega, number, share, short
from heldout.bench.turns import opened, rounds
from heldout.data.corpus import CorpusOptions
from heldout.eval.columns import aligned

SIDE, LIMITS = "pretrain", ("matmul fp32", "matmul bf16")
#: Steps before anything is timed.
WARM = 2


def bench_pretrain(options: Any, *, say: Callable[[str], None]) -> list[Result]:
    """Blocks of optimizer steps between blocks of multiplications; the options are those of heldout pretrain."""
    from heldout.pretrain.options import PretrainOptions

    given = [field.name for field in fields(CorpusOptions)] + ["trust_remote_code", "precision", "attention_dropout"]
    asked = {name: getattr(options, name) for name in given} | {
        "corpus": list(options.corpus),
        "tokenizer": options.tokenizer or None,
        "model": options.model or None,
        "preset": None if options.model else options.preset,
        "max_length": options.length,
        "batch_size": options.batch_size,
        "token_budget": options.token_budget,
        "pack": True,
        "max_steps": WARM + options.steps * options.blocks,
    }
    # Refused here, not in the child, where they go not together.
    PretrainOptions(**asked)
    arguments = {name: short(value) for name, value in asked.items()} | {"steps": options.steps, "seed": options.seed}
    with tempfile.TemporaryDirectory(prefix="heldout-bench-") as work:
        spec = {"work": "pretrain", "options": asked, "seed": options.seed, "folder": work}
        limits = {name: {"work": "matmul", "precision": name.split()[1]} for name in LIMITS}
        with opened({**limits, SIDE: spec}, Path(work), say) as sides:
            sides[SIDE].block(WARM)
            size = {name: options.steps if name == SIDE else 1 for name in sides}
            found = rounds(list(sides.values()), steps=size, blocks=options.blocks, say=say)
            side, memory = sides[SIDE].facts, sides[SIDE].peak_memory()
    blocks = [one[SIDE] for one in found]
    costs, precision = Costs(**side["costs"]), side["precision"]
    flops = [TRAINING * costs.forward(block["lengths"], block["chosen"]) / block["seconds"] for block in blocks]
    peaks = {name: spread([one[name]["flops_a_second"] for one in found]) for name in LIMITS}
    row = {
        "precision": precision,
        "tokens_a_second": spread([sum(block["lengths"]) / block["seconds"] for block in blocks]),
        "padding": 1 - sum(sum(block["lengths"]) for block in blocks) / sum(block["padded"] for block in blocks),
        "share_of_peak": spread(flops)["median"] / peaks[f"matmul {precision}"]["median"],
        "peak_memory": memory,
        "parameters": side["parameters"],
    }
    figures = {
        "tokens/s": row["tokens_a_second"]["median"],
        "share of peak": row["share_of_peak"],
        "padding": row["padding"],
        "peak memory": memory,
    }
    return [Result("pretrain", arguments, figures, {"side": row, "limits": peaks}, _text(row, peaks, arguments))]


def _text(row: Mapping[str, Any], peaks: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    low, high = row["tokens_a_second"]["quartiles"]
    peak = peaks[f"matmul {row['precision']}"]["median"]
    table = [
        ["parameters", f"{row['parameters']:,}"],
        ["precision", row["precision"]],
        ["tokens a second", f"{row['tokens_a_second']['median']:,.0f}, quartiles {low:,.0f} to {high:,.0f}"],
        ["padding", share(row["padding"], 1)],
        ["share of the matmul peak", f"{share(row['share_of_peak'])} of {number(peak / 1e9)} GFLOP/s"],
        ["peak memory", f"{mega(row['peak_memory'])} MB"],
    ]
    said = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if value not in ([], None))
    return "\n".join([*aligned(table), "", f"Masked tokens, rows packed. {said}"])


def work(spec: Mapping[str, Any], channel: Channel) -> None:
    """The child: pretraining's own material, model, plan and loop."""
    from heldout.bench.flops import costs
    from heldout.pretrain.material import prepare
    from heldout.pretrain.options import PretrainOptions
    from heldout.pretrain.pretrain import Job, ready, untrained
    from heldout.train.loop import train
    from heldout.train.precision import make_accelerator, resolve
    from heldout.train.windows import by_budget

    asked: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in spec["options"].items()
    }
    options = PretrainOptions(**asked)
    precision, _ = resolve(options.precision)
    accelerator = make_accelerator(precision)
    job = Job(Path(spec["folder"]), options, spec["seed"], "")
    material = prepare(options, job.seed, job.folder, accelerator)
    raw = untrained(job, material)
    made = ready(job, material, raw, accelerator)
    steps = train(made.model, made.optimizer, made.plan, made.recipe, accelerator)
    channel.say({"precision": precision, "costs": asdict(costs(raw)), "parameters": raw.num_parameters()})
    for places, seconds in timed(channel, steps):
        taken = [made.recipe.windows(step) for step in made.plan[places]]
        lengths = [[len(window) for window in windows] for windows in taken]
        padded = sum(_padded(of, by_budget(of, options.token_budget)) for of in lengths)
        chosen = sum(len(window.target.at) for windows in taken for window in windows)
        flat = [length for of in lengths for length in of]
        channel.say({"seconds": seconds, "lengths": flat, "padded": padded, "chosen": chosen})


def _padded(lengths: Sequence[int], batches: Sequence[Sequence[int]]) -> int:
    """The tokens that are computed, padding included."""
    return sum(len(batch) * max(lengths[row] for row in batch) for batch in batches)
