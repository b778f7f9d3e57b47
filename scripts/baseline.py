"""Fit a baseline (majority, tfidf, hypothesis-only, …) and score it: what an encoder must beat.

RUN becomes a run folder like any other, without a model/: the predictions are the product.

    heldout baseline tfidf sentiment --train imdb/aclImdb --test yelp=yelp.csv --out runs/tfidf
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from heldout.baselines import BASELINES, BaselineOptions, find, write_baseline_run
from heldout.data import task_names
from heldout.data.prepare import PrepareOptions, parse_tests, prepare
from heldout.embeddings.features import How
from heldout.eval.summary import summary
from heldout.options import REQUIRED, option, positional, to_json
from heldout.runs import refuse_taken


@dataclass(frozen=True)
class Options(PrepareOptions):
    """What ``heldout baseline`` takes."""

    kind: str = positional(f"which baseline: {', '.join(BASELINES)}")
    task: str = positional(f"what to learn: {', '.join(task_names())}")
    train: tuple[str, ...] = option(REQUIRED, "the labelled examples to fit on; again for more", metavar="SOURCE")
    dev: str = option("", "the split to choose on; carved from train where not given", metavar="SOURCE")
    test: tuple[str, ...] = option(REQUIRED, "a set to score; again for a shifted domain", metavar="NAME=SOURCE")
    out: str = option(REQUIRED, "the run folder to write", metavar="RUN")
    rule: Literal["full", "seeds"] = option("full", "lexicon: all its words, or the seeds' two (good, bad)")
    lexicon: str = option("", "lexicon: your own words, .json or lines of word TAB polarity", metavar="FILE")
    vectors: str = option("", "static: word vectors (default: skip-gram on train's own texts)", metavar="VECTORS")
    pooling: How = option("sif", "static: the mean of a text's words, weighted by idf, or SIF")
    seed: int = option(1, "draws the dev split where none is given, as finetune does")
    json: bool = option(False, "print the scores as JSON")


def run(options: Options) -> int:
    """Read the splits, fit, write the run folder, print the scores."""
    find(options.kind)
    out = Path(options.out)
    refuse_taken(out)
    tests = parse_tests(options.test)
    prepared = prepare(
        options.task, train=options.train, dev=options.dev, tests=tests, options=options, seed=options.seed
    )
    scores = write_baseline_run(
        out,
        options.kind,
        prepared,
        seed=options.seed,
        run_options=to_json(options),
        options=BaselineOptions(options.rule, _path(options.lexicon), _path(options.vectors), options.pooling),
    )
    print(json.dumps(scores, indent=2, ensure_ascii=False) if options.json else summary([out], list(scores)))
    return 0


def _path(value: str) -> Path | None:
    return Path(value) if value else None
