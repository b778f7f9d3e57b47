"""Measure heldout beside what people would use instead, in one run on one machine.

    heldout bench train --task sentiment --train imdb/train.jsonl.gz --limit 4000 --model MINILM --max-length 256
    heldout bench train --task nli --train snli.tsv --model MINILM --part quality --seeds 1,2,3 --out bench-snli
    heldout bench predict --model runs/imdb --data imdb/test.jsonl.gz
    heldout bench pretrain --corpus unsup.jsonl.gz --tokenizer tok --preset small --length 128
    heldout bench tokenize --corpus unsup.jsonl.gz         heldout bench score --rows 1000000 --replicates 1000
    heldout bench report --model runs/imdb                 heldout bench start --task sentiment --train … --model …
    heldout bench profile --model runs/imdb --data imdb/test.jsonl.gz --examples 512

train     our loop and transformers' Trainer (as its examples run it, and tuned) with the same model, rows, batch size,
          steps and seed. Speed: blocks of steps take turns, each side in a process of its own, with plain matrix
          multiplications between: real tokens a second, share of the peak, peak memory. Quality: whole trainings over
          --seeds, then the paired difference on dev; what is done is kept in --out, and the same command goes on.
predict   a run's own prediction beside transformers' pipeline and onnxruntime, with the labels that agree with fp32's
pretrain  masked tokens over packed rows: padding, tokens a second, share of the peak
tokenize  training and encoding beside the tokenizers library as its own pages use it: bytes a second, equal ids
score     heldout score on made-up predictions; report: seconds and bytes of a run's page
start     heldout --help over bare python; finetune up to its first step, its tokens cached
profile   where the time goes, by kind of operation: of a run's answers (--data), or of steps of a training

--json FILE writes everything with machine, versions and command; --keep FILE puts it among those kept there; --against
FILE prints each figure over the one kept there (a regression check). OMP_NUM_THREADS sets the threads of all sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from heldout.bench.result import Result, against, keep, read, where
from heldout.data import task_names
from heldout.data.corpus import CUTS
from heldout.data.prepare import PrepareOptions
from heldout.errors import Refused
from heldout.eval.statistics import REPLICATES
from heldout.options import flag, option, positional
from heldout.pretrain.options import Preset
from heldout.runs import write_json
from heldout.tokenizer.parts import Kind
from heldout.train.options import ReadOptions, check
from heldout.train.progress import say

Action = Literal["train", "predict", "pretrain", "tokenize", "score", "report", "start", "profile"]


@dataclass(frozen=True)
class Options(PrepareOptions, ReadOptions):
    """What ``heldout bench`` takes."""

    action: Action = positional(f"what to measure: {', '.join(get_args(Action))}", metavar="ACTION")
    task: str = option("", f"train, profile: {', '.join(task_names())}")
    train: tuple[str, ...] = option((), "train, profile: the labelled examples; again for more", metavar="SOURCE")
    dev: str | None = option(None, "train: what quality is measured on; carved from train where not given")
    model: str = option("", "train: the encoder, a folder or a hub id; predict, profile, report: the run folder")
    data: str = option("", "predict, profile: the texts to answer", metavar="SOURCE")
    onnx: tuple[str, ...] = option((), "predict: a product of heldout compress; again for more", metavar="RUN")
    export: bool = option(True, "predict: where no --onnx is given, export to ONNX in fp32 and int8 for this run")
    examples: int = option(128, "predict, profile: examples of a block")
    pipeline_batch: int = option(32, "predict: batch size of transformers' pipeline")
    corpus: tuple[str, ...] = option((), "pretrain, tokenize: plain text; again for more", metavar="SOURCE")
    documents: tuple[str, ...] = option(
        (), f"pretrain: how text files are cut: {', '.join(CUTS)} (blank-line unless given)", metavar="CUT"
    )
    tokenizer: str = option("", "pretrain: the tokenizer's folder (default: the model's)", metavar="DIR")
    preset: Preset = option("mini", "pretrain: the size of a fresh model, where no --model is given")
    length: int = option(128, "pretrain: tokens a row")
    kind: Kind = option("wordpiece", "tokenize: what is trained")
    vocab_size: int = option(8000, "tokenize: entries of the vocabulary")
    megabytes: float = option(10.0, "tokenize: text that is used, the first of the corpus")
    rows: int = option(25_000, "score: predictions to make up")
    words: int = option(230, "score: words of a text, about")
    peer: tuple[str, ...] = option((), "train: trainer or trainer-tuned; again for more (default: both)")
    part: Literal["both", "speed", "quality"] = option("both", "train: what to measure")
    steps: int = option(4, "train: optimizer steps of a block; profile: how many are profiled")
    blocks: int = option(6, "blocks of each side; fewer than 6 give no 95% interval")
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
        for name in ("steps", "blocks", "replicates", "examples", "pipeline_batch", "length", "rows"):
            check(name, getattr(self, name), getattr(self, name) >= 1, "1 or more")
        check("words", self.words, self.words >= 2, "2 or more")


def run(options: Options) -> int:
    """Measure, print the tables, write what was asked for."""
    for path in (options.against, options.keep if options.keep and options.keep.exists() else None):
        if path:
            # Before anything is measured: a wrong file is told of at once.
            read(path)
    results = _measured(options)
    for result in results:
        print(f"{result.kind}\n\n{result.text}\n")
        if options.against:
            print(f"{against(options.against, result)}\n")
    if options.json:
        write_json(options.json, {"benches": [result.to_json() for result in results]})
    if options.keep:
        keep(options.keep, results)
    print(where())
    return 0


def _measured(options: Options) -> Sequence[Result]:
    """The benchmark that is asked for; their imports take seconds, so each has its own."""
    match options.action:
        case "train":
            return _train(options)
        case "predict":
            from heldout.bench.predicting import bench_predict
            from heldout.train.precision import resolve

            _needs(options, "model", "data")
            return bench_predict(options, bf16=resolve(options.precision)[0] == "bf16", say=say)
        case "pretrain":
            from heldout.bench.pretraining import bench_pretrain

            _needs(options, "corpus")
            return bench_pretrain(options, say=say)
        case "tokenize":
            from heldout.bench.tokenizing import bench_tokenize

            _needs(options, "corpus")
            return bench_tokenize(options, say=say)
        case "profile":
            from heldout.bench.profiling import bench_profile

            return bench_profile(options, say=say)
    from heldout.bench.commands import bench_report, bench_score, bench_start

    if options.action == "report":
        _needs(options, "model")
    return {"score": bench_score, "report": bench_report, "start": bench_start}[options.action](options, say=say)


def _train(options: Options) -> Sequence[Result]:
    from heldout.bench.training.bench import bench_train

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
