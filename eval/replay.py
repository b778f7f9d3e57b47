"""Replay: the stored predictions scored again as they were; every stored number must come out the same to the last bit.

The run's records are linked into a folder of their own, so that scoring writes there, and what was kept in scores/ and
fits/ is held against what comes out. What is new since (a metric that was not there yet) is told and is no fault.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.eval.run_data import names_of
from heldout.eval.run_scores import score_run
from heldout.eval.table import BINS
from heldout.runs import read_json

#: What scoring reads of a run folder: linked, as it is only read; copied, as it is written anew.
LINKED, COPIED = ("gold", "predictions"), ("card.json", "options.json", "slices.json", "ledger.json", "fits")
#: Stands for a number that is not there.
ABSENT = object()


@dataclass(frozen=True)
class Change:
    """A stored number that came out otherwise: where it stands ("films, negation=rest, accuracy, low"), old and new."""

    where: str
    stored: Any
    found: Any

    def __str__(self) -> str:
        """As a line for people."""
        return f"{self.where}: was {_shown(self.stored)}, is {_shown(self.found)}"


@dataclass(frozen=True)
class Replayed:
    """What came of it: how many numbers were held against each other, those that changed, where there are new ones."""

    numbers: int
    changes: tuple[Change, ...]
    new: tuple[str, ...]


def replay(folder: Path, data: str | None = None, say: Callable[[str], None] = lambda name: None) -> Replayed:
    """Score a run folder's data sets again with the replicates, seed and bins of their stored scores; writes nothing.

    Refused where there are no stored scores. ``say`` is told the name of each set first.
    """
    stored = {path.stem: read_json(path) for path in sorted((folder / "scores").glob("*.json"))}
    names = [name for name in names_of(folder) if name in stored] if data is None else [data]
    missing = [name for name in names if name not in stored]
    if missing or not names:
        which = f"scores/{missing[0]}.json" if missing else "scores/NAME.json"
        raise Refused(f"{folder}: holds no {which} to replay; heldout score {folder} makes it")
    kept = _fits(folder)
    with tempfile.TemporaryDirectory(prefix="heldout-replay-") as temporary:
        scratch = Path(temporary)
        _furnish(scratch, folder)
        found = {name: _again(scratch, name, stored[name], say) for name in names}
        fits = _fits(scratch)
    pairs = [(name, stored[name], found[name]) for name in names] + [("fits", kept, fits)]
    held = [pair for name, old, new in pairs for pair in _numbers((name,), old, new)]
    return Replayed(
        sum(old is not ABSENT for _, old, _ in held),
        tuple(Change(where, old, new) for where, old, new in held if old is not ABSENT and not _same(old, new)),
        tuple(where for where, old, _ in held if old is ABSENT),
    )


def reasons(folder: Path, changes: tuple[Change, ...]) -> list[str]:
    """What may have made numbers change: the records themselves, or versions other than those of the run."""
    places = {change.where.rsplit(", ", 1)[-1] for change in changes}
    found = []
    if "gold_hash" in places:
        found.append("gold is not what was scored")
    elif "inputs_hash" in places:
        found.append("predictions, the card or what gold tells about its examples are not what was scored")
    path = folder / "environment.json"
    versions = read_json(path).get("versions", {}) if path.exists() else {}
    for name in ("heldout", "numpy"):
        if name in versions and versions[name] != metadata.version(name):
            found.append(f"{name} is {metadata.version(name)}, {versions[name]} when the run was made")
    return found


def _again(scratch: Path, name: str, stored: Mapping[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """The scores made with the replicates, the seed and the bins of the stored ones; bins stand with an ECE."""
    bins = next((entry["bins"] for entry in stored["metrics"].values() if "bins" in entry), BINS)
    replicates, seed = stored["replicates"], stored["seed"]
    return score_run(scratch, name, replicates=replicates, seed=seed, bins=bins, say=say)[name]


def _furnish(scratch: Path, folder: Path) -> None:
    for name in LINKED:
        (scratch / name).symlink_to((folder / name).resolve())
    for name in COPIED:
        source = folder / name
        if source.is_dir():
            shutil.copytree(source, scratch / name)
        elif source.exists():
            shutil.copy(source, scratch / name)


def _fits(folder: Path) -> dict[str, Any]:
    return {path.stem: read_json(path) for path in sorted((folder / "fits").glob("*.json"))}


def _numbers(where: tuple[str | int, ...], old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """(place, stored, found) of every number, truth value and hash on either side; words (methods, notes) are none."""
    if isinstance(old, Mapping) or isinstance(new, Mapping):
        sides = [side if isinstance(side, Mapping) else {} for side in (old, new)]
        for key in dict.fromkeys([*sides[0], *sides[1]]):
            yield from _numbers((*where, key), sides[0].get(key, ABSENT), sides[1].get(key, ABSENT))
    elif isinstance(old, list) or isinstance(new, list):
        lists = [dict(enumerate(side)) if isinstance(side, list) else side for side in (old, new)]
        yield from _numbers(where, *lists)
    elif not all(isinstance(side, str) or side is ABSENT for side in (old, new)) or str(where[-1]).endswith("hash"):
        yield ", ".join(str(part) for part in where if part not in ("metrics", "slices", "variants")), old, new


def _same(old: Any, new: Any) -> bool:
    """Equal to the last bit: JSON writes a float so that reading gives it back."""
    return type(old) is type(new) and bool(old == new)


def _shown(value: Any) -> str:
    return "absent" if value is ABSENT else repr(value)
