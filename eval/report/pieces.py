"""What a tab of the report is made of: sections, and in them pieces, each drawn by the template that it names.

A piece is a frozen dataclass with a ``template``, the name of a file in this folder, which is given the piece as
``piece`` and may call ``draw(other_piece)``. Every string is escaped there; only Markup made here (SVG, marked texts)
goes through as it is. The Markdown and JSON of a report are made of the same pieces, so a new one needs no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from markupsafe import Markup

from heldout.eval.report.tables import HtmlTable


class Piece(Protocol):
    """Anything that a template of this folder draws."""

    template: ClassVar[str]


@dataclass(frozen=True)
class Section:
    """A part of a tab under a heading of its own; a tab's first section may leave its title to the tab."""

    title: str
    pieces: tuple[Piece, ...]
    note: str = ""


@dataclass(frozen=True)
class Prose:
    """Paragraphs, one a line."""

    template: ClassVar[str] = "prose.html.j2"
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Names with their values, folded away under ``name`` or open."""

    template: ClassVar[str] = "facts.html.j2"
    entries: Sequence[tuple[str, str]]
    name: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Block:
    """A table with its heading and a note; ``caption`` tells what it holds where the heading alone doesn't."""

    template: ClassVar[str] = "block.html.j2"
    heading: str
    table: HtmlTable
    note: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Group:
    """Pieces under one name (of a test set, most often); folded away or open."""

    template: ClassVar[str] = "group.html.j2"
    name: str
    blocks: tuple[Piece, ...]
    folded: bool = False
    badges: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """One row of a picture: a name, its track, and its numbers in words; how many it is of, badges, and the same of a
    second column.
    """

    name: str
    track: Markup
    value: str
    interval: str
    n: str = ""
    badges: tuple[str, ...] = ()
    beside: "Line | None" = None


@dataclass(frozen=True)
class Lines:
    """Rows of a picture under one head."""

    name: str
    note: str
    rows: tuple[Line, ...]


@dataclass(frozen=True)
class Picture:
    """Values with their intervals in rows on one scale (a forest plot), with the scale's labels below.

    ``beside`` is the axis of a second column; ``heads`` then name both. ``words`` say what it is to who cannot see it.
    """

    template: ClassVar[str] = "picture.html.j2"
    groups: tuple[Lines, ...]
    axis: Markup
    caption: str
    words: str
    beside: Markup | None = None
    heads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """An SVG of charts.py or alike with a caption; ``heading`` may be empty."""

    template: ClassVar[str] = "drawing.html.j2"
    svg: Markup
    caption: str
    heading: str = ""


@dataclass(frozen=True)
class Part:
    """A piece of a text, plain or marked up (and then escaped), and how many characters of it are folded away: 0 where
    it stands open.
    """

    text: str | Markup
    folded: int = 0


@dataclass(frozen=True)
class Field:
    """A text field of an example in pieces, and how many characters and marks of it are left out."""

    name: str
    parts: tuple[Part, ...]
    lost: int = 0
    unmarked: int = 0


@dataclass(frozen=True)
class Member:
    """An example beside another: what became of it, and its text."""

    heading: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Beside:
    """Examples side by side (the members of a pair), under one heading; on a phone below each other."""

    template: ClassVar[str] = "beside.html.j2"
    heading: str
    members: tuple[Member, ...]
    note: str = ""
