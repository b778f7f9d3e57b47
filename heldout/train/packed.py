"""Windows as flat arrays instead of Python's lists, in memory or memory-mapped; a Window is made when it is asked for.

25,000 reviews of 256 tokens take 32 MB so, and 900 MB as lists of integers. The arrays, for N examples with W windows
of T tokens in all:

    first (N + 1,)  the windows of each example     bounds (W + 1,)  the tokens of each window     weight (W,)
    one array (T,) for each of the model's inputs   target (W,) or (T,)   places (T,), where a task has them
    tokens, lost (N,)                               what was read of each example
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from heldout.train.windows import Window

Array = NDArray[Any]
#: In the place of a target that is not known.
UNKNOWN = -1
TYPES = {"first": "int64", "bounds": "int64", "weight": "float64", "token_type_ids": "uint8"}
META = "form.json"


@dataclass(frozen=True)
class Form:
    """Which arrays there are: the names of the model's ``inputs`` in order, whether a target is one of each position.

    ``places``: whether there are any.
    """

    inputs: tuple[str, ...]
    positions: bool
    places: bool

    @property
    def names(self) -> list[str]:
        """All arrays by name."""
        held = ["first", "bounds", "weight", "target", "tokens", "lost", *self.inputs]
        return [*held, "places"] if self.places else held


def form_of(window: Window) -> Form | None:
    """The form that holds a window and its like; None where its places or target are of another kind (spans)."""
    target, places = window.target, window.places
    if not isinstance(places, list | None) or not isinstance(target, int | list | None):
        return None
    return Form(tuple(window.inputs), isinstance(target, list), places is not None)


class Packed(Sequence[Sequence[Window]]):
    """The windows of every example, in order."""

    def __init__(self, form: Form, arrays: Mapping[str, Array]) -> None:
        self.form = form
        self.arrays = arrays
        self._first, self._bounds = arrays["first"], arrays["bounds"]

    def __len__(self) -> int:
        return len(self._first) - 1

    @overload
    def __getitem__(self, at: int) -> Sequence[Window]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Sequence[Window]]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[row] for row in range(*at.indices(len(self)))]
        row = range(len(self))[at]
        return [self.window(number, row) for number in range(int(self._first[row]), int(self._first[row + 1]))]

    def window(self, number: int, row: int) -> Window:
        """The window of this number among all, which is of example ``row``."""
        arrays, inside = self.arrays, slice(int(self._bounds[number]), int(self._bounds[number + 1]))
        inputs = {name: arrays[name][inside].tolist() for name in self.form.inputs}
        target = arrays["target"][inside].tolist() if self.form.positions else int(arrays["target"][number])
        places = arrays["places"][inside].tolist() if self.form.places else None
        return Window(row, inputs, None if target == UNKNOWN else target, float(arrays["weight"][number]), places)

    @property
    def lengths(self) -> Array:
        """The tokens of each example's windows together, (N,)."""
        return np.diff(self._bounds[self._first])

    def owner(self, number: int) -> int:
        """The example of the window of this number."""
        return int(np.searchsorted(self._first, number, "right")) - 1

    @property
    def total(self) -> int:
        """How many windows there are."""
        return len(self._bounds) - 1

    def flat(self) -> "Flat":
        """All windows in one row."""
        return Flat(self)


class Flat(Sequence[Window]):
    """All windows of all examples, in order."""

    def __init__(self, packed: Packed) -> None:
        self._packed = packed

    def __len__(self) -> int:
        return self._packed.total

    @overload
    def __getitem__(self, at: int) -> Window: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Window]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        number = range(len(self))[at]
        return self._packed.window(number, self._packed.owner(number))

    def __iter__(self) -> Iterator[Window]:
        return chain.from_iterable(self._packed)


class Seen(Sequence[dict[str, int]]):
    """What was read of every example: {"tokens", "lost"}."""

    def __init__(self, packed: Packed) -> None:
        self._arrays = [packed.arrays["tokens"], packed.arrays["lost"]]

    def __len__(self) -> int:
        return len(self._arrays[0])

    @overload
    def __getitem__(self, at: int) -> dict[str, int]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[dict[str, int]]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[row] for row in range(*at.indices(len(self)))]
        tokens, lost = self._arrays
        return {"tokens": int(tokens[at]), "lost": int(lost[at])}


class Writer(Protocol):
    """Where arrays go, a block at a time."""

    def add(self, name: str, values: Array) -> None:
        """Append values to the array of this name."""


class InMemory:
    """Blocks of arrays, joined at the end."""

    def __init__(self) -> None:
        self._blocks: dict[str, list[Array]] = {}

    def add(self, name: str, values: Array) -> None:
        """Append values to the array of this name."""
        self._blocks.setdefault(name, []).append(values)

    def arrays(self) -> dict[str, Array]:
        """The whole arrays."""
        return {name: np.concatenate(blocks) for name, blocks in self._blocks.items()}


class InFolder:
    """Files NAME.bin of a folder, which grow block by block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, name: str, values: Array) -> None:
        """Append values to the array of this name."""
        with (self._folder / f"{name}.bin").open("ab") as file:
            file.write(values.tobytes())


def pack(blocks: Iterable[tuple[Sequence[Sequence[Window]], Sequence[Mapping[str, int]]]], to: Writer) -> Form | None:
    """Write blocks of examples' windows, with what was read of each; None, at the first, where no form holds them."""
    form, windows, tokens = None, 0, 0
    for examples, seen in blocks:
        flat = list(chain.from_iterable(examples))
        if form is None:
            form = form_of(flat[0])
            if form is None:
                return None
            to.add("first", np.zeros(1, np.int64))
            to.add("bounds", np.zeros(1, np.int64))
        first = windows + np.cumsum([len(own) for own in examples])
        bounds = tokens + np.cumsum([len(window) for window in flat])
        windows, tokens = int(first[-1]), int(bounds[-1])
        for name, values in _block(form, flat, seen).items():
            to.add(name, values.astype(TYPES.get(name, "int32")))
        to.add("first", first)
        to.add("bounds", bounds)
    return form


def _block(form: Form, flat: Sequence[Window], seen: Sequence[Mapping[str, int]]) -> dict[str, Array]:
    def joined(rows: Iterable[Sequence[int]]) -> Array:
        return np.fromiter(chain.from_iterable(rows), np.int64)

    found = {name: joined(window.inputs[name] for window in flat) for name in form.inputs}
    if form.positions:
        found["target"] = joined(window.target for window in flat)
    else:
        found["target"] = np.array([UNKNOWN if window.target is None else window.target for window in flat])
    if form.places:
        found["places"] = joined(window.places for window in flat)
    found["weight"] = np.array([window.weight for window in flat])
    return found | {name: np.array([one[name] for one in seen]) for name in ("tokens", "lost")}


def save_form(folder: Path, form: Form) -> None:
    """Write what the arrays of a folder are."""
    (folder / META).write_text(json.dumps(form.__dict__) + "\n", encoding="utf-8")


def open_packed(folder: Path) -> Packed:
    """The windows in a folder, memory-mapped."""
    held = json.loads((folder / META).read_text(encoding="utf-8"))
    form = Form(tuple(held["inputs"]), held["positions"], held["places"])
    return Packed(form, {name: _mapped(folder / f"{name}.bin", TYPES.get(name, "int32")) for name in form.names})


def _mapped(path: Path, kind: str) -> Array:
    """A plain view of the mapped file: numpy's memmap class makes each slice ten times as slow."""
    if not path.stat().st_size:
        return np.zeros(0, kind)
    return np.asarray(np.memmap(path, kind, "r"))
