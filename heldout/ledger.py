"""The ledger: for every split its source, hash, count and drops; for every fitted thing the split it was fitted on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.runs import read_json, write_json

#: With the name of a split behind it: the note of a split all of whose texts stand in that one.
STANDS_WHOLE_IN = "stands_whole_in_"
#: The note of a split that was read from that one's source, of which that one may have used a part only.
FROM_THE_SOURCE_OF = "from_the_source_of_"

#: The keys of a fitted thing and of a split with the types of their values; a dict holds counts.
FITTED: Mapping[str, type] = {"split": str, "hash": str, "n": int}
COUNTED: Mapping[str, type] = {"labels": dict, "dropped": dict, "notes": dict}
SPLIT: Mapping[str, type] = {"source": str, "hash": str, "n": int, "cleaning": list, **COUNTED}
KINDS = {str: "a string", int: "a whole number", list: "a list", dict: "an object of counts"}


@dataclass(frozen=True)
class Split:
    """One split as used: what it was read from, what was dropped on the way and why, and what was noticed and kept."""

    source: str
    hash: str
    n: int
    labels: Mapping[str, int]
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    cleaning: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """The split's entry in ledger.json."""
        return {
            "source": self.source,
            "hash": self.hash,
            "n": self.n,
            "labels": dict(self.labels),
            "dropped": dict(self.dropped),
            "notes": dict(self.notes),
            "cleaning": list(self.cleaning),
        }


@dataclass(frozen=True)
class Ledger:
    """All splits by name, all fitted things by name ({"split", "hash", "n"}), text overlap between splits, the plan."""

    splits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fitted: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    overlap: Mapping[str, int] = field(default_factory=dict)
    plan: str = ""

    def with_split(self, name: str, split: Split) -> "Ledger":
        """A ledger that holds ``split`` under ``name`` as well."""
        return Ledger({**self.splits, name: split.to_json()}, self.fitted, self.overlap, self.plan)

    def with_fitted(self, name: str, split: str, split_hash: str, n: int) -> "Ledger":
        """A ledger that says ``name`` (a temperature, a choice of checkpoint) was fitted on ``split``."""
        entry = {"split": split, "hash": split_hash, "n": n}
        return Ledger(self.splits, {**self.fitted, name: entry}, self.overlap, self.plan)

    def with_overlap(self, pairs: Mapping[str, int]) -> "Ledger":
        """A ledger that also counts, for 'train/test'-like pair names, the texts of the second found in the first."""
        return Ledger(self.splits, self.fitted, {**self.overlap, **pairs}, self.plan)

    def with_plan(self, plan: str) -> "Ledger":
        """A ledger with the hash of the plan of steps."""
        return Ledger(self.splits, self.fitted, self.overlap, plan)

    def fitted_on(self, split_hash: str, name: str = "") -> list[str]:
        """What was fitted on the split ``name`` with this hash, in order; "weights" where it is train by another name.

        So it is where hashes are equal, and where the split's notes say that it stands whole in train or in dev, or
        was read from the source of one: a copy, a part, or a train that was cut has a hash of its own.
        """
        notes = self.splits.get(name, {}).get("notes", {})
        said = (STANDS_WHOLE_IN, FROM_THE_SOURCE_OF)
        whole = [split for split in ("train", "dev") if any(notes.get(f"{note}{split}") for note in said)]
        things = {t for t, entry in self.fitted.items() if entry["hash"] == split_hash or entry["split"] in whole}
        if "train" in whole or self.splits.get("train", {}).get("hash") == split_hash:
            things.add("weights")
        return sorted(things)


def read_ledger(folder: Path) -> Ledger:
    """The ledger of a run folder; Refused with the file and the place in it where it is no ledger of ours."""
    path = folder / "ledger.json"
    row = read_json(path)
    wrong = _wrong(row)
    if wrong:
        raise Refused(f"{path}: {wrong}; mend or remove the file")
    return Ledger(row.get("splits", {}), row.get("fitted", {}), row.get("overlap", {}), row.get("plan", ""))


def _wrong(row: Any) -> str:
    """What of a ledger's JSON is not as ``write_ledger`` writes it, "" for nothing. Keys of a split may be absent."""
    if not isinstance(row, dict) or not isinstance(row.get("plan", ""), str):
        return "must hold a JSON object"
    parts = {part: row.get(part, {}) for part in ("splits", "fitted", "overlap")}
    for part, entries in parts.items():
        if not isinstance(entries, dict):
            return f"{part} must be an object"
    if not _counts(parts["overlap"]):
        return "overlap must hold counts"
    for part, wanted in (("splits", SPLIT), ("fitted", FITTED)):
        for name, entry in parts[part].items():
            if not isinstance(entry, dict):
                return f"{part}, {name!r}: must be an object"
            if part == "fitted" and not FITTED.keys() <= entry.keys():
                return f"{part}, {name!r}: needs {', '.join(FITTED)}"
            for key, kind in wanted.items():
                if type(entry.get(key, kind())) is not kind or (kind is dict and not _counts(entry.get(key, {}))):
                    return f"{part}, {name!r}: {key} must be {KINDS[kind]}"
    return ""


def _counts(row: Mapping[str, Any]) -> bool:
    return all(type(n) is int for n in row.values())


def write_ledger(folder: Path, ledger: Ledger) -> None:
    """Write the ledger of a run folder."""
    rows = {"splits": ledger.splits, "fitted": ledger.fitted, "overlap": ledger.overlap, "plan": ledger.plan}
    write_json(folder / "ledger.json", rows)
