"""Measure what a smaller model cost and kept, against the run it was made of: size, memory, speed, retention.

    heldout cost runs/imdb-int8 runs/imdb              writes runs/imdb-int8/cost.json; heldout report shows it
    heldout cost runs/imdb-3 runs/imdb runs/imdb-onnx --bf16

The first run is the product, the second the reference, others are measured beside them: models in torch (fp32, with
--bf16 also that), exported ones in onnxruntime. All answer the same examples by turns in one process, after warming
up; peak memory is that of a process of its own. OMP_NUM_THREADS sets the threads of both runtimes. Retention,
agreement, churn, KL and calibration come from the runs' predictions on the sets that both have.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.data.splits import limited
from heldout.errors import Refused
from heldout.eval.report.wording import percent
from heldout.eval.retention import retention
from heldout.eval.run_data import names_of
from heldout.eval.statistics import REPLICATES
from heldout.options import option, positional
from heldout.records import Example, read_card, read_gold
from heldout.runs import environment, holding, read_json, task_options, write_json
from heldout.tasks import load_task
from heldout.train.progress import say

if TYPE_CHECKING:
    from heldout.compress.sides import Asked

#: The file that a run keeps its costs in.
COST = "cost.json"


@dataclass(frozen=True)
class Options:
    """What ``heldout cost`` takes."""

    run: tuple[str, ...] = positional("the product, the reference, then others to measure beside", metavar="RUN")
    data: str | None = option(None, "the set whose texts are answered (default: the first)", metavar="NAME")
    limit: int = option(64, "examples to answer, a sample stratified by label", metavar="N")
    repeats: int = option(3, "passes over the examples for each batch size")
    bf16: bool = option(False, "measure torch's models in bf16 as well")
    speed: bool = option(True, "measure latency, throughput and memory; --no-speed leaves the last ones")
    replicates: int = option(REPLICATES, "bootstrap replicates of retention")
    json: bool = option(False, "print what is written")

    def __post_init__(self) -> None:
        """Refuse numbers that measure nothing."""
        for name in ("limit", "repeats"):
            if getattr(self, name) < 1:
                raise Refused(f"--{name} {getattr(self, name)}: give 1 or more")


def run(options: Options) -> int:
    """Measure, write RUN/cost.json, print it."""
    folders = [Path(word) for word in options.run]
    if len(folders) < 2 or len(set(folders)) < len(folders):
        raise Refused("heldout cost needs the product and the reference it was made of, each run once: RUN REFERENCE")
    asked = _asked(folders, bf16=options.bf16)
    name, examples = _examples(folders[0], options)
    before = read_json(folders[0] / COST) if (folders[0] / COST).exists() else {}
    systems = _measured(asked, folders[0] / "gold" / f"{name}.jsonl", examples, options) if options.speed else None
    found = {
        "reference": str(folders[1]),
        "data": name,
        "examples": len(examples),
        "machine": environment() | {"threads": os.environ.get("OMP_NUM_THREADS") or os.cpu_count()},
        "systems": systems if systems is not None else before.get("systems", []),
        "kept": {
            str(folder): retention(folder, folders[1], replicates=options.replicates)
            for folder in (folders[0], *folders[2:])
        },
    }
    with holding(folders[0]):
        write_json(folders[0] / COST, found)
    print(json.dumps(found, indent=2, ensure_ascii=False) if options.json else show(found))
    return 0


def _asked(folders: Sequence[Path], *, bf16: bool) -> list[Asked]:
    from heldout.compress.sides import Asked, forms

    names = [folder.resolve().name for folder in folders]
    if len(set(names)) < len(names):
        names = [str(folder) for folder in folders]
    sides = [(name, folder, forms(folder, bf16=bf16)) for name, folder in zip(names, folders, strict=True)]
    for folder in folders:
        task_options(folder)
    return [Asked(f"{name} {form}" if len(of) > 1 else name, folder, form) for name, folder, of in sides for form in of]


def _examples(folder: Path, options: Options) -> tuple[str, Sequence[Example]]:
    names = names_of(folder)
    name = options.data or names[0]
    if name not in names:
        raise Refused(f"--data {name}: {folder} has {', '.join(names)}")
    gold = read_gold(folder / "gold" / f"{name}.jsonl", read_card(folder / "card.json"))
    return name, limited(gold, options.limit, seed=0)


def _measured(
    asked: Sequence[Asked], data: Path, examples: Sequence[Example], options: Options
) -> list[dict[str, Any]]:
    """Every system's row: name, folder, what it was made by, sizes, memory, latency, throughput."""
    from heldout.compress.measure import measured
    from heldout.compress.product import NOTES
    from heldout.compress.sides import opened, peak_memory

    sides, rows = [], []
    for one in asked:
        say(f"loading {one.name}")
        side, sizes = opened(one, examples, load_task)
        sides.append(side)
        notes = read_json(one.folder / NOTES) if (one.folder / NOTES).exists() else {}
        rows.append({"name": one.name, "folder": str(one.folder), "what": notes.get("what", ""), **sizes})
    timed = measured(sides, repeats=options.repeats, say=say)
    for one, row in zip(asked, rows, strict=True):
        say(f"peak memory of {one.name}")
        row |= {"peak_memory": peak_memory(one, data)} | timed[one.name]
    return rows


def show(found: dict[str, Any]) -> str:
    """The costs as a table for the terminal, and below what was kept of each set."""
    lines = [f"{found['examples']} examples of {found['data']}, {found['machine']['threads']} threads", ""]
    heads = ("system", "runtime", "parameters", "MB", "peak MB", "ms at batch 1", "examples/s (batch)")
    table = [heads, *(_cells(row) for row in found["systems"])]
    widths = [max(len(row[column]) for row in table) for column in range(len(heads))]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    for folder, sets in found["kept"].items():
        lines += ["", f"{folder} keeps of {found['reference']}:"]
        lines += [f"  {_kept(name, block)}" for name, block in sets.items()]
    return "\n".join(lines)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    speed = row["throughput"]
    return (
        row["name"],
        row["runtime"],
        f"{row['parameters']:,}" if row["parameters"] else "?",
        f"{row['bytes'] / 1e6:.1f}",
        f"{row['peak_memory'] / 1e6:.0f}",
        f"{row['latency']['seconds'][1] * 1000:.1f}",
        f"{speed['examples_a_second'][1]:.1f} ({speed['batch']})",
    )


def _kept(name: str, block: dict[str, Any]) -> str:
    whole = block["slices"][""]
    within = "" if whole["low"] is None else f" ({percent(whole['low'])} to {percent(whole['high'])})"
    churn = block["churn"]
    value = "no" if whole["value"] is None else percent(whole["value"])
    return (
        f"{name}: {value}{within} of {block['metric']}; {percent(block['agreement'], 2)} of answers agree, "
        f"{churn['right_to_wrong']} turned wrong and {churn['wrong_to_right']} right"
    )
