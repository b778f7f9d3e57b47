"""Examples appended to the files of a store, a block at a time (heldout/data/rows.py says which)."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout.data import minhash
from heldout.data.duplicates import fold_example, fold_field
from heldout.data.rows import TYPES, UNCODED, Array, Rows
from heldout.records import Example, canonical


class RowWriter:
    """Appends examples to a store's files.

    ``group`` is the group that the task makes of an example ("" for none), ``key`` the text field that near duplicates
    are looked for in ("" for all).
    """

    def __init__(self, folder: Path, group: Callable[[Example], str], key: str) -> None:
        self.folder, self.group, self.key = folder, group, key
        self.labels: dict[str, int] = {}
        self.digest = hashlib.sha256()
        self.total = self._end = 0
        self._append("ends", [0])

    def add(self, examples: Sequence[Example]) -> None:
        """Append a block."""
        if not examples:
            return
        groups = [self.group(example) for example in examples]
        questions = [canonical([one.id, one.text, one.gold]).encode("utf-8", "surrogatepass") for one in examples]
        lines = [
            b"%s\t%s\t%s\n" % (question, json.dumps(dict(one.about)).encode(), _added(one, group))
            for question, one, group in zip(questions, examples, groups, strict=True)
        ]
        with (self.folder / "rows.txt").open("ab") as file:
            file.writelines(lines)
        for question in questions:
            self.digest.update(question + b"\n")
        ends = self._end + np.cumsum([len(line) for line in lines])
        self._end = int(ends[-1])
        self._append("ends", ends)
        self._append("code", [self._code(one.gold) for one in examples])
        folds = [fold_example(example) for example in examples]
        keys = [fold_field(one, self.key) for one in examples] if self.key else folds
        self._append("print", [minhash.fingerprint(text) for text in folds])
        self._append("key", [minhash.fingerprint(text) for text in keys])
        self._append("own", [_mark(one.about.get("group")) for one in examples])
        self._append("made", [_mark(group or None) for group in groups])
        self._append("pair", [_mark(one.about.get("pair")) for one in examples])
        for band, column_ in enumerate(minhash.keys(keys).T):
            self._append(f"band-{band:02}", column_)
        self.total += len(examples)

    def _code(self, gold: str | None) -> int:
        return UNCODED if gold is None else self.labels.setdefault(gold, len(self.labels))

    def grouped(self) -> bool:
        """Whether rows share what the task makes a group of."""
        made = np.fromfile(self.folder / "made.bin", np.uint64)
        return bool(made.any()) and len(np.unique(made)) < len(made)

    def _append(self, name: str, values: Sequence[int] | Array) -> None:
        with (self.folder / f"{name}.bin").open("ab") as file:
            file.write(np.asarray(values, TYPES.get(name, "uint64")).tobytes())


def _added(example: Example, group: str) -> bytes:
    return b"" if "group" in example.about else group.encode()


def _mark(value: Any) -> int:
    """A group or pair as 64 bits, 0 for none."""
    return 0 if value is None else minhash.fingerprint(str(value)) or 1


def marks_of(examples: Sequence[Example]) -> Array:
    """The groups of examples as 64 bits each, 0 for none."""
    if isinstance(examples, Rows):
        return examples.groups
    return np.array([_mark(example.about.get("group")) for example in examples], np.uint64)
