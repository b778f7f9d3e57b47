"""Training speed: our loop and the peers take turns at blocks of optimizer steps, with the machine's limit between."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.bench.figures import beside, spread
from heldout.bench.flops import TRAINING, Costs, part_done
from heldout.bench.result import Result, done_less, mega, share
from heldout.bench.turns import Block, Side, opened, rounds
from heldout.errors import Failed
from heldout.eval.columns import aligned

#: Steps of each side before anything is timed.
WARM = 2
LIMITS = ("matmul fp32", "matmul bf16")


def total_steps(steps: int, blocks: int) -> int:
    """The optimizer steps of a side, those that warm it up included."""
    return WARM + steps * blocks


def epochs_for(total: int, rows: int, batch_size: int) -> int:
    """The passes over train that hold so many steps."""
    return max(1, math.ceil(total / math.ceil(rows / batch_size)))


def speed(
    specs: Mapping[str, Mapping[str, Any]],
    *,
    steps: int,
    blocks: int,
    arguments: Mapping[str, Any],
    logs: Path,
    say: Callable[[str], None],
) -> Result:
    """Blocks of ``steps`` optimizer steps by turns, ``blocks`` of each side; the first of ``specs`` is ours."""
    limits = {name: {"work": "matmul", "precision": name.split()[1]} for name in LIMITS}
    with opened({**limits, **specs}, logs, say) as sides:
        trained = [sides[name] for name in specs]
        for side in trained:
            check(side, side.block(WARM), WARM, arguments)
        size = {name: steps if name in specs else 1 for name in sides}
        found = rounds(list(sides.values()), steps=size, blocks=blocks, say=say)
        for one in found:
            for side in trained:
                check(side, one[side.name], steps, arguments)
        peaks = {name: spread([one[name]["flops_a_second"] for one in found]) for name in LIMITS}
        rows = {side.name: _measured(side, [one[side.name] for one in found], peaks) for side in trained}
    figures = beside(rows, "tokens", {"share of peak": "share_of_peak"})
    text = _text(rows, peaks, steps, arguments)
    return Result("train speed", arguments, figures, {"sides": rows, "limits": peaks}, text)


def check(side: Side, block: Block, steps: int, arguments: Mapping[str, Any]) -> None:
    """Failed where a side did less than it was asked: fewer steps, or steps of fewer rows than a batch."""
    # An example may be several rows, and the last step of an epoch may be a partial one.
    least = (steps - 1) * int(arguments["batch_size"]) + 1
    if block["steps"] != steps or block["rows"] < least:
        raise Failed(
            f"{side.name} took {block['steps']} steps over {block['rows']} rows where {steps} steps of "
            f"{arguments['batch_size']} examples were asked for; its speed would be that of less work"
        )


def _measured(side: Side, blocks: Sequence[Block], peaks: Mapping[str, Any]) -> dict[str, Any]:
    costs, precision = Costs(**side.facts["costs"]), side.facts["precision"]
    flops = [TRAINING * costs.forward(block["lengths"]) / block["seconds"] for block in blocks]
    peak = peaks[f"matmul {precision}"]["median"]
    return {
        "precision": precision,
        "tokens_a_second": spread([block["tokens"] / block["seconds"] for block in blocks]),
        "flops_a_second": spread(flops),
        "share_of_peak": spread(flops)["median"] / peak,
        "done": part_done(side.facts, [length for block in blocks for length in block["lengths"]]),
        "peak_memory": side.peak_memory(),
        "seconds": sum(block["seconds"] for block in blocks),
        "steps": sum(block["steps"] for block in blocks),
        "rows": sum(block["rows"] for block in blocks),
        "tokens": sum(block["tokens"] for block in blocks),
        "parameters": side.facts["parameters"],
        "arguments": side.facts["arguments"],
    }


def _text(
    rows: Mapping[str, Mapping[str, Any]], peaks: Mapping[str, Any], steps: int, arguments: Mapping[str, Any]
) -> str:
    heads = ["", "precision", "real tokens/s", "quartiles", "ours is", "", "of the matmul peak", "peak MB"]
    table = [heads]
    for name, row in rows.items():
        tokens, beside = row["tokens_a_second"], row["ours_is"]
        low, high = tokens["quartiles"]
        within = f"{beside['low']:.2f} to {beside['high']:.2f}" if beside else ""
        times = f"{beside['median']:.2f} times" if beside else ""
        rate = f"{tokens['median']:,.0f}"
        cells = [name, row["precision"], rate, f"{low:,.0f} to {high:,.0f}", times, within]
        table.append([*cells, share(row["share_of_peak"]), mega(row["peak_memory"])])
    some = next(iter(rows.values()))
    beside = next((row["ours_is"] for row in rows.values() if row["ours_is"]), None)
    lines = aligned(table, right={2, 4, 6, 7})
    limits = ", ".join(f"{name} {peaks[name]['median'] / 1e9:,.0f}" for name in LIMITS)
    lines += ["", f"Peak of matrix multiplication in this run, GFLOP/s: {limits}."]
    lines += [
        f"{some['steps']} steps of {arguments['batch_size']} rows of each side, in blocks of {steps} that take turns, "
        f"of {arguments.get('rows', 0):,} rows."
    ]
    lines += done_less(rows)
    if beside:
        lines += [
            f"Ours is the median of the ratios of {beside['rounds']} rounds, then the interval that holds that median "
            f"with {share(beside['coverage'], 1)}."
        ]
    return "\n".join(lines + [_said(name, row) for name, row in rows.items()])


def _said(name: str, row: Mapping[str, Any]) -> str:
    what = "options" if name == "ours" else "TrainingArguments, the others by default"
    return f"{name}: {', '.join(f'{key}={value!r}' for key, value in row['arguments'].items())} ({what})"
