"""Examples on disk: those of a source too large to be held, each read when it is asked for. large.py writes them.

    FOLDER/  rows.txt  ends.bin  code.bin  print.bin  key.bin  own.bin  made.bin  pair.bin  band-00.bin …  rows.json

A line of rows.txt is the example's id, text and gold as the content hash has them, a tab, its ``about``, a tab, the
group that its task makes of it. Of each row some 200 bytes of numbers stand beside: where it ends, its label's code,
fingerprints of its text and key, of its group and pair, MinHash keys. They are mapped and read as columns. All files
are opened at once: the cache may remove a folder that a run still reads.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from heldout.data.golds import UNLABELLED
from heldout.data.labels import in_order
from heldout.records import Example, content_hash

Array = NDArray[Any]
TYPES = {"ends": "int64", "code": "int32"}
UNCODED = -1
META = "rows.json"


class Store:
    """The rows of one source. ``labels`` are what codes mean; ``grouped``: whether the groups that the task makes hold.

    ``held`` is a temporary folder's handle: the folder goes with the store.
    """

    def __init__(self, folder: Path, held: Any = None) -> None:
        self.held = held
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
        self.labels: list[str] = meta["labels"]
        self.fields: list[str] = meta["fields"]
        self.grouped: bool = meta["grouped"]
        self._columns = {path.stem: _mapped(path) for path in folder.glob("*.bin")}
        self.ends = self.column("ends")
        self._file = os.open(folder / "rows.txt", os.O_RDONLY)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)
        if self.held is not None:
            self.held.cleanup()

    def __len__(self) -> int:
        return len(self.ends) - 1

    def column(self, name: str) -> Array:
        """One number a row, mapped (``ends`` has one more)."""
        return self._columns[name]

    @property
    def group(self) -> Array:
        """A fingerprint of every row's group, 0 for none."""
        own = self.column("own")
        return np.where(own, own, self.column("made")) if self.grouped else own

    def parts(self, row: int) -> list[bytes]:
        """A row's line: question, about, group."""
        start = int(self.ends[row])
        # Not mapped: a pass over all texts would count every page of the file as this process's memory.
        return os.pread(self._file, int(self.ends[row + 1]) - start - 1, start).split(b"\t")

    def example(self, row: int) -> Example:
        """A row as an example."""
        question, said, group = self.parts(row)
        identity, text, gold = json.loads(question.decode("utf-8", "surrogatepass"))
        about = json.loads(said)
        if group and self.grouped:
            about["group"] = group.decode()
        return Example(identity, {field: text[field] for field in self.fields}, gold, about)


def _mapped(path: Path) -> Array:
    return np.asarray(np.memmap(path, TYPES.get(path.stem, "uint64"), "r"))


class Rows(Sequence[Example]):
    """Some rows of a store, in their order; ``overlap`` marks some of them (about.overlap), by row."""

    def __init__(self, store: Store, rows: Array | None = None, overlap: Mapping[int, str] | None = None) -> None:
        self.store = store
        self.rows = np.arange(len(store)) if rows is None else rows
        self.overlap = overlap or {}

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> Example: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Example]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self._example(row) for row in self.rows[at].tolist()]
        return self._example(int(self.rows[at]))

    def __iter__(self) -> Iterator[Example]:
        for start in range(0, len(self), 4096):
            for row in self.rows[start : start + 4096].tolist():
                yield self._example(row)

    def _example(self, row: int) -> Example:
        example = self.store.example(row)
        if row in self.overlap:
            return Example(example.id, example.text, example.gold, {**example.about, "overlap": self.overlap[row]})
        return example

    def take(self, positions: Any) -> "Rows":
        """The rows at these positions (or where a mask is true)."""
        return Rows(self.store, self.rows[positions], self.overlap)

    def marked(self, found: Sequence[str | None]) -> "Rows":
        """The same rows, with about.overlap where ``found`` says something of one."""
        told = {row: match for row, match in zip(self.rows.tolist(), found, strict=True) if match is not None}
        return Rows(self.store, self.rows, {**self.overlap, **told})

    def column(self, name: str) -> Array:
        """One number of each of these rows."""
        return self.store.column(name)[self.rows]

    @property
    def groups(self) -> Array:
        """A fingerprint of each row's group, 0 for none."""
        return self.store.group[self.rows]

    def counted(self) -> dict[str, int]:
        """How often there is which label, as golds.counted has it."""
        codes, counts = np.unique(self.column("code"), return_counts=True)
        found = {
            UNLABELLED if code == UNCODED else self.store.labels[code]: n
            for code, n in zip(codes.tolist(), counts.tolist(), strict=True)
        }
        return {name: found[name] for name in in_order(found)}

    def one_of_each(self) -> list[Example]:
        """The first example of every label."""
        _, first = np.unique(self.column("code"), return_index=True)
        return [self[position] for position in np.sort(first).tolist()]

    def digest(self) -> str:
        """records.content_hash of these rows."""
        digest = hashlib.sha256()
        for row in self.rows.tolist():
            digest.update(self.store.parts(row)[0] + b"\n")
        return digest.hexdigest()


def take(examples: Sequence[Example], positions: Sequence[int]) -> Sequence[Example]:
    """The examples at these positions."""
    if isinstance(examples, Rows):
        return examples.take(np.asarray(positions, np.int64))
    return tuple(examples[position] for position in positions)


class Ids(Sequence[str]):
    """The ids of rows on disk."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> Any:
        return [one.id for one in self._rows[at]] if isinstance(at, slice) else self._rows[at].id


def ids_of(examples: Sequence[Example]) -> Sequence[str]:
    """The ids of examples, wherever they are."""
    return Ids(examples) if isinstance(examples, Rows) else [example.id for example in examples]


def hash_of(examples: Sequence[Example]) -> str:
    """records.content_hash of examples, wherever they are."""
    return examples.digest() if isinstance(examples, Rows) else content_hash(examples)


def representatives(examples: Sequence[Example]) -> Sequence[Example]:
    """Examples among which is one of every label: all, or of rows on disk the first of each."""
    return examples.one_of_each() if isinstance(examples, Rows) else examples
