"""The files of a corpus, one open stream after the other, and the rows of those that are tables.

Text: .txt and any suffix not named here; tables: .jsonl, .csv, .tsv, .parquet; each may be .gz or .bz2 (not parquet).
A folder and a .zip are read through, sorted by name; in them only .txt and tables are read, the rest is counted.
"""

import csv
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from heldout.data.defaults import TEXT
from heldout.data.files import missing, suffix
from heldout.data.hub import load_split, rows_of
from heldout.data.sources import HUB_ID
from heldout.data.streams import UNREADABLE, Seen, lines, opened, reader
from heldout.data.table import Table, column, need_column
from heldout.data.tables import SEPARATED, refuse_doubled
from heldout.errors import Refused

JSON_LINES = (".jsonl", ".ndjson")
#: Formats that finetune reads whole; a corpus is streamed.
WHOLE = (".json", ".review")
#: A cell longer than this is a quote that never closes, not a text.
LONGEST_CELL = 1 << 27
#: Rows of a parquet file that are in memory at once.
BATCH = 1000


@dataclass(frozen=True)
class Stream:
    """A file that is being read: its place for error messages, its suffix, the next bytes of its content."""

    where: str
    path: Path
    suffix: str
    read: Callable[[], bytes]

    @property
    def is_table(self) -> bool:
        """Whether its rows are documents; it is text otherwise."""
        return self.suffix in (*JSON_LINES, *SEPARATED, ".parquet")


def is_hub(source: str) -> bool:
    """Whether a source is a hub set; Refused where it is neither that nor a path that is there."""
    if Path(source).exists():
        return False
    hub = HUB_ID.fullmatch(source)
    if hub is None or Path(source).suffix in (".txt", ".gz", ".bz2", ".zip", *JSON_LINES, *SEPARATED, ".parquet"):
        raise missing(Path(source))
    if hub["split"] is None:
        raise Refused(f"{source}: no such path; if it is a hub id, name its split: {source}:train")
    return True


def paths(source: str, seen: Seen) -> list[Path]:
    """The files of a local source; Refused for a format that cannot be streamed and for a folder without text."""
    path = Path(source)
    if path.is_file():
        if suffix(path) in WHOLE:
            raise Refused(f"{path}: {suffix(path)} cannot be streamed; write it as .jsonl, one object a line")
        return [path]
    files = [entry for entry in sorted(path.rglob("*")) if entry.is_file() and not _hidden(entry.relative_to(path))]
    found = [entry for entry in files if _known(entry) or entry.suffix.lower() == ".zip"]
    if not found:
        raise Refused(f"{path}: no .txt, .jsonl, .csv, .tsv, .parquet or .zip file in this folder")
    if len(files) > len(found):
        seen.dropped["files_of_other_kinds"] += len(files) - len(found)
    return found


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _known(path: Path) -> bool:
    return suffix(path) in (".txt", *JSON_LINES, *SEPARATED, ".parquet")


def streams(source: str, seen: Seen) -> Iterator[Stream]:
    """The files of a local source, opened one at a time: read each before asking for the next."""
    for path in paths(source, seen):
        if path.suffix.lower() == ".zip":
            yield from _members(path, seen)
        else:
            with opened(path, seen) as read:
                yield Stream(str(path), path, suffix(path), read)


def _members(path: Path, seen: Seen) -> Iterator[Stream]:
    try:
        with path.open("rb") as raw, zipfile.ZipFile(raw) as archive:
            names = sorted(info.filename for info in archive.infolist() if not info.is_dir())
            found = [name for name in names if _known(Path(name)) and suffix(Path(name)) != ".parquet"]
            if not found:
                raise Refused(f"{path}: no .txt, .jsonl, .csv or .tsv file in this archive")
            if len(names) > len(found):
                seen.dropped["files_of_other_kinds"] += len(names) - len(found)
            for name in found:
                with archive.open(name) as stream:
                    where = f"{path}, {name}"
                    yield Stream(where, path, suffix(Path(name)), reader(where, stream.read, raw.tell, seen))
    except (zipfile.BadZipFile, *UNREADABLE) as error:
        raise Refused(f"{path}: cannot be read as a .zip ({error})") from None


def rows(stream: Stream, columns: Mapping[str, str], encoding: str, seen: Seen) -> Iterator[tuple[str, str]]:
    """The rows of a table as (domain, text); the domain is "" unless ``columns`` names a column for it."""
    if stream.suffix == ".parquet":
        return _columns(stream.where, _parquet(stream, columns, seen), columns, seen)
    found = records(stream.where, stream.suffix, stream.read, encoding)
    return _columns(stream.where, found, columns, seen)


def records(where: str, kind: str, read: Callable[[], bytes], encoding: str) -> "Records":
    """The rows of a table that is text, whole: the place of each and its values by column."""
    text = lines(where, read, encoding)
    return _objects(where, text) if kind in JSON_LINES else _separated(where, kind, text)


def hub_rows(source: str, columns: Mapping[str, str], seen: Seen) -> Iterator[tuple[str, str]]:
    """The rows of a hub set as ``rows`` gives them, streamed."""
    hub = HUB_ID.fullmatch(source)
    assert hub is not None, source
    data = load_split(source, hub["name"], hub["config"], hub["split"], streaming=True)
    found = ((f"row {number}", values) for number, values in enumerate(rows_of(source, data), 1))
    return _columns(source, found, columns, seen)


Records = Iterator[tuple[str, Mapping[str, Any]]]


def _columns(where: str, found: Records, wanted: Mapping[str, str], seen: Seen) -> Iterator[tuple[str, str]]:
    first = next(found, None)
    if first is None:
        return
    text, domain = _named(where, tuple(first[1]), wanted)
    for place, values in chain([first], found):
        value = values.get(text)
        if value is None:
            seen.dropped["rows_without_text"] += 1
        elif not isinstance(value, str):
            raise Refused(f"{where}, {place}: {text!r} holds a {type(value).__name__}; name a column of texts")
        else:
            yield (str(values[domain]) if domain and values.get(domain) is not None else ""), _whole(value, seen)


def _whole(text: str, seen: Seen) -> str:
    """JSON can hold half a character (a lone surrogate), which no tokenizer takes: it becomes U+FFFD, counted."""
    try:
        text.encode()
    except UnicodeEncodeError:
        seen.dropped["texts_with_broken_characters_replaced"] += 1
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _named(where: str, columns: Sequence[str], wanted: Mapping[str, str]) -> tuple[str, str | None]:
    table = Table(where, "", tuple(columns), ())
    return need_column(table, wanted.get("text"), TEXT, "text"), column(table, wanted.get("domain"), (), "domain")


def _objects(where: str, text: Iterator[str]) -> Records:
    for number, line in enumerate(text, 1):
        # A # begins no JSON: such a line is a comment.
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise Refused(f"{where}, line {number}: not JSON ({error})") from None
            if not isinstance(value, dict):
                raise Refused(f"{where}, line {number}: must be a JSON object, not {type(value).__name__}")
            yield f"line {number}", value


def _separated(where: str, kind: str, text: Iterator[str]) -> Records:
    csv.field_size_limit(LONGEST_CELL)
    delimiter = SEPARATED[kind]
    table = csv.reader(text, delimiter=delimiter, strict=True)
    begins = 1
    try:
        header = [name.strip() for name in next(table, [])]
        refuse_doubled(where, header)
        begins = table.line_num + 1
        for values in table:
            line, begins = begins, table.line_num + 1
            if values and len(values) != len(header):
                raise Refused(
                    f"{where}, line {line}: {len(values)} values for {len(header)} columns "
                    f"({', '.join(header)}); quote a value that holds the delimiter"
                )
            if delimiter == "\t" and any("\t" in value and "\n" in value for value in values):
                raise Refused(f"{where}, line {line}: a quote opened there swallows other lines; {_QUOTES}")
            if values:
                yield f"line {line}", dict(zip(header, values, strict=True))
    except csv.Error as error:
        raise Refused(f"{where}, line {begins}: {error}; {_QUOTES}") from None


_QUOTES = "close it or write the file as .jsonl"


def _parquet(stream: Stream, wanted: Mapping[str, str], seen: Seen) -> Records:
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(stream.path) as table:
            text, domain = _named(stream.where, tuple(table.schema_arrow.names), wanted)
            number, size = 0, stream.path.stat().st_size
            for batch in table.iter_batches(BATCH, columns=[text, domain] if domain else [text]):
                seen.bytes += size * batch.num_rows // table.metadata.num_rows
                for values in batch.to_pylist():
                    number += 1
                    yield f"row {number}", values
    except (pyarrow.ArrowException, OSError) as error:
        raise Refused(f"{stream.where}: not a parquet file ({str(error).splitlines()[0]})") from None
