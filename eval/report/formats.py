"""A report as Markdown for a pull request, or as JSON for programs: made of the same pieces as the page.

Markdown has the verdict and every table, by tab; drawings, mistakes and provenance are left to the page. JSON has
everything but the drawings, and the scores of every system beside it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from markupsafe import Markup

from heldout import __version__
from heldout.eval.report.inputs import Inputs
from heldout.eval.report.markdown import escaped, table
from heldout.eval.report.page import Page
from heldout.eval.report.pieces import Block, Group, Picture, Prose
from heldout.eval.report.summary_table import Summary
from heldout.eval.report.tables import Cell, HtmlTable
from heldout.eval.report.tabs.overview import Overview

#: Tabs that a pull request is not read for.
LEFT_OUT = ("mistakes", "provenance")


def as_json(page: Page, inputs: Inputs) -> str:
    """The page's words and tables, and {system: {set: scores}}, as one JSON object."""
    scores = {system.name: dict(system.scores) for system in inputs.systems}
    return json.dumps({"heldout": __version__, **_plain(page), "scores": scores}, ensure_ascii=False, indent=1) + "\n"


def _plain(value: Any) -> Any:
    """Dataclasses as objects with their kind, marked texts as plain ones, drawings left out (null)."""
    if is_dataclass(value) and not isinstance(value, type):
        found = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return ({"kind": type(value).__name__} if hasattr(value, "template") else {}) | found
    if isinstance(value, Markup):
        return None if "<svg" in value else Markup(re.sub(r"<[^>]*>", "", value)).unescape()
    if isinstance(value, dict):
        return {str(key): _plain(found) for key, found in value.items()}
    return [_plain(found) for found in value] if isinstance(value, list | tuple) else value


def as_markdown(page: Page) -> str:
    """The verdict, then the tables of each tab folded away, as GitHub shows them."""
    blocks = [f"## {escaped(page.title)}", escaped(page.intro)]
    blocks += [f"> [!CAUTION]\n> {escaped(banner)}" for banner in page.banners]
    for tab in page.tabs:
        told = [line for section in tab.sections for line in _section(section.title, section.note, section.pieces)]
        if tab.id == "overview":
            blocks += told
        elif tab.id not in LEFT_OUT and told:
            blocks += [f"<details><summary>{escaped(tab.title)}</summary>", *told, "</details>"]
    return "\n\n".join(blocks) + "\n"


def _section(name: str, note: str, pieces: Sequence[Any]) -> list[str]:
    told = [line for piece in pieces for line in _piece(piece)]
    heads = [f"### {escaped(name)}"] if name and told else []
    return [*heads, *([escaped(note)] if note and told else []), *told]


def _piece(piece: Any) -> Iterator[str]:
    """What is said by a piece; of one that this module doesn't know, the tables in it."""
    if isinstance(piece, Overview):
        yield from _overview(piece)
    elif isinstance(piece, Prose):
        yield from map(escaped, piece.lines)
    elif isinstance(piece, Block):
        yield from ([f"**{escaped(piece.heading or piece.caption)}**"] if piece.heading or piece.caption else [])
        yield from ([escaped(piece.note)] if piece.note else [])
        yield _table(piece.table)
    elif isinstance(piece, Group):
        yield f"**{escaped(' · '.join([piece.name, *piece.badges]))}**" if piece.name else ""
        yield from (line for part in piece.blocks for line in _piece(part))
    elif isinstance(piece, HtmlTable):
        yield _table(piece)
    elif not isinstance(piece, Picture):
        yield from _inside(piece)


def _inside(value: Any) -> Iterator[str]:
    if is_dataclass(value):
        yield from (line for field in fields(value) for line in _found(getattr(value, field.name)))


def _found(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        yield from (line for part in value for line in _found(part))
    elif is_dataclass(value):
        yield from _piece(value)


def _overview(piece: Overview) -> Iterator[str]:
    for group in piece.groups:
        if group.sentences:
            yield f"**{group.heading}**"
            yield "\n".join(f"- {escaped(sentence)}" for sentence in group.sentences)
    yield _standings(piece.summary)


def _standings(summary: Summary) -> str:
    rows = [[escaped(row.name), row.size, *map(_cell, row.cells)] for row in summary.rows]
    return table(["test set", escaped(summary.many), *(escaped(column.name) for column in summary.columns)], rows)


def _table(found: HtmlTable) -> str:
    rows = [
        [escaped(" ".join([row.name, *(f"({badge})" for badge in row.badges)])), *map(_cell, row.cells)]
        for row in found.rows
    ]
    return table([escaped(head) for head in found.heads], rows, left=len(found.heads) if found.prose else 1)


def _cell(cell: Cell) -> str:
    """A value with its smaller line in brackets."""
    return escaped(cell.value) + (f" ({escaped(cell.note)})" if cell.note else "")
