"""Files of bare lines without a header: label first (``1 a warm , funny film``) or last (text, a tab, the label).

``--header label,text --delimiter space`` says it outright. Without it the form is recognised where every line agrees:
two parts, one of them a single short word that takes few values; the note ``rows_read_as_…`` says what was recognised.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from heldout.data.files import stem
from heldout.data.labels import SYNONYMS
from heldout.data.table import Row, Table
from heldout.errors import Refused

#: A label is one word of at most this length, and a file has at most this many of them (TREC's coarse set has 6).
LABEL_LENGTH, LABEL_COUNT = 20, 20


def read_lines(path: Path, text: str, header: tuple[str, ...], delimiter: str) -> Table:
    """Read headerless lines by ``header`` and ``delimiter``, or by their recognised form; blank lines are left out."""
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if header:
        split, notes = _splitter(header, delimiter or "\t"), {}
    else:
        header, delimiter = _recognise(path, [line for _, line in lines])
        split = _splitter(header, delimiter)
        named = "_".join(header) + ("_at_tabs" if delimiter == "\t" else "_at_spaces")
        notes = {f"rows_read_as_{named}": len(lines)}
    rows = []
    for number, (line, content) in enumerate(lines, 1):
        values = split(content)
        if len(values) != len(header):
            raise Refused(f"{path}, line {line}: {len(values)} values for the {len(header)} of --header")
        rows.append(Row(f"row {number} (line {line})", number, dict(zip(header, values, strict=True))))
    return Table(str(path), stem(path), header, rows, notes=notes)


def _splitter(header: tuple[str, ...], delimiter: str) -> Callable[[str], list[str]]:
    """At spaces only the short columns are split off and the text keeps its own spaces; at tabs every tab counts.

    A line that holds nothing but a label (there is one in MPQA) has the empty text.
    """
    if delimiter != " ":
        return lambda line: line.split(delimiter)
    cuts = len(header) - 1
    if header[0] == "text":
        return lambda line: _padded(line.rstrip().rsplit(None, cuts), cuts, front=True)
    return lambda line: _padded(line.lstrip().split(None, cuts), cuts, front=False)


def _padded(parts: list[str], cuts: int, *, front: bool) -> list[str]:
    return parts if len(parts) != cuts else ["", *parts] if front else [*parts, ""]


def _recognise(path: Path, lines: Sequence[str]) -> tuple[tuple[str, ...], str]:
    tabbed = [line.split("\t") for line in lines]
    if all(len(parts) == 2 for parts in tabbed):
        if _labels([parts[1] for parts in tabbed]):
            return ("text", "label"), "\t"
        if _labels([parts[0] for parts in tabbed]):
            return ("label", "text"), "\t"
    elif _labels([line.split(None, 1)[0] for line in lines]) and not any("\t" in line for line in lines):
        return ("label", "text"), " "
    raise Refused(
        f"{path}: its form is not recognised; say what its columns are with --header text,label --delimiter tab "
        "(or comma, space), or name the file .csv, .tsv, .jsonl, .json or .parquet"
    )


def _labels(words: Sequence[str]) -> bool:
    """Whether these could be the labels of a file: single short words, few of them, each twice or known as a label."""
    distinct = {word.strip() for word in words}
    short = all(0 < len(word) <= LABEL_LENGTH and len(word.split()) == 1 for word in distinct)
    known = all(word.isdecimal() or word.casefold() in SYNONYMS for word in distinct)
    return short and len(distinct) <= LABEL_COUNT and (known or 2 * len(distinct) <= len(words))
