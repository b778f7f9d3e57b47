"""Show an idea of the seeds as a page that runs: its tables, a picture, the questions answered; no NAME lists them.

    heldout lesson
    heldout lesson skip-gram
    heldout lesson glove --picture glove.svg
    heldout lesson masked-words --json

Every number that a lesson prints is computed when it is asked for, in NumPy (only bahdanau trains with torch), and
tested against the seeds' own; figures that the seeds quote from elsewhere are quoted here too, and said to be.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from heldout.errors import Refused
from heldout.lessons import ORDER, Lesson, draw, find, overview, plain
from heldout.options import option, positional


@dataclass(frozen=True)
class Options:
    """The options of ``heldout lesson``."""

    name: str | None = positional("which lesson; none lists them all", metavar="NAME", default=None)
    picture: Path | None = option(
        None, "draw its picture too: .svg, .png or .pdf (pip install 'heldout[pictures]')", metavar="FILE"
    )
    json: bool = option(False, "print the values that it computes as JSON, by the seeds' id")


def run(options: Options) -> int:
    """List the lessons, or show one."""
    if options.name is None:
        if options.picture or options.json:
            raise Refused(f"--picture and --json are for one lesson; name it, as in: heldout lesson {ORDER[0]} --json")
        print(overview())
        return 0
    lesson = find(options.name)
    if options.picture:
        draw(lesson, options.picture)
        print(f"heldout lesson: picture in {options.picture}", file=sys.stderr)
    print(json.dumps(plain(lesson.values()), indent=2, ensure_ascii=False) if options.json else _page(lesson))
    return 0


def _page(lesson: Lesson) -> str:
    """A lesson as text."""
    where = f"In the seeds: {lesson.where}. The code to read beside it: heldout/lessons/{lesson.file}"
    return "\n\n".join([lesson.title, where, lesson.show(), f"Questions\n{lesson.answers}"])
