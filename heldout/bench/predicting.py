"""`heldout bench predict`: a run's own prediction beside transformers' pipeline and onnxruntime, on the same examples.

Every side answers the same block of examples in a round, from text to labels: tokenising and decoding are in the time.
"""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from heldout.bench.figures import beside, spread
from heldout.bench.flops import Costs, part_done
from heldout.bench.result import Result, done_less, mega, share, short
from heldout.bench.turns import Block, Side, opened, rounds
from heldout.compress.quantise import How
from heldout.data.prepare import load
from heldout.errors import Failed, Refused
from heldout.eval.columns import aligned
from heldout.records import read_card
from heldout.runs import task_options, write_lines
from heldout.tasks import load_task

LIMITS = ("matmul fp32", "matmul bf16")
#: The ways of int8 that are measured; the rows of dev that ranges are found on.
HOWS: tuple[How, ...] = ("rows", "dynamic", "blocks")
CALIBRATED_ON = 100
#: The reference of agreement.
FP32 = "ours fp32"


def bench_predict(options: Any, *, bf16: bool, say: Callable[[str], None]) -> list[Result]:
    """Ours in fp32 and, where the run would answer in it, bf16; the pipeline; onnxruntime in fp32 and int8."""
    run = Path(options.model)
    if not (run / "model").is_dir():
        raise Refused(f"--model {run}: holds no model/; give a run of heldout finetune")
    made, card = task_options(run), read_card(run / "card.json")
    if options.task and options.task != made["task"]:
        raise Refused(f"--task {options.task}: {run} does {made['task']}; leave --task out")
    loaded = load(made["task"], options.data, options, labels=[*card.labels, *card.collapse.values()], limit=None)
    examples = loaded.examples[: options.limit or len(loaded.examples)]
    size = min(options.examples, len(examples))
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="heldout-bench-")))
        write_lines(work / "data.jsonl", (example.to_json() for example in examples))
        shared = {"work": "predict", "run": str(run), "data": str(work / "data.jsonl")}
        specs = {"ours bf16": {**shared, "form": "bf16"}} if bf16 else {}
        specs |= {FP32: {**shared, "form": "fp32"}}
        if card.kind == "label":
            specs["pipeline"] = {**shared, "form": "pipeline", "batch": options.pipeline_batch}
        for name, folder in _exported(options, run, work, say).items():
            specs[name] = {**shared, "form": "onnx", "onnx": str(folder)}
        limits = {name: {"work": "matmul", "precision": name.split()[1]} for name in LIMITS}
        sides = stack.enter_context(opened({**limits, **specs}, work, say))
        for name in specs:
            sides[name].block(min(size, 16))
        steps = {name: size if name in specs else 1 for name in sides}
        found = rounds(list(sides.values()), steps=steps, blocks=options.blocks, say=say)
        peaks = {name: spread([one[name]["flops_a_second"] for one in found]) for name in LIMITS}
        rows = {name: _measured(sides[name], found, sides[FP32], peaks) for name in specs}
    figures = beside(rows, "examples", {"agreement": "agreement"})
    arguments = {
        "task": made["task"],
        "model": short(run),
        "data": short(options.data),
        "hash": loaded.hash[:16],
        "examples": size,
        "blocks": options.blocks,
        "max_length": made["max_length"],
        "pipeline_batch": options.pipeline_batch,
        "long": made.get("long", "head"),
    }
    details = {"sides": rows, "limits": peaks}
    return [Result("predict", arguments, figures, details, _text(rows, peaks, arguments))]


def _exported(options: Any, run: Path, work: Path, say: Callable[[str], None]) -> dict[str, Path]:
    """The folders of exported models by name: those of --onnx, else made of the run, in fp32 and int8."""
    if options.onnx:
        given = [Path(folder) for folder in options.onnx]
        for folder in given:
            if not (folder / "onnx").is_dir():
                raise Refused(f"--onnx {folder}: holds no onnx/; heldout compress {run} --onnx --out {folder} makes it")
        return {f"onnx {folder.name}": folder / "onnx" for folder in given}
    if not options.export:
        return {}
    from heldout.compress.export import write_onnx
    from heldout.compress.exported import calibration_of, rows_of
    from heldout.compress.product import open_origin
    from heldout.compress.quantise import layers, quantise

    say("exporting to ONNX (a minute)")
    whole = work / "fp32"
    origin = open_origin(run, load_task)
    system = origin.system()
    path = write_onnx(system, whole)
    calibration = calibration_of(system, rows_of(origin, system, CALIBRATED_ON, say), CALIBRATED_ON)
    found = {"onnx fp32": whole}
    for how in HOWS:
        folder = work / how
        shutil.copytree(whole, folder, ignore=lambda _, names: [name for name in names if ".onnx" in name])
        quantise(path, folder / "model-int8.onnx", only=list(layers(path).values()), how=how, calibration=calibration)
        found[f"onnx int8 {how}"] = folder
    return found


def _measured(side: Side, found: Sequence[Mapping[str, Block]], reference: Side, peaks: Mapping[str, Any]) -> Any:
    blocks = [one[side.name] for one in found]
    right = [one[reference.name] for one in found]
    for block, other in zip(blocks, right, strict=True):
        if block["ids"] != other["ids"] or len(block["answers"]) != len(other["answers"]):
            raise Failed(f"{side.name} answered other examples than {reference.name}; their speeds cannot be compared")
    pairs = [pair for a, b in zip(blocks, right, strict=True) for pair in zip(a["answers"], b["answers"], strict=True)]
    costs, precision = Costs(**reference.facts["costs"]), side.facts["precision"]
    flops = [costs.forward(b["lengths"]) / a["seconds"] for a, b in zip(blocks, right, strict=True)]
    peak = peaks.get(f"matmul {precision}")
    return {
        "precision": precision,
        "examples_a_second": spread([len(block["ids"]) / block["seconds"] for block in blocks]),
        "agreement": sum(a == b for a, b in pairs) / len(pairs),
        "compared": len(pairs),
        "share_of_peak": spread(flops)["median"] / peak["median"] if peak else None,
        "done": part_done(side.facts, [length for block in right for length in block["lengths"]]),
        "peak_memory": side.peak_memory(),
        "arguments": side.facts["arguments"],
    }


def _text(rows: Mapping[str, Any], peaks: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    table = [["", "examples/s", "quartiles", "ours is", "", "agrees with fp32", "of the matmul peak", "peak MB"]]
    for name, row in rows.items():
        rate, beside = row["examples_a_second"], row["ours_is"]
        low, high = rate["quartiles"]
        times = (
            [f"{beside['median']:.2f} times", f"{beside['low']:.2f} to {beside['high']:.2f}"] if beside else ["", ""]
        )
        peak = "" if row["share_of_peak"] is None else share(row["share_of_peak"])
        cells = [name, f"{rate['median']:,.1f}", f"{low:,.1f} to {high:,.1f}", *times]
        table.append([*cells, share(row["agreement"], 1), peak, mega(row["peak_memory"])])
    some = next(iter(rows.values()))
    limits = ", ".join(f"{name} {peaks[name]['median'] / 1e9:,.0f}" for name in LIMITS)
    lines = aligned(table, right={1, 5, 6, 7})
    lines += ["", f"{arguments['blocks']} rounds of {arguments['examples']} examples, from text to labels; the ratio's"]
    lines[-1] += f" interval is between rounds. {some['compared']} answers compared."
    lines += [f"Peak of matrix multiplication in this run, GFLOP/s: {limits}."]
    lines += done_less(rows)
    if arguments["long"] != "head" and "pipeline" in rows:
        lines += [f"The run reads the {arguments['long']} of a long text, the pipeline its head: answers may differ."]
    said = {name: row["arguments"] for name, row in rows.items() if row["arguments"]}
    lines += [f"{name}: {', '.join(f'{key}={value!r}' for key, value in of.items())}" for name, of in said.items()]
    return "\n".join(lines)
