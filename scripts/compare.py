"""Set systems against a reference on the same examples: differences with intervals, tests, churn.

heldout compare A B C                          run folders; A is the reference, B and C are set against it
heldout compare tf-idf=RUN/baselines/tfidf RUN     a name for a folder; baselines are run folders too
heldout compare RUN/one RUN/two                folders of several seeds (seed-1/, seed-2/ …): means, the seed varies too
heldout compare --card F --gold F --predictions MINE=F --predictions THEIRS=F     any systems' answers

Differences are the other's value minus the reference's. Only like is compared: the same gold by its content, the same
labels, the same way to normalise answers, the same version of the card. Imports no torch.
"""

import json as jsons
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.eval.comparison.compare import EXAMPLES, compare
from heldout.eval.comparison.inputs import Contest, read_contest
from heldout.eval.comparison.text import render
from heldout.eval.report.compare_page import build
from heldout.eval.statistics import REPLICATES
from heldout.eval.table import BINS
from heldout.options import option, positional
from heldout.runs import atomic


@dataclass(frozen=True)
class Options:
    """What ``heldout compare`` takes."""

    run: tuple[str, ...] = positional(
        "run folders, the reference first; NAME=FOLDER names one", metavar="RUN", default=()
    )
    data: str | None = option(None, "the one data set to compare on (default: every test set they share)")
    metric: tuple[str, ...] = option(
        (), "a metric (default: those of the card); may be given again, the main one first"
    )
    card: str | None = option(None, "the card of systems given as files", metavar="FILE")
    gold: str | None = option(None, "their gold, a JSON line an example", metavar="FILE")
    predictions: tuple[str, ...] = option((), "a system's predictions; may be given again", metavar="NAME=FILE")
    out: str | None = option(None, "write the comparison as one HTML page", metavar="FILE.html")
    json: bool = option(False, "print JSON: everything, all metrics on all slices")
    text: bool = option(True, "show example texts; --no-text leaves them out")
    examples: int = option(EXAMPLES, "examples to keep of each way that answers turn")
    replicates: int = option(REPLICATES, "bootstrap replicates and swaps")
    seed: int = option(0, "seed of the bootstrap and the swaps")
    bins: int = option(BINS, "bins of the calibration errors")


def run(options: Options) -> int:
    """Compare and print; 0 when done."""
    if options.bins < 1 or options.seed < 0 or options.examples < 0:
        raise Refused("--bins must be at least 1, --seed and --examples at least 0")
    found = compare(
        _contest(options),
        metrics=options.metric,
        replicates=options.replicates,
        seed=options.seed,
        bins=options.bins,
        examples=options.examples,
        say=lambda name: print(f"heldout compare: comparing on {name}", file=sys.stderr, flush=True),
    )
    if options.out:
        with atomic(Path(options.out)) as temporary:
            temporary.write_text(build(found, text=options.text), encoding="utf-8")
    if options.json:
        print(jsons.dumps(found if options.text else _without_texts(found), indent=2, ensure_ascii=False))
    else:
        print(render(found, text=options.text))
    if options.out:
        print(f"heldout compare: {options.out}", file=sys.stderr)
    return 0


def _contest(options: Options) -> Contest:
    folders, files = _named(options.run), _named(options.predictions)
    both = {name for name in folders if name in files}
    if both:
        raise Refused(f"{both.pop()!r} names a run and a predictions file; give one another name with NAME=")
    given = {"--card": options.card, "--gold": options.gold}
    if folders:
        extra = [name for name, value in given.items() if value is not None]
        if extra:
            raise Refused(f"{extra[0]} goes with files alone; the run folders bring their own")
        return read_contest(folders, files, options.data, None)
    missing = [name for name, value in given.items() if value is None]
    if missing and not files:
        raise Refused("compare needs two run folders or more, or --card, --gold and --predictions NAME=FILE twice")
    if missing:
        raise Refused(f"{missing[0]} is missing: predictions files are compared by one card and one gold file")
    assert options.card and options.gold
    return read_contest({}, files, options.data, (Path(options.card), Path(options.gold)))


def _named(words: Sequence[str]) -> dict[str, Path]:
    """The paths by name: that before the =, else the shortest end of the path that no other has."""
    pairs = [_split(word) for word in words]
    found: dict[str, Path] = {}
    for name, path in pairs:
        name = name or _shortest(path, [other for _, other in pairs if other is not path])
        if path in found.values():
            raise Refused(f"{path}: is given twice; compare sets different systems against each other")
        if name in found:
            raise Refused(f"{name!r} names {found[name]} and {path}; give one of them another name with NAME=")
        found[name] = path
    return found


def _split(word: str) -> tuple[str, Path]:
    name, equals, path = word.partition("=")
    return ("", Path(word)) if not equals or Path(word).exists() else (name, Path(path))


def _shortest(path: Path, others: Sequence[Path]) -> str:
    """'tfidf' of RUN/baselines/tfidf, or more of the path where another ends alike."""
    parts = path.resolve().parts
    for size in range(1, len(parts)):
        if not any(other.resolve().parts[-size:] == parts[-size:] for other in others):
            return "/".join(parts[-size:])
    return str(path)


def _without_texts(found: Any) -> Any:
    """The same without the texts of examples, at any depth."""
    if isinstance(found, dict):
        return {key: _without_texts(value) for key, value in found.items() if key != "text"}
    return [_without_texts(value) for value in found] if isinstance(found, list) else found
