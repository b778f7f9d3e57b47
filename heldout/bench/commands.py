"""Commands as people call them, timed from outside: `heldout bench score`, `report` and `start`."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from heldout.bench.figures import spread
from heldout.bench.result import Result, mega, short
from heldout.errors import Failed, Refused
from heldout.eval.columns import aligned
from heldout.runs import write_json, write_lines

METRICS = ("accuracy", "macro_f1", "mcc", "nll", "brier", "ece", "ece_mass", "aurc")
FILLER = ["the", "film", "a", "plot", "with", "and", "but", "its", "actor", "was", "is", "very", "good", "bad", "not"]
#: Seconds between two looks at a running command.
LOOK = 0.01
HELDOUT = (sys.executable, "-m", "heldout")


@dataclass(frozen=True)
class Ran:
    """What a command took: wall and CPU seconds, peak memory in bytes."""

    wall: float
    cpu: float
    peak_memory: int


def ran(words: Sequence[str], folder: Path, enough: Callable[[], bool] = lambda: False) -> Ran:
    """Run a command to its end, or until ``enough``, and measure it; Failed where it fails.

    The peak is VmHWM, seen last before the end: getrusage's begins with the size of the process that starts it.
    """
    log = folder / "said.log"
    started, peak = time.perf_counter(), 0
    with log.open("wb") as said:
        process = subprocess.Popen(words, stdout=said, stderr=said)
    while True:
        peak = max(peak, _peak_of(process.pid))
        came, status, used = os.wait4(process.pid, os.WNOHANG)
        wall = time.perf_counter() - started
        if came or enough():
            break
        time.sleep(LOOK)
    if not came:
        process.kill()
        _, _, used = os.wait4(process.pid, 0)
    # Popen need not ask again for a process that was waited for here.
    process.returncode = 0
    if came and status:
        last = (log.read_text(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
        raise Failed(f"{' '.join(words[2:4])} failed: {last[:300]}")
    return Ran(wall, used.ru_utime + used.ru_stime, peak)


def _peak_of(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def bench_score(options: Any, *, say: Callable[[str], None]) -> list[Result]:
    """`heldout score` on made-up predictions of two labels: reading, slices, every metric, intervals of all."""
    with tempfile.TemporaryDirectory(prefix="heldout-bench-") as name:
        folder = Path(name)
        made_up(folder, options.rows, options.words)
        call = [*HELDOUT, "score", "--card", str(folder / "card.json"), "--json"]
        for kind in ("gold", "predictions"):
            call += [f"--{kind}", str(folder / f"{kind}.jsonl")]
        call += ["--replicates", str(options.replicates)]
        say(f"scoring {options.rows:,} predictions with {options.replicates:,} replicates")
        took = ran(call, folder)
    arguments = {"rows": options.rows, "replicates": options.replicates, "words": options.words}
    figures = {"seconds": took.wall, "CPU seconds": took.cpu, "peak memory": took.peak_memory}
    figures |= {"rows/s": options.rows / took.wall}
    table = [
        ["predictions", f"{options.rows:,} of about {options.words} words, {len(METRICS)} metrics"],
        ["replicates", f"{options.replicates:,}"],
        ["wall", f"{took.wall:.1f} s, {options.rows / took.wall:,.0f} rows a second"],
        ["CPU", f"{took.cpu:.1f} s"],
        ["peak memory", f"{mega(took.peak_memory)} MB"],
    ]
    return [Result("score", arguments, figures, {}, "\n".join(aligned(table)))]


def made_up(folder: Path, rows: int, words: int) -> None:
    """Card, gold and predictions of so many texts of about so many words, four in five answered right."""
    generator = random.Random(0)
    labels = ["negative", "positive"]
    card = {"name": "made up", "version": "1", "kind": "label", "labels": labels, "metrics": list(METRICS)}
    write_json(folder / "card.json", card | {"slices": ["negation", "length", "overlap"]})
    gold, said = [], []
    for row in range(rows):
        text = " ".join(generator.choices(FILLER, k=generator.randrange(words // 2, words * 3 // 2)))
        p = generator.betavariate(2, 0.7)
        label = labels[row % 2]
        scores = [p, 1 - p] if (label == "negative") == (generator.random() < p) else [1 - p, p]
        seen = {"tokens": words, "lost": int(row % 10 == 0)}
        gold.append({"id": str(row), "text": {"text": text}, "gold": label})
        said.append({"id": str(row), "answer": labels[scores[1] > scores[0]], "scores": scores, "seen": seen})
    write_lines(folder / "gold.jsonl", gold)
    write_lines(folder / "predictions.jsonl", said)


def bench_report(options: Any, *, say: Callable[[str], None]) -> list[Result]:
    """`heldout report` of a copy of a run: how long, and how large the page is."""
    run = Path(options.model)
    if not (run / "card.json").exists():
        raise Refused(f"--model {run}: holds no card.json; give a run folder of heldout")
    with tempfile.TemporaryDirectory(prefix="heldout-bench-") as name:
        # A copy, since a report writes the run's model card anew; weights are not read.
        copy, page = Path(name) / run.resolve().name, Path(name) / "page.html"
        shutil.copytree(run, copy, ignore=shutil.ignore_patterns("checkpoints", "cache", "model", "*.safetensors"))
        say(f"reporting {run}")
        took = ran([*HELDOUT, "report", str(copy), "--out", str(page)], Path(name))
        size = page.stat().st_size
    figures = {"seconds": took.wall, "CPU seconds": took.cpu, "page bytes": size, "peak memory": took.peak_memory}
    table = [
        ["wall", f"{took.wall:.1f} s"],
        ["CPU", f"{took.cpu:.1f} s"],
        ["page", f"{size / 1e6:.2f} MB"],
        ["peak memory", f"{mega(took.peak_memory)} MB"],
    ]
    return [Result("report", {"model": short(run)}, figures, {}, "\n".join(aligned(table)))]


def bench_start(options: Any, *, say: Callable[[str], None]) -> list[Result]:
    """`heldout --help` beside bare python by turns; and, where a task is given, finetune up to its first step."""
    with tempfile.TemporaryDirectory(prefix="heldout-bench-") as name:
        folder = Path(name)
        calls = {"python": [sys.executable, "-c", "pass"], "heldout --help": [*HELDOUT, "--help"]}
        seconds: dict[str, list[float]] = {called: [] for called in calls}
        for number in range(options.blocks + 1):
            for called, words in calls.items() if number % 2 else reversed(calls.items()):
                took = _seconds(words, folder)
                # The first round reads files from the disk that later ones find in memory.
                seconds[called] += [took] if number else []
        figures = {f"{called} seconds": spread(values)["median"] for called, values in seconds.items()}
        over = spread([b - a for a, b in zip(*seconds.values(), strict=True)])
        figures["help over python seconds"] = over["median"]
        table = [[called, f"{figures[f'{called} seconds']:.3f} s"] for called in calls]
        low, high = over["quartiles"]
        table += [["over bare python", f"{over['median']:.3f} s, quartiles {low:.3f} to {high:.3f}"]]
        if options.task:
            first = _first_step(options, folder, say)
            figures["finetune to first step seconds"] = first
            table += [["finetune, tokens cached, to its first step", f"{first:.1f} s"]]
    names = ("task", "train", "model", "limit", "batch_size", "max_length")
    arguments = {name: short(getattr(options, name)) for name in names} | {"blocks": options.blocks}
    return [Result("start", arguments, figures, {"seconds": seconds}, "\n".join(aligned(table)))]


def _seconds(words: Sequence[str], folder: Path) -> float:
    """Wall seconds of a short command: waited for, since looks in between would add up to LOOK."""
    started = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        raise Failed(f"{' '.join(words[1:])} failed: {done.stderr.strip()[-300:]}")
    return time.perf_counter() - started


def _first_step(options: Any, folder: Path, say: Callable[[str], None]) -> float:
    """Seconds from the call to the first line of losses.jsonl, of a second run on the same data."""
    if not (options.train and options.model):
        raise Refused("heldout bench start --task … needs --train SOURCE and --model MODEL as well")
    call = [*HELDOUT, "finetune", options.task, "--model", options.model, "--baseline", "none"]
    call += ["--batch-size", str(options.batch_size), "--max-length", str(options.max_length)]
    for word, values in (("train", options.train), ("label", options.label), ("column", options.column)):
        call += [part for value in values for part in (f"--{word}", value)]
    call += ["--limit", str(options.limit)] if options.limit else []
    wall = 0.0
    for again in ("first", "second"):
        say(f"finetune to its first step, the {again} time")
        out = folder / again
        wall = ran([*call, "--out", str(out)], folder, partial(_begun, out)).wall
        if not _begun(out):
            raise Failed("finetune ended without taking a step; this is a fault of ours, report it")
    return wall


def _begun(out: Path) -> bool:
    path = out / "losses.jsonl"
    try:
        return bool(json.loads(path.read_text().splitlines()[0]))
    except (OSError, IndexError, json.JSONDecodeError):
        return False
