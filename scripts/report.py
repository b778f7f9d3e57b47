"""Write one HTML file that says how good a run is and where it breaks, from the files of run folders alone."""

import sys
from dataclasses import dataclass
from pathlib import Path

from heldout.errors import Refused
from heldout.eval import own_slices
from heldout.eval.card import write_card
from heldout.eval.report import FORMATS, build_as
from heldout.eval.report.mistakes import SHOWN
from heldout.eval.slices import known
from heldout.options import option, positional
from heldout.runs import atomic


@dataclass(frozen=True)
class Options:
    """The options of ``heldout report``."""

    run: tuple[str, ...] = positional("run folders; the report is about the first, beside the others", metavar="RUN")
    out: str | None = option(None, "where to write (default RUN/report.FORMAT of the first run)", metavar="FILE")
    format: str = option("html", "html (a page), md (for a pull request) or json (for programs)", metavar="FORMAT")
    text: bool = option(True, "show the texts of mistakes; --no-text leaves them out")
    slice: tuple[str, ...] = option((), "a slice of your own: heldout score --help", metavar="NAME=EXPRESSION")
    mistakes: int = option(SHOWN, "how many mistakes to list, over all systems and test sets")


def run(options: Options) -> int:
    """Read the runs, write the page, say where it is."""
    if options.mistakes < 0:
        raise Refused(f"--mistakes {options.mistakes}: give 0 or more")
    if options.format not in FORMATS:
        raise Refused(f"--format {options.format}: must be one of {', '.join(FORMATS)}")
    folders = [Path(folder) for folder in options.run]
    own = own_slices.from_options(options.slice, list(known()))
    if own:
        own_slices.keep(own_slices.family(folders), own)
    out = Path(options.out) if options.out else folders[0] / f"report.{options.format}"
    page = build_as(options.format, folders, text=options.text, shown=options.mistakes, say=_say)
    with atomic(out) as temporary:
        temporary.write_text(page, encoding="utf-8")
    for folder in folders:
        write_card(folder)
    print(out)
    return 0


def _say(words: str) -> None:
    """A line on stderr: scoring four systems on 35,000 texts takes a minute."""
    print(f"heldout report: {words}", file=sys.stderr, flush=True)
