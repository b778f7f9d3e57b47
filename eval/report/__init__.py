"""The report: one self-contained HTML file made from run folders, or its words and tables as Markdown or JSON."""

import base64
import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from heldout import __version__
from heldout.eval.report.comparisons import compare
from heldout.eval.report.formats import as_json, as_markdown
from heldout.eval.report.fresh import Say
from heldout.eval.report.inputs import Inputs, quiet, read_inputs
from heldout.eval.report.mistakes import SHOWN
from heldout.eval.report.page import Page, make_page
from heldout.eval.report.pieces import Piece
from heldout.eval.report.tabs import Report
from heldout.eval.report.wording import visible
from heldout.eval.statistics import REPLICATES

HERE = Path(__file__).parent
#: How a report is written: a page, Markdown for a pull request, JSON for programs.
FORMATS = ("html", "md", "json")


def build(
    folders: Sequence[Path],
    *,
    text: bool = True,
    shown: int = SHOWN,
    replicates: int = REPLICATES,
    say: Say = quiet,
) -> str:
    """The report of one or more run folders as one HTML page that loads nothing from anywhere.

    Missing scores are computed and written to the run folders; ``replicates`` is for those and for the paired
    differences. ``text=False`` leaves example texts out; ``shown`` bounds the mistakes that are listed.
    ``say`` is told what is being computed. Refused where the folders hold no test set or do not belong together.
    """
    return render(_read_page(folders, text, shown, replicates, say)[0])


def build_as(
    form: str,
    folders: Sequence[Path],
    *,
    text: bool = True,
    shown: int = SHOWN,
    replicates: int = REPLICATES,
    say: Say = quiet,
) -> str:
    """The report in one of FORMATS; the options are those of ``build``."""
    page, inputs = _read_page(folders, text, shown, replicates, say)
    if form == "html":
        return render(page)
    return as_markdown(page) if form == "md" else as_json(page, inputs)


def _read_page(folders: Sequence[Path], text: bool, shown: int, replicates: int, say: Say) -> tuple[Page, Inputs]:
    inputs = read_inputs(folders, replicates, say)
    return make_page(Report(inputs, compare(inputs, replicates, say), text, shown, replicates, say)), inputs


def render(page: Any, template: str = "report.html.j2") -> str:
    """The page laid out: everything escaped, hidden characters spelt out, style and script inline."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.globals["draw"] = partial(_draw, environment)
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("style.css", "report.js"))
    return environment.get_template(template).render(
        page=page, version=__version__, style=Markup(style), script=Markup(script), policy=policy(style, script)
    )


def _draw(environment: Environment, piece: Piece) -> Markup:
    """A piece laid out by its own template, which has escaped what it holds."""
    return Markup(environment.get_template(piece.template).render(piece=piece))


def policy(style: str, script: str) -> str:
    """The content security policy: this style and this script by their hashes, an empty icon, nothing else."""
    digests = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _finalize(value: Any) -> Any:
    """Every expression of the template passes here: strings from outside with their hidden characters spelt out."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
