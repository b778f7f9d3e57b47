"""Folders and files of reviews as their authors published them.

aclImdb (Maas et al. 2011): ``train/pos/0_9.txt``, one review a file, named id_stars; gold is the folder's name.
Multi-domain sentiment (Blitzer et al. 2007): ``books/positive.review``, markup that only looks like XML (& and < stand
unescaped), so it is cut by its tags; gold is the file's name, and the group is the product.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heldout.data.files import decode, missing, read_bytes, read_text, stem
from heldout.data.names import Reading
from heldout.data.table import Row, Table
from heldout.errors import Refused
from heldout.options import nearest

POLARITIES = ("neg", "pos")
REVIEW = re.compile(r"<review>(.*?)</review>", re.DOTALL)
TAG = re.compile(r"<(\w+)>\n(.*?)\n</\1>", re.DOTALL)


def read_folder(folder: Path, split: str, reading: Reading) -> Table:
    """Read a folder of reviews; ``split`` names one of its splits where it has several (aclImdb:test)."""
    if split:
        if not (folder / split).is_dir():
            names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
            raise Refused(f"{folder}:{split}: the folder has no split {split!r}{nearest(split, names)}")
        folder = folder / split
    if all((folder / polarity).is_dir() for polarity in POLARITIES):
        return _polarity_folders(folder, reading)
    if any(folder.glob("*.review")):
        return _review_files(folder, reading)
    inner = [entry.name for entry in sorted(folder.iterdir()) if all((entry / p).is_dir() for p in POLARITIES)]
    if inner:
        raise Refused(f"{folder}: holds the splits {', '.join(inner)}; name one: {folder}:{inner[-1]}")
    raise Refused(f"{folder}: a folder is read as aclImdb (pos/ and neg/) or as *.review files; this has neither")


def _polarity_folders(folder: Path, reading: Reading) -> Table:
    name = folder.resolve().name
    rows: list[Row] = []
    for polarity in POLARITIES:
        for path in sorted((folder / polarity).glob("*.txt"), key=_by_number):
            identity = f"{name}/{polarity}/{path.stem}"
            # A file is one review here: an empty one is dropped and counted as an empty row of a table is.
            text = decode(read_bytes(path, may_be_empty=True), str(path), reading.encoding)
            values = {"id": identity, "text": text, "label": polarity}
            rows.append(Row(str(path.relative_to(folder)), len(rows) + 1, values))
    if not rows:
        raise Refused(f"{folder}: no .txt file in pos/ or neg/")
    unlabelled = sum(1 for _ in (folder / "unsup").glob("*.txt"))
    notes = {"files_without_label_not_read": unlabelled} if unlabelled else {}
    return Table(str(folder), name, ("id", "text", "label"), rows, notes=notes, markup=True)


def _by_number(path: Path) -> tuple[int, str]:
    digits = re.match(r"\d+", path.stem)
    return (int(digits[0]) if digits else -1, path.stem)


def _review_files(folder: Path, reading: Reading) -> Table:
    paths = [path for path in (folder / "negative.review", folder / "positive.review") if path.exists()]
    if not paths:
        raise missing(folder / "positive.review")
    rows = [row for path in paths for row in _reviews(path, reading)]
    rows = [Row(row.place, number, row.values) for number, row in enumerate(rows, 1)]
    return _table(str(folder), folder.resolve().name, rows)


def read_reviews(path: Path, reading: Reading) -> Table:
    """Read one .review file."""
    return _table(str(path), stem(path), list(_reviews(path, reading)))


def _table(source: str, name: str, rows: list[Row]) -> Table:
    columns = dict.fromkeys(key for row in rows for key in row.values)
    return Table(source, name, tuple(columns), rows)


def _reviews(path: Path, reading: Reading) -> Iterator[Row]:
    text = read_text(path, reading.encoding).replace("\r\n", "\n")
    opened = len(re.findall(r"^<review>$", text, re.MULTILINE))
    found = REVIEW.findall(text)
    if not found or len(found) != opened:
        raise Refused(f"{path}: {opened} <review> tags open and {len(found)} close; is the file whole?")
    for number, body in enumerate(found, 1):
        values: dict[str, Any] = {}
        for tag, value in TAG.findall(body):
            values.setdefault(tag, value.strip())
        if "review_text" not in values:
            raise Refused(f"{path}, review {number}: no <review_text>")
        label = stem(path) if stem(path) in ("positive", "negative") else _polarity(values.get("rating"))
        yield Row(f"{path.name}, review {number}", number, _named(values, label))


def _named(values: dict[str, Any], label: str | None) -> dict[str, Any]:
    # unique_id is not unique in these files (the same review stands under several products), so ids are row numbers.
    return {
        "text": values["review_text"],
        "label": label,
        "group": values.get("product_name"),
        "domain": values.get("product_type"),
    } | {key: value for key, value in values.items() if key not in ("id", "text", "label", "group", "domain")}


def _polarity(rating: str | None) -> str | None:
    """The authors' rule where the file's name says nothing: over 3 stars positive, under 3 negative, else no label."""
    try:
        stars = float(rating or "")
    except ValueError:
        return None
    return "positive" if stars > 3 else "negative" if stars < 3 else None
