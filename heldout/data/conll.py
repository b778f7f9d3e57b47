"""CoNLL columns: a word a line, its tag in the last column, blank lines between sentences.

    -DOCSTART- -X- O O

    Greta NNP B-NP B-PER
    slept VBD B-VP O

Any number of columns, at tabs if the file has any, else at spaces; LF or CRLF, with or without a byte order mark. The
first column is the word and the last its tag unless ``--column words=…`` and ``tags=…`` say otherwise, by a name of
``--header`` or by number from 1. What stands under one -DOCSTART- is a document, the sentences' group. Lines before a
sentence that begin with # and don't have the file's columns are comments, and counted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, groupby
from pathlib import Path
from typing import Any

from heldout.data.files import read_text, stem, suffix
from heldout.data.names import Reading
from heldout.data.table import Row, Table, column
from heldout.errors import Refused

#: Formats in which a sentence is a row and its words and tags are lists.
ROWS = (".json", ".jsonl", ".ndjson", ".parquet", ".csv", ".review")
DOCUMENT = "-DOCSTART-"
#: A line with its number from 1.
Line = tuple[int, str]


@dataclass(frozen=True)
class _Layout:
    """How lines are cut, into how many columns, and which are the word and the tag (None: there is one column)."""

    path: Path
    cut: Callable[[str], list[str]]
    width: int
    word: int
    tag: int | None

    def is_head(self, line: str) -> bool:
        """Whether a line before a sentence is the beginning of a document or a comment."""
        return line.startswith(DOCUMENT) or (line.startswith("#") and len(self.cut(line)) != self.width)

    def parts(self, line: Line) -> list[str]:
        """The columns of a line; Refused where they are not as many as the file's."""
        parts = self.cut(line[1])
        if len(parts) != self.width:
            raise Refused(
                f"{self.path}, line {line[0]}: {len(parts)} columns where the first line has {self.width}; every line "
                "is a word and its columns, or blank (--delimiter says what stands between)"
            )
        return parts


def read_conll(path: Path, reading: Reading) -> Table | None:
    """A table of sentences with the columns words and tags (tags only where a line has two columns or more).

    None for a file whose suffix says that it has another format; Refused naming the line that lacks a column.
    """
    if suffix(path) in ROWS:
        return None
    blocks = list(_blocks(read_text(path, reading.encoding)))
    layout = _layout(path, [line for block in blocks for _, line in block], reading)
    # Some files have the mark between documents only, none before the first.
    grouped = any(line.startswith(DOCUMENT) for block in blocks for _, line in block)
    # The columns keep the names that were asked for, so that reading them from this table finds them.
    words, tags = reading.columns.get("words", "words"), reading.columns.get("tags", "tags")
    rows: list[Row] = []
    documents = comments = 0
    for block in blocks:
        body = list(dropwhile(lambda line: layout.is_head(line[1]), block))
        heads = block[: len(block) - len(body)]
        starts = sum(line.startswith(DOCUMENT) for _, line in heads)
        documents, comments = documents + starts, comments + len(heads) - starts
        if body:
            parts = [layout.parts(line) for line in body]
            values: dict[str, Any] = {words: [part[layout.word] for part in parts], "first_line": body[0][0]}
            if layout.tag is not None:
                values[tags] = [part[layout.tag].strip() for part in parts]
            if grouped:
                values["group"] = f"{stem(path)}:{documents}"
            rows.append(Row(f"sentence {len(rows) + 1} (line {body[0][0]})", len(rows) + 1, values))
    columns = (words, *((tags,) if layout.tag is not None else ()), *(("group",) if grouped else ()))
    return Table(str(path), stem(path), columns, rows, notes={"comment_lines": comments} if comments else {})


def _layout(path: Path, lines: Sequence[str], reading: Reading) -> _Layout:
    cut = _cutter(reading.delimiter or ("\t" if any("\t" in line for line in lines) else " "))
    width = len(cut(next((line for line in lines if not line.startswith(("#", DOCUMENT))), "")))
    names = reading.header or tuple(str(number + 1) for number in range(width))
    if len(names) != width:
        raise Refused(f"{path}: its lines have {width} columns, --header names {len(names)} ({', '.join(names)})")
    shape = Table(str(path), stem(path), names, ())
    word = column(shape, reading.columns.get("words"), ("words", "word", "token"), "words") or names[0]
    tag = column(shape, reading.columns.get("tags"), ("tags", "tag", "ner"), "tags") or names[-1]
    return _Layout(path, cut, width, names.index(word), names.index(tag) if width > 1 else None)


def _blocks(text: str) -> Iterator[list[Line]]:
    """The lines between blank ones; only LF and CRLF end a line, as words may hold other separators."""
    lines = [(number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1)]
    for blank, block in groupby(lines, key=lambda line: not line[1].strip()):
        if not blank:
            yield list(block)


def _cutter(delimiter: str) -> Callable[[str], list[str]]:
    """Spaces may stand in rows; other delimiters each count, so that a word of nothing keeps its place."""
    if delimiter == " ":
        return lambda line: [part for part in line.split(" ") if part]
    return lambda line: line.split(delimiter)
