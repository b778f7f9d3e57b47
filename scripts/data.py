"""Check data before training: counts, labels, drops, duplicates within and across sources, lengths.

    heldout data check imdb/train.jsonl.gz imdb/test.jsonl.gz
    heldout data check stanfordnlp/imdb:test yelp.csv --column yelp:text=review --label yelp:5=positive --json

Each SOURCE is read as ``finetune`` would read it; options for one of several begin with the name that the table gives
it (its file's name without suffix).
"""

import json
from dataclasses import dataclass
from typing import Literal

from heldout.checks.data import check, show
from heldout.data.sources import SourceOptions
from heldout.options import option, positional


@dataclass(frozen=True)
class Options(SourceOptions):
    """What ``heldout data`` takes."""

    action: Literal["check"] = positional("check: print a table of what is in the sources")
    sources: tuple[str, ...] = positional("files, folders of reviews, or hub ids: org/name:split", metavar="SOURCE")
    task: str = option("sentiment", "the task they are read for")
    json: bool = option(False, "print it all as JSON")


def run(options: Options) -> int:
    """Read the sources, print what is in them."""
    checked = check(options.task, options.sources, options)
    print(json.dumps(checked.to_json(), indent=2, ensure_ascii=False) if options.json else show(checked))
    return 0
