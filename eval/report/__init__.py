"""The report: one self-contained HTML file made from run folders."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from heldout import __version__
from heldout.eval.report.comparisons import compare
from heldout.eval.report.fresh import Say
from heldout.eval.report.inputs import Inputs, quiet, read_inputs
from heldout.eval.report.mistakes import SHOWN, most_confident
from heldout.eval.report.page import make_page
from heldout.eval.report.tables import slice_name
from heldout.eval.report.wording import visible
from heldout.eval.slices import Slice, chosen
from heldout.eval.statistics import REPLICATES
from heldout.records import Example, Prediction

HERE = Path(__file__).parent


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
    inputs = read_inputs(folders, replicates, say)
    found = compare(inputs, replicates, say)
    wrong = most_confident(inputs, _slicer(inputs), text=text, limit=shown)
    return render(make_page(inputs, found, wrong, text=text))


def render(page: Any) -> str:
    """The page laid out: everything escaped, hidden characters spelt out, style and script inline."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("style.css", "report.js"))
    return environment.get_template("report.html.j2").render(
        page=page, version=__version__, style=Markup(style), script=Markup(script), policy=policy(style, script)
    )


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


def _slicer(inputs: Inputs) -> Any:
    slices = [found for found in chosen(inputs.card) if isinstance(found, Slice)]

    def slices_of(example: Example, prediction: Prediction) -> list[str]:
        values = [(s.name, s.value(example, prediction)) for s in slices]
        return [slice_name(f"{name}={value}") for name, value in values if value is not None]

    return slices_of
