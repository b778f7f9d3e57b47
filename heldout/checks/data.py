"""What is in a source before anything is trained on it: counts, duplicates, and what looks wrong, with its rows.

name   rows kept  labels                           dropped       exact  near  words p5  median  p95  longest
train       1000  negative 480, positive 520       no label 12       4     9        20     170  590     2470
test         500  negative 250, positive 250                         0     1        18     168  601     1801

12 of 500 texts of test stand in train, 3 more nearly
16 of 1500 texts repeat an earlier one exactly

train: 38 of 1000 labels look wrong to tf-idf + logistic regression, cross-validated, itself right on 85%
    train:17  negative (0.04) → positive (0.96)  "A bright, tender film that …"
    do: read them, the most suspicious stand first; …
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from heldout.checks.findings import Finding, lines
from heldout.checks.label_errors import Probabilities
from heldout.checks.looked_for import AT_MOST, balance, conflicts, lengths, place, text, writing, wrong_labels
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
class Wanted:
    """What is looked for beyond counts: ``label_errors`` in the sources of these names (None: in those of label tasks
    of at most AT_MOST texts), with the cross-fitted ``scores`` of a system where there are some; ``show`` rows of each.
    """

    label_errors: Collection[str] | None = None
    scores: Mapping[str, Probabilities] = field(default_factory=dict)
    show: int = 3


@dataclass(frozen=True)
class Checked:
    """The sources by a short name, what is known of each, how many texts of each second stand in each first, how many
    texts of all repeat an earlier one, what looks wrong, and what was not looked for.
    """

    sources: Mapping[str, Mapping[str, Any]]
    across: Sequence[Mapping[str, Any]]
    findings: Sequence[Finding] = ()
    repeated: Mapping[str, int] = field(default_factory=dict)
    left_out: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """All parts as one JSON object."""
        found = {"findings": [finding.to_json() for finding in self.findings], "left_out": list(self.left_out)}
        return {"sources": dict(self.sources), "across": list(self.across), "repeated": dict(self.repeated)} | found


def check(
    task: str, sources: Sequence[str], options: SourceOptions, seed: int = 0, wanted: Wanted = Wanted()
) -> Checked:
    """Read every source as the task does and look at it; Refused as training would be for one that cannot be read."""
    named = names(sources)
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
    findings = [finding for pair in combinations(loaded, 2) for finding in _leaks(*pair, loaded, texts, wanted.show)]
    for name, split in loaded.items():
        findings += (
            conflicts(name, split, texts, wanted.show) + writing(name, split, wanted.show) + lengths(name, split)
        )
    findings += balance(loaded)
    judged, left_out = _judged(loaded, wanted)
    for name in judged:
        scores = wanted.scores.get(name)
        findings += wrong_labels(name, loaded[name], texts, wanted.show, seed=seed, scores=scores)
    every = [position for positions in at.values() for position in positions]
    repeated = {"n": len(every), "letter_for_letter": len(every) - len(_different(loaded))} | texts.repeats(every)
    return Checked(described, across, findings, repeated, left_out)


def _different(loaded: Mapping[str, Loaded]) -> set[str]:
    return {text(example) for split in loaded.values() for example in split.examples}


def names(sources: Sequence[str]) -> dict[str, str]:
    """A short name for each source, the NAME of NAME:VALUE options: its file's, numbered where doubled."""
    bases = [stem(Path(source)).replace(":", "-") or "data" for source in sources]
    return dict(zip(apart(bases), sources, strict=True))


def _judged(loaded: Mapping[str, Loaded], wanted: Wanted) -> tuple[list[str], list[str]]:
    """The sources in which label errors are looked for, and a line for each of the others."""
    judged, left_out = [], []
    for name, split in loaded.items():
        if wanted.label_errors is not None and name not in {*wanted.label_errors, *wanted.scores}:
            continue
        if not isinstance(split.examples[0].gold, str):
            left_out.append(f"{name}: label errors are looked for where an answer is one label")
        elif wanted.label_errors is None and len(split.examples) > AT_MOST and name not in wanted.scores:
            said = f"label errors are looked for in up to {AT_MOST:,} texts, it has {len(split.examples):,}"
            left_out.append(f"{name}: {said}; ask with --label-errors {name}")
        else:
            judged.append(name)
    return judged, left_out


def _leaks(first: str, second: str, loaded: Mapping[str, Loaded], texts: Texts, show: int) -> list[Finding]:
    """The texts of the second source that stand in the first, each beside the text that it repeats."""
    one, other = loaded[first], loaded[second]
    there, here = (texts.positions(name, loaded[name].examples) for name in (first, second))
    matched = texts.matches(here, there)
    rows = [row for row, match in enumerate(matched) if match in ("exact", "near")]
    if not rows:
        return []
    same, clusters = texts.same, texts.similar.cluster
    by_text = {int(same[position]): row for row, position in reversed(list(enumerate(there)))}
    by_cluster = {int(clusters[position]): row for row, position in reversed(list(enumerate(there)))}
    shown = []
    for row in sorted(rows, key=lambda row: matched[row] != "exact")[:show]:
        partner = by_text.get(int(same[here[row]]), by_cluster.get(int(clusters[here[row]])))
        stands = f" = {place(one, one.examples[partner])}" if partner is not None else ""
        shown.append(
            {"id": place(other, other.examples[row]) + stands, "what": matched[row], "text": text(other.examples[row])}
        )
    exact = sum(match == "exact" for match in matched)
    said = f"{exact} of {len(here)} texts stand in {first}, {len(rows) - exact} more nearly"
    advice = f"train with --exclude on this file, or read the slice overlap: it scores {second} without them"
    return [Finding(second, "leak", len(rows), len(here), said, shown, advice)]


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
    """The table, a line for each two sources, what was noticed while reading, then what looks wrong."""
    head = ["name", "kept", "labels", "dropped", "exact", "near", "words p5", "median", "p95", "longest"]
    rows = [head, *(_row(name, entry) for name, entry in checked.sources.items())]
    # Names, labels and drops to the left, numbers to the right.
    lines_ = [*aligned(rows, right=set(range(len(head))) - {0, 2, 3}), ""]
    for pair in checked.across:
        lines_.append(
            f"{pair['exact']} of {pair['n']} texts of {pair['of']} stand in {pair['in']}, {pair['near']} more nearly"
            + (f", {pair['shared']} more share their material" if "shared" in pair else "")
        )
    if checked.repeated:
        repeated = checked.repeated
        lines_.append(
            f"{repeated['exact_duplicates']} of {repeated['n']} texts repeat an earlier one exactly"
            + (f" ({repeated['letter_for_letter']} letter for letter)" if "letter_for_letter" in repeated else "")
            + f", {repeated['near_duplicates']} more nearly"
        )
    for name, entry in checked.sources.items():
        notes = [*(f"{_words(key)} {n}" for key, n in entry["notes"].items()), *entry["cleaning"]]
        lines_.append(f"{name} is {entry['source']}" + (f": {', '.join(notes)}" if notes else ""))
    lines_.append(
        "exact and near: texts beyond the first of their kind (case, white space, markup folded; word triples)"
    )
    for finding in checked.findings:
        lines_ += ["", *lines(finding)]
    return "\n".join([*lines_, *(["", *checked.left_out] if checked.left_out else [])])


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
