"""What is in a source before anything is trained on it: counts, labels, drops, duplicates within and across, lengths.

name   rows kept  labels                           dropped       exact  near  words p5  median  p95  longest
train       1000  negative 480, positive 520       no label 12       4     9        20     170  590     2470
test         500  negative 250, positive 250                         0     1        18     168  601     1801

12 of 500 texts of test stand in train, 3 more nearly
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from heldout.data import golds
from heldout.data.duplicates import counted, fold_field
from heldout.data.files import stem
from heldout.data.names import apart
from heldout.data.prepare import load
from heldout.data.sources import Loaded, SourceOptions, refuse_idle_labels
from heldout.data.task import load_task
from heldout.data.texts import Texts
from heldout.eval.columns import aligned

#: Lengths are shown at these percentiles of words (split at white space), and the longest.
PERCENTILES = (5, 50, 95)


@dataclass(frozen=True)
class Checked:
    """The sources by a short name, what is known of each, and how many texts of each second stand in each first."""

    sources: Mapping[str, Mapping[str, Any]]
    across: Sequence[Mapping[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """Both parts as one JSON object."""
        return {"sources": dict(self.sources), "across": list(self.across)}


def check(task: str, sources: Sequence[str], options: SourceOptions, seed: int = 0) -> Checked:
    """Read every source as the task does and count; Refused as training would be for a source that cannot be read."""
    named = _names(sources)
    loaded = {
        name: load(task, source, options, name=name, names=list(named), limit=options.limit, seed=seed)
        for name, source in named.items()
    }
    refuse_idle_labels(options.label, loaded)
    texts = Texts(loaded, key=load_task(task).key)
    at = {name: texts.positions(name, split.examples) for name, split in loaded.items()}
    across = []
    for first, second in combinations(loaded, 2):
        found = counted(texts.matches(at[second], at[first]))
        across.append({"of": second, "in": first, "n": len(at[second])} | found)
    described = {name: _describe(split) | texts.repeats(at[name]) for name, split in loaded.items()}
    return Checked(described, across)


def _names(sources: Sequence[str]) -> dict[str, str]:
    """A short name for each source, the NAME of NAME:VALUE options: its file's, numbered where doubled."""
    bases = [stem(Path(source)).replace(":", "-") or "data" for source in sources]
    return dict(zip(apart(bases), sources, strict=True))


def _describe(split: Loaded) -> dict[str, Any]:
    words = np.array([sum(len(fold_field(e, field).split()) for field in e.text) for e in split.examples])
    return {
        "source": split.source,
        "hash": split.hash,
        "n": len(split.examples),
        "labels": golds.counted(split.examples),
        "dropped": dict(split.dropped),
        "notes": dict(split.notes),
        "cleaning": list(split.cleaning),
        "words": {f"p{p}": int(np.percentile(words, p)) for p in PERCENTILES} | {"max": int(words.max())},
    }


def show(checked: Checked) -> str:
    """The table, then a line for each two sources, then what was noticed while reading."""
    head = ["name", "kept", "labels", "dropped", "exact", "near", "words p5", "median", "p95", "longest"]
    rows = [head, *(_row(name, entry) for name, entry in checked.sources.items())]
    # Names, labels and drops to the left, numbers to the right.
    lines = [*aligned(rows, right=set(range(len(head))) - {0, 2, 3}), ""]
    for pair in checked.across:
        lines.append(
            f"{pair['exact']} of {pair['n']} texts of {pair['of']} stand in {pair['in']}, {pair['near']} more nearly"
            + (f", {pair['shared']} more share their material" if "shared" in pair else "")
        )
    for name, entry in checked.sources.items():
        notes = [*(f"{_words(key)} {n}" for key, n in entry["notes"].items()), *entry["cleaning"]]
        lines.append(f"{name} is {entry['source']}" + (f": {', '.join(notes)}" if notes else ""))
    lines.append(
        "exact and near: texts beyond the first of their kind (case, white space, markup folded; word triples)"
    )
    return "\n".join(lines)


def _row(name: str, entry: Mapping[str, Any]) -> list[str]:
    words = entry["words"]
    return [
        name,
        str(entry["n"]),
        ", ".join(f"{label} {n}" for label, n in entry["labels"].items()),
        ", ".join(f"{_words(reason)} {n}" for reason, n in entry["dropped"].items()) or "none",
        str(entry["exact_duplicates"]),
        str(entry["near_duplicates"]),
        *(str(words[key]) for key in ("p5", "p50", "p95", "max")),
    ]


def _words(key: str) -> str:
    return key.replace("_", " ")
