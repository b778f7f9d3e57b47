"""Local tables: csv, tsv, jsonl, json, parquet and files of bare lines, plain or compressed, as a Table.

A first line that names both a text and a label is a header, whatever the suffix, at the delimiter that makes it one.
Quotes mean quotes (RFC 4180) in csv and in files with a header; they are plain characters in headerless lines split at
tabs or spaces. A tsv with a header is read with quoting; where its quotes don't close, or a "quoted" value swallows a
tab and a line break, it is read again without, and the note ``rows_read_without_quoting`` says so.
"""

import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from heldout.data.defaults import LABEL, PREMISE, TEXT
from heldout.data.files import decode, read_bytes, read_text, stem, suffix
from heldout.data.lines import read_lines
from heldout.data.names import Reading
from heldout.data.table import Row, Table
from heldout.errors import Refused

SEPARATED = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


def read_table(path: Path, reading: Reading) -> Table:
    """Read a local file by its suffix; an unknown suffix is read as lines (heldout.data.lines)."""
    kind = suffix(path)
    if kind == ".parquet":
        return _parquet(path)
    text = read_text(path, reading.encoding)
    if kind in (".jsonl", ".ndjson"):
        return _from_objects(path, list(_json_lines(path, text)))
    if kind == ".json":
        return _from_objects(path, _json(path, text))
    delimiter = reading.delimiter or SEPARATED.get(kind, "")
    if not reading.header and not reading.delimiter:
        delimiter = header_delimiter(text, delimiter) or delimiter
    if reading.header and delimiter not in ("", "\t", " "):
        return _separated(path, text, delimiter, reading.header)
    if delimiter and not reading.header and delimiter != " ":
        return _separated(path, text, delimiter, ())
    return read_lines(path, text, reading.header, delimiter)


def header_delimiter(text: str, usual: str) -> str:
    """The delimiter at which the first line holds a name for a text and one for the label; "" where there is none."""
    first = text.split("\n", 1)[0]
    for delimiter in dict.fromkeys(f"{usual},\t;|"):
        names = {name.strip().strip('"').casefold() for name in first.split(delimiter)}
        if names & {*TEXT, *PREMISE} and names & set(LABEL):
            return delimiter
    return ""


def _separated(path: Path, text: str, delimiter: str, header: tuple[str, ...]) -> Table:
    notes = {}
    try:
        columns, rows = _parse(path, text, delimiter, header, quoting=True)
        if delimiter == "\t" and any("\t" in value and "\n" in value for row in rows for value in row.values.values()):
            raise Refused(f"{path}: a quoted value holds a tab and a line break")
    except Refused:
        if delimiter != "\t" or '"' not in text:
            raise
        try:
            columns, rows = _parse(path, text, delimiter, header, quoting=False)
        except Refused:
            columns, rows = _parse(path, text, delimiter, header, quoting=True)
        else:
            notes = {"rows_read_without_quoting": len(rows)}
    return Table(str(path), stem(path), columns, rows, notes=notes)


def _parse(
    path: Path, text: str, delimiter: str, header: tuple[str, ...], *, quoting: bool
) -> tuple[tuple[str, ...], list[Row]]:
    records = _records(path, text, delimiter, quoting)
    columns = header or tuple(name.strip() for name in next(records, (1, [""]))[1])
    refuse_doubled(str(path), columns)
    rows: list[Row] = []
    for line, values in records:
        number = len(rows) + 1
        if len(values) != len(columns):
            raise Refused(
                f"{path}, row {number} (line {line}): {len(values)} values for {len(columns)} columns "
                f"({', '.join(columns)}); quote a value that holds the delimiter"
            )
        rows.append(Row(f"row {number} (line {line})", number, dict(zip(columns, values, strict=True))))
    return columns, rows


def refuse_doubled(where: str, columns: Sequence[str]) -> None:
    """Refused where two columns have one name: a row would keep the value of the last alone."""
    doubled = next((name for name in columns if name and columns.count(name) > 1), None)
    if doubled:
        raise Refused(f"{where}: two columns are named {doubled!r}; rename one")


def _records(path: Path, text: str, delimiter: str, quoting: bool) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line it begins on; blank lines are left out."""
    csv.field_size_limit(sys.maxsize)  # csv's own limit of 131,072 characters is shorter than some reviews' files
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
        strict=True,
    )
    begins = 1
    try:
        for record in reader:
            if record:
                yield begins, record
            begins = reader.line_num + 1
    except csv.Error as error:
        trouble = "a quote opened there never closes" if "end of data" in str(error) else str(error)
        raise Refused(f"{path}, line {begins}: {trouble}") from None


def _json_lines(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    # Not splitlines: U+2028 and its like may stand inside a JSON string. A # begins no JSON: such a line is a comment.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"line {number}", _loads(path, f", line {number}", line)


def _loads(path: Path, where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path}{where}: not JSON ({error})") from None


def _json(path: Path, text: str) -> list[tuple[str, Any]]:
    """A list of objects, an object that holds one list of objects, or (a common misnaming) an object a line."""
    try:
        value = _loads(path, "", text)
    except Refused:
        if "\n" in text.strip():
            return list(_json_lines(path, text))
        raise
    if isinstance(value, dict):
        lists = [entry for entry in value.values() if isinstance(entry, list)]
        value = lists[0] if len(lists) == 1 else value
    if not isinstance(value, list):
        raise Refused(f"{path}: the JSON must be a list of objects, or an object that holds one such list")
    return [(f"row {number}", entry) for number, entry in enumerate(value, 1)]


def _from_objects(path: Path, objects: Sequence[tuple[str, Any]]) -> Table:
    rows, columns = [], dict[str, None]()
    for number, (place, value) in enumerate(objects, 1):
        if not isinstance(value, dict):
            raise Refused(f"{path}, {place}: must be a JSON object, not {type(value).__name__}")
        columns |= dict.fromkeys(value)
        rows.append(Row(place, number, value))
    return Table(str(path), stem(path), tuple(columns), rows)


def _parquet(path: Path) -> Table:
    import pyarrow
    import pyarrow.parquet

    content = read_bytes(path)
    try:
        table = pyarrow.parquet.read_table(io.BytesIO(content))
        values = table.to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise Refused(f"{path}: not a parquet file ({str(error).splitlines()[0]})") from None
    rows = [Row(f"row {number}", number, row) for number, row in enumerate(values, 1)]
    return Table(str(path), stem(path), tuple(table.column_names), rows, names=class_names(path, table.schema.metadata))


def class_names(path: Path, metadata: dict[bytes, bytes] | None) -> dict[str, list[str]]:
    """The names of columns of ClassLabels or lists of them, which datasets keeps in the file's own metadata."""
    raw = (metadata or {}).get(b"huggingface")
    if raw is None:
        return {}
    described = _loads(path, "", decode(raw, str(path), "utf-8"))
    info = described.get("info") if isinstance(described, dict) else None
    features = info.get("features") if isinstance(info, dict) else None
    if not isinstance(features, dict):
        return {}
    found = {}
    for name, outer in features.items():
        inner = outer.get("feature", outer) if isinstance(outer, dict) else None
        if isinstance(inner, dict) and inner.get("_type") == "ClassLabel" and isinstance(inner.get("names"), list):
            found[name] = [str(label) for label in inner["names"]]
    return found
