"""Check data before training: duplicates, leaks, label errors, conflicts, balance, encoding, lengths.

    heldout data check imdb/train.jsonl.gz imdb/test.jsonl.gz
    heldout data check stanfordnlp/imdb:test yelp.csv --column yelp:text=review --label yelp:5=positive --json
    heldout data check train.csv --label-errors train --show 20
    heldout data check million.csv test.csv                   large files are read as streams, in bounded memory

Each SOURCE is read as ``finetune`` would read it; options for one of several begin with the name that the table gives
it (its file's name without suffix). Label errors are looked for by confident learning over a cross-validated tf-idf
classifier, or over the cross-fitted predictions of a system (--predictions). Exit status 0 when the data were read,
whatever was found; with --strict 1 where texts leak, labels conflict or an encoding is broken.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from heldout.checks.data import Checked, Wanted, check, names, show
from heldout.checks.label_errors import Probabilities
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions, reading
from heldout.data.task import load_task
from heldout.errors import Refused
from heldout.options import option, positional
from heldout.records import join, read_predictions

#: Bytes of the sources (compressed ones count threefold) from which on they are read as streams: held in memory as
#: examples they take about 14 times their size (IMDb's 66 MB of JSON: 940 MB).
LARGE = 100_000_000
PACKED = (".gz", ".bz2")


@dataclass(frozen=True)
class Options(SourceOptions):
    """What ``heldout data`` takes."""

    action: Literal["check"] = positional("check: look at what is in the sources")
    sources: tuple[str, ...] = positional("files, folders of reviews, or hub ids: org/name:split", metavar="SOURCE")
    task: str = option("sentiment", "the task they are read for")
    label_errors: tuple[str, ...] = option(
        (), "look for label errors in this source; none for none (default: those of up to 20,000)", metavar="NAME"
    )
    predictions: tuple[str, ...] = option(
        (), "cross-fitted predictions with scores, to find label errors by", metavar="NAME=FILE"
    )
    show: int = option(3, "examples of each finding")
    stream: Literal["auto", "on", "off"] = option("auto", "read in bounded memory; auto: from 100 MB on")
    strict: bool = option(False, "exit status 1 where texts leak, labels conflict or an encoding is broken")
    json: bool = option(False, "print it all as JSON")


def run(options: Options) -> int:
    """Read the sources, print what is in them."""
    checked = _streamed(options) if _large(options) else _whole(options)
    print(json.dumps(checked.to_json(), indent=2, ensure_ascii=False) if options.json else show(checked))
    return int(options.strict and any(finding.serious for finding in checked.findings))


def _large(options: Options) -> bool:
    if options.stream != "auto":
        return options.stream == "on"
    paths = [Path(source) for source in options.sources if Path(source).is_file()]
    sizes = [path.stat().st_size * (3 if path.suffix.lower() in PACKED else 1) for path in paths]
    return sum(sizes) >= LARGE and len(paths) == len(options.sources) and not options.predictions


def _streamed(options: Options) -> Checked:
    from heldout.checks.large import check as check_stream

    if options.limit is not None or options.predictions or options.label_errors:
        raise Refused("--limit, --predictions and --label-errors need the sources in memory; add --stream off")
    named = names(options.sources)
    key = load_task(options.task).key
    how = {name: reading(options, name, named) for name in named}
    columns = {name: dict(one.columns) for name, one in how.items()}
    columns = {name: {"text": one[key]} | one if key in one else one for name, one in columns.items()}
    return check_stream(named, columns, {name: one.encoding for name, one in how.items()})


def _whole(options: Options) -> Checked:
    named = names(options.sources)
    unknown = [name for name in options.label_errors if name not in (*named, "none")]
    if unknown:
        raise Refused(f"--label-errors {unknown[0]}: no such source; they are named {', '.join(named)}")
    scores = dict(_scores(options, value) for value in options.predictions)
    wanted = None if not options.label_errors else {name for name in options.label_errors if name != "none"}
    return check(options.task, options.sources, options, wanted=Wanted(wanted, scores, options.show))


def _scores(options: Options, value: str) -> tuple[str, Probabilities]:
    """The probabilities of a NAME=FILE value, in the order of that source's labels; Refused where ids differ."""
    name, equals, file = value.partition("=")
    named = names(options.sources)
    if not equals or name not in named:
        raise Refused(f"--predictions {value}: write NAME=FILE, where NAME is one of {', '.join(named)}")
    loaded = load(options.task, named[name], options, name=name, names=list(named), limit=options.limit)
    card = load_task(options.task).card(loaded.examples)
    if card.kind != "label":
        raise Refused(f"--predictions {value}: {options.task} has no labels to doubt")
    pairs = join(loaded.examples, read_predictions(Path(file), card))
    without = next((prediction.id for _, prediction in pairs if prediction.scores is None), None)
    if without is not None:
        raise Refused(f"--predictions {value}: id {without!r} has no scores; label errors are found by probabilities")
    return name, np.array([prediction.scores for _, prediction in pairs], np.float64)
