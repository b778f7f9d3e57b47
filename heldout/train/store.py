"""What a teacher gives beside answers, on disk: its logits and states of every window that a student will read.

    windows/  key.json {"tokenizer", "max_length", …, "windows", "teacher"}   00000.safetensors   00001.safetensors  …

A store is good for the same tokenizer, the same window geometry and the same teacher only; for anything else it is
refused, by what differs. A file holds SHARD windows, tokens one after the other; files are memory-mapped, and of one
no more is read than a window's rows. A pass that was stopped goes on with the files that lack. States are kept in half
precision (rounded by 1/2,000 of them), logits in full.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from heldout.errors import Refused
from heldout.runs import atomic, read_json, write_json
from heldout.train.checkpoint import disk_errors
from heldout.train.predict import TOKEN_BUDGET
from heldout.train.task import Encoding
from heldout.train.windows import Batch, Window, by_budget

#: Windows a file.
SHARD = 512
LOGITS = "logits"
#: The parts of a key, each with what a person calls it.
PARTS = {
    "tokenizer": "tokenizer",
    "max_length": "--max-length",
    "long": "--long",
    "stride": "--stride",
    "only": "--only",
    "teacher": "teacher",
    "tensors": "--hidden",
    "windows": "texts",
}


def tokenizer_hash(tokenizer: PreTrainedTokenizerFast) -> str:
    """SHA-256 of everything that makes ids of a text."""
    return hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest()


def key_of(encoding: Encoding, windows: Sequence[Window], *, teacher: str, tensors: Sequence[str]) -> dict[str, Any]:
    """What a store must agree on: tokenizer, geometry, the windows themselves, the teacher and the tensors kept."""
    digest = hashlib.sha256()
    for window in windows:
        digest.update(json.dumps(list(window.inputs["input_ids"])).encode())
    return {
        "tokenizer": tokenizer_hash(encoding.tokenizer),
        "max_length": encoding.max_length,
        "long": encoding.long,
        "stride": encoding.stride,
        "only": encoding.only,
        "teacher": teacher,
        "tensors": sorted(tensors),
        "windows": digest.hexdigest(),
    }


class Store:
    """The teacher's outputs of windows of these lengths, in their order."""

    def __init__(self, folder: Path, lengths: Sequence[int]) -> None:
        self.folder = folder
        self._lengths = lengths
        shards = [lengths[start : start + SHARD] for start in range(0, len(lengths), SHARD)]
        self._starts = [start for shard in shards for start in [*accumulate(shard, initial=0)][:-1]]
        self._open: dict[int, Any] = {}

    def read(self, name: str, row: int) -> Tensor:
        """A tensor of one window: (its length, width), float32."""
        shard, start = row // SHARD, self._starts[row]
        if shard not in self._open:
            self._open[shard] = safe_open(_path(self.folder, shard), framework="pt")
        found: Tensor = self._open[shard].get_slice(name)[start : start + self._lengths[row]]
        return found.float()


def open_store(folder: Path, key: Mapping[str, Any], windows: Sequence[Window]) -> Store:
    """A store that is there; Refused, saying what differs, where it was made for anything else or is not whole."""
    kept = read_json(folder / "key.json")
    for part, shown in PARTS.items():
        if kept.get(part) != key[part]:
            values = "" if part in ("tokenizer", "windows", "teacher") else f" ({kept.get(part)}, not {key[part]})"
            raise Refused(
                f"{folder}: these outputs of a teacher are of another {shown}{values}; a student must read the same "
                "windows of the same texts, so give --teacher RUN to have them computed"
            )
    lacking = [shard for shard in range(-(-len(windows) // SHARD)) if not _path(folder, shard).exists()]
    if lacking:
        raise Refused(f"{folder}: lacks {_path(folder, lacking[0]).name}; give --teacher RUN to have it computed")
    return Store(folder, [len(window) for window in windows])


def fill(
    folder: Path,
    key: Mapping[str, Any],
    windows: Sequence[Window],
    collate: Callable[[Sequence[Window]], Batch],
    outputs: Callable[[Batch], Mapping[str, Tensor]],
    advance: Callable[[int], None],
) -> None:
    """Compute what the store lacks: ``outputs`` gives tensors (rows, longest, width) by name, of a batch.

    A store of another key is removed first. Refused where the disk has no room for all of it.
    """
    if not (folder / "key.json").exists() or read_json(folder / "key.json") != key:
        shutil.rmtree(folder, ignore_errors=True)
        write_json(folder / "key.json", key)
    for shard, start in enumerate(range(0, len(windows), SHARD)):
        rows = windows[start : start + SHARD]
        if not _path(folder, shard).exists():
            tensors = _compute(rows, collate, outputs)
            _check_room(folder, tensors, sum(map(len, windows[start:])) / max(sum(map(len, rows)), 1))
            with atomic(_path(folder, shard)) as temporary, disk_errors():
                save_file(tensors, temporary)
        advance(len(rows))


def _compute(
    windows: Sequence[Window],
    collate: Callable[[Sequence[Window]], Batch],
    outputs: Callable[[Batch], Mapping[str, Tensor]],
) -> dict[str, Tensor]:
    found: dict[int, dict[str, Tensor]] = {}
    for rows in by_budget([len(window) for window in windows], TOKEN_BUDGET):
        with torch.inference_mode():
            given = outputs(collate([windows[row] for row in rows]))
        for number, row in enumerate(rows):
            found[row] = {name: tensor[number, : len(windows[row])].cpu() for name, tensor in given.items()}
    return {
        name: torch.cat([found[row][name] for row in range(len(windows))]).to(_kept_as(name)).contiguous()
        for name in found[0]
    }


def _kept_as(name: str) -> torch.dtype:
    return torch.float32 if name == LOGITS else torch.float16


def _check_room(folder: Path, tensors: Mapping[str, Tensor], shards: float) -> None:
    wanted = shards * sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    free = shutil.disk_usage(folder).free
    if wanted > free:
        raise Refused(
            f"{folder}: the teacher's outputs would take {wanted / 1e9:,.1f} GB and the disk has {free / 1e9:,.1f} GB; "
            "use --limit, a smaller --max-length or another --out"
        )


def _path(folder: Path, shard: int) -> Path:
    return folder / f"{shard:05d}.safetensors"
