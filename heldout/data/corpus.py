"""Plain text as a stream of documents, for training tokenizers and encoders; a corpus is never whole in memory.

A source is a text file, a table (jsonl, csv, tsv, parquet: one document a row), a folder or a .zip of such files, or a
hub set (``org/name@config:split``, streamed). Files may be .gz or .bz2. A document's domain is the name of its source
(``wiki`` of wiki.txt.gz, the folder's own name of a folder), unless ``--column domain=COLUMN`` names a column for it.

    documents(["reviews.jsonl.gz", "wiki.txt"], CorpusOptions(documents=("wiki:heading",)))
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from heldout.data import names as names_
from heldout.data.cleaning import clean, has_markup
from heldout.data.corpus_files import Stream, hub_rows, is_hub, paths, rows, streams
from heldout.data.files import stem
from heldout.data.streams import Seen, lines
from heldout.errors import Refused
from heldout.options import option

#: How a text file is cut into documents; a row of a table is a document whatever is chosen.
CUTS = ("blank-line", "line", "file", "heading")
#: WikiText's heading of an article, `` = Title = ``; those of its sections have more signs.
HEADING = re.compile(r" ?= [^=].* = ?\n?")
#: In how many characters of a source ``--clean auto`` looks for a <br />.
LOOK = 1_000_000


@dataclass(frozen=True)
class CorpusOptions:
    """The options of every command that reads a corpus; each value may be meant for one source: NAME:VALUE."""

    column: tuple[str, ...] = option((), "a table's column by its use: text, domain", metavar="text=review")
    documents: tuple[str, ...] = option(
        (), f"how text files are cut: {', '.join(CUTS)} (blank-line unless given)", metavar="CUT"
    )
    encoding: tuple[str, ...] = option((), "the encoding of files (utf-8 unless given)", metavar="ENCODING")
    clean: tuple[str, ...] = option((), "<br /> and entities: on, off or auto (on where seen)", metavar="auto|on|off")


@dataclass(frozen=True)
class Document:
    """One document: its domain (the name of its source, or what its domain column says) and its text, never blank."""

    domain: str
    text: str


@dataclass(frozen=True)
class _Reading:
    columns: Mapping[str, str]
    cut: str
    encoding: str
    clean: str


def documents(sources: Sequence[str], options: CorpusOptions, seen: Seen | None = None) -> Iterator[Document]:
    """The documents, source by source, without white space at their ends.

    ``seen`` counts the bytes read and what was left out: blank documents, rows without text, files of other kinds.
    Refused where a source is not there (before any is read), cannot be read, or holds no text.
    """
    return _read(sources, options, seen or Seen(), whole=True)


def texts(sources: Sequence[str], options: CorpusOptions, seen: Seen | None = None) -> Iterator[Document]:
    """The same text for whoever only counts words: lines of text files with their ends (a very long one in parts),
    whole rows of tables. So a file of one endless line needs no memory."""
    return _read(sources, options, seen or Seen(), whole=False)


def sources_by_name(sources: Sequence[str]) -> dict[str, str]:
    """A short name for each source, its domain and the NAME of NAME:VALUE options: its file's, numbered if doubled.

    >>> sources_by_name(["a/train.txt.gz", "b/train.jsonl", "speeches.zip"])
    {'train': 'a/train.txt.gz', 'train-2': 'b/train.jsonl', 'speeches': 'speeches.zip'}
    """
    bases = [
        stem(Path(one).with_suffix("") if one.endswith(".zip") else Path(one)).replace(":", "-") for one in sources
    ]
    return dict(zip(names_.apart(bases), sources, strict=True))


def size(sources: Sequence[str]) -> int:
    """Bytes of the local files, which ``Seen.bytes`` counts towards; hub sets add nothing."""
    return sum(path.stat().st_size for source in sources if not is_hub(source) for path in paths(source, Seen()))


def _read(sources: Sequence[str], options: CorpusOptions, seen: Seen, *, whole: bool) -> Iterator[Document]:
    named = sources_by_name(sources)
    readings = {name: _reading(options, name, named) for name in named}
    hub = {name: is_hub(source) for name, source in named.items()}
    for name, source in named.items():
        reading, some = readings[name], False
        if hub[name]:
            found = _of_rows(name, hub_rows(source, reading.columns, seen), seen)
        else:
            found = chain.from_iterable(_of(name, stream, reading, seen, whole) for stream in streams(source, seen))
        for document in _cleaned(found, reading.clean, seen):
            some = True
            yield document
        if not some:
            raise Refused(f"{source}: holds no text")


def _reading(options: CorpusOptions, name: str, named: Mapping[str, str]) -> _Reading:
    def last(values: Sequence[str], default: str) -> str:
        return (names_.scoped(values, name, named) or [default])[-1]

    columns = names_.pairs("--column", options.column, name, named)
    for use in columns:
        names_.choice("--column", use, ("text", "domain"))
    return _Reading(
        columns,
        names_.choice("--documents", last(options.documents, "blank-line"), CUTS),
        names_.encoding(last(options.encoding, "utf-8")),
        names_.choice("--clean", last(options.clean, "auto"), names_.CLEAN),
    )


def _of(name: str, stream: Stream, reading: _Reading, seen: Seen, whole: bool) -> Iterator[Document]:
    if stream.is_table:
        return _of_rows(name, rows(stream, reading.columns, reading.encoding, seen), seen)
    text = lines(stream.where, stream.read, reading.encoding, cut=not whole)
    if not whole:
        return (Document(name, line) for line in text if not line.isspace())
    if reading.cut == "file":
        return _of_rows(name, [("", "".join(text))], seen)
    return (Document(name, part.strip()) for part in _cut(text, reading.cut) if part.strip())


def _of_rows(name: str, found: Iterable[tuple[str, str]], seen: Seen) -> Iterator[Document]:
    for domain, text in found:
        if text.strip():
            yield Document(domain or name, text.strip())
        else:
            seen.dropped["blank_documents"] += 1


def _cut(text: Iterable[str], how: str) -> Iterator[str]:
    """Lines joined to documents; blank lines and headings are borders, never documents of their own."""
    held: list[str] = []
    for line in text:
        if how == "line" or (how == "blank-line" and line.isspace()) or (how == "heading" and HEADING.fullmatch(line)):
            yield "".join(held)
            held = []
        held.append(line)
    yield "".join(held)


def _cleaned(found: Iterator[Document], how: str, seen: Seen) -> Iterator[Document]:
    if how == "auto":
        head, looked = list[Document](), 0
        for document in found:
            head.append(document)
            looked += len(document.text)
            if looked >= LOOK:
                break
        found = chain(head, found)
        how = "on" if has_markup(document.text for document in head) else "off"
    if how == "off":
        yield from found
        return
    for document in found:
        text = clean(document.text)
        if text.strip():
            yield Document(document.domain, text)
        else:
            # Nothing but line breaks of HTML.
            seen.dropped["blank_documents"] += 1
