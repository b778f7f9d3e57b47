"""Measure heldout beside what people would use instead, in one run on one machine: training speed and quality, …

    heldout bench train --task sentiment --train imdb/train.jsonl.gz --limit 4000 --model MINILM --max-length 256
    heldout bench train --task nli --train snli.tsv --model MINILM --part quality --seeds 1,2,3 --out bench-snli

train     our loop and transformers' Trainer (as its examples run it, and tuned) with the same model, rows, batch size,
          steps and seed. Speed: blocks of steps take turns, each side in a process of its own, with plain matrix
          multiplications between: real tokens a second, share of the peak, peak memory. Quality: whole trainings over
          --seeds, then the paired difference on dev; what is done is kept in --out, and the same command goes on.

--json FILE writes everything with machine, versions and command; --keep FILE puts it among those kept there; --against
FILE prints each figure over the one kept there (a regression check). OMP_NUM_THREADS sets the threads of all sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from heldout.bench.result import Result, against, keep, where
from heldout.bench.training.bench import bench_train
from heldout.data import task_names
from heldout.data.prepare import PrepareOptions
from heldout.errors import Refused
from heldout.eval.statistics import REPLICATES
from heldout.options import flag, option, positional
from heldout.runs import write_json
from heldout.train.engine import check
from heldout.train.finetune import ReadOptions
from heldout.train.progress import say

ACTIONS = ("train",)


@dataclass(frozen=True)
class Options(PrepareOptions, ReadOptions):
    """What ``heldout bench`` takes."""

    action: Literal["train"] = positional(f"what to measure: {', '.join(ACTIONS)}", metavar="ACTION")
    task: str = option("", f"train: {', '.join(task_names())}")
    train: tuple[str, ...] = option((), "train: the labelled examples; again for more", metavar="SOURCE")
    dev: str | None = option(None, "train: what quality is measured on; carved from train where not given")
    model: str = option("", "train: the encoder, a folder or a hub id")
    peer: tuple[str, ...] = option((), "train: trainer or trainer-tuned; again for more (default: both)")
    part: Literal["both", "speed", "quality"] = option("both", "train: what to measure")
    steps: int = option(4, "train: optimizer steps of a block")
    blocks: int = option(8, "blocks of each side")
    seeds: str = option("1,2,3", "train: seeds of the quality part", metavar="1,2,3")
    seed: int = option(1, "draws samples and dev, and the speed part's order and head")
    replicates: int = option(REPLICATES, "bootstrap replicates")
    out: Path | None = option(None, "train: a folder that keeps the seeds that are done", metavar="DIR")
    json: Path | None = option(None, "write everything as JSON", metavar="FILE")
    keep: Path | None = option(None, "put the result among those of a file, such as docs/bench/last.json")
    against: Path | None = option(None, "print the ratio of each figure to the one kept in a file", metavar="FILE")

    def __post_init__(self) -> None:
        """Refuse numbers that measure nothing, before any work."""
        super().__post_init__()
        for name in ("steps", "blocks", "replicates"):
            check(name, getattr(self, name), getattr(self, name) >= 1, "1 or more")


def run(options: Options) -> int:
    """Measure, print the tables, write what was asked for."""
    results = _measured(options)
    for result in results:
        print(f"{result.kind}\n\n{result.text}\n")
        if options.against:
            print(f"{against(options.against, result)}\n")
    print(where())
    if options.json:
        write_json(options.json, {"benches": [result.to_json() for result in results]})
    if options.keep:
        keep(options.keep, results)
    return 0


def _measured(options: Options) -> Sequence[Result]:
    return {"train": _train}[options.action](options)


def _train(options: Options) -> Sequence[Result]:
    _needs(options, "task", "train", "model")
    parts = ("speed", "quality") if options.part == "both" else (options.part,)
    seeds = whole_numbers(options.seeds)
    return bench_train(options, parts=parts, seeds=seeds, replicates=options.replicates, say=say)


def _needs(options: Options, *names: str) -> None:
    for name in names:
        if not getattr(options, name):
            raise Refused(f"heldout bench {options.action} needs {flag(name)}; heldout bench --help tells what it is")


def whole_numbers(text: str) -> list[int]:
    """The seeds of a list with commas, each once."""
    try:
        found = list(dict.fromkeys(int(part) for part in text.split(",") if part.strip()))
    except ValueError:
        found = []
    if not found:
        raise Refused(f"--seeds {text}: give whole numbers with commas between, such as 1,2,3")
    return found
