"""What is looked for in each source that is in memory: wrong labels, conflicts, balance, lengths, broken writing."""

from collections import defaultdict
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy as np

from heldout.checks.findings import Finding
from heldout.checks.label_errors import Probabilities, cross_validated, suspects, units
from heldout.checks.writing import KINDS, odd
from heldout.data.golds import counted
from heldout.data.labels import in_order
from heldout.data.sources import Loaded
from heldout.data.texts import Texts
from heldout.records import Example

#: A label is rare where the most frequent one has this many times its examples.
RARE = 10
#: Characters that are shown before the place to look at.
BEFORE = 24
#: Two sources share labels out differently where this part of the examples would have to change theirs.
SHIFTED = 0.1
#: Lengths give labels away where the median of one has this many times the words of another.
LONGER = 1.5
#: Texts from which on labels are looked at only where asked: 25,000 reviews take minutes.
AT_MOST = 20_000


def conflicts(name: str, split: Loaded, texts: Texts, show: int) -> list[Finding]:
    """Equal texts (case, white space, markup folded) with different gold, and near ones of label tasks."""
    golds: defaultdict[int, list[int]] = defaultdict(list)
    at = texts.positions(name, split.examples)
    for row, same in enumerate(texts.same[np.array(at)].tolist()):
        golds[same].append(row)
    clashing = [rows for rows in golds.values() if len({str(split.examples[row].gold) for row in rows}) > 1]
    if not clashing or (isinstance(split.examples[0].gold, list) and not _tags(split.examples[0])):
        return []
    rows = [
        {
            "id": " = ".join(place(split, split.examples[row]) for row in group[:4]),
            "what": " / ".join(dict.fromkeys(_gold(split.examples[row]) for row in group)),
            "text": text(split.examples[group[0]]),
        }
        for group in clashing[:show]
    ]
    said = f"{len(clashing)} texts stand with more than one {'tagging' if _tags(split.examples[0]) else 'label'}"
    advice = "decide which is right, or leave them out: no system can be right on both"
    return [Finding(name, "conflict", len(clashing), len(split.examples), said, rows, advice)]


def writing(name: str, split: Loaded, show: int) -> list[Finding]:
    """Texts whose encoding, script or language looks wrong."""
    all_texts = [text(example) for example in split.examples]
    findings = []
    for kind, rows in odd(all_texts).items():
        shown = [
            {"id": place(split, split.examples[row]), "text": all_texts[row][max(0, at - BEFORE) :]}
            for row, at in islice(rows.items(), show)
        ]
        unsure = kind in ("other script", "unlike words")
        advice = (
            "read them: they may be meant" if unsure else "mend the source's encoding (--encoding), or leave them out"
        )
        said = f"{len(rows)} of {len(all_texts)} texts: {KINDS[kind]}"
        findings.append(Finding(name, kind, len(rows), len(all_texts), said, shown, advice, serious=not unsure))
    return findings


def balance(loaded: Mapping[str, Loaded]) -> list[Finding]:
    """Rare labels of each source, and sources that share labels out differently from the first."""
    findings = []
    shares: dict[str, dict[str, float]] = {}
    for name, split in loaded.items():
        counts, n = counted(split.examples), len(split.examples)
        shares[name] = {label: count / sum(counts.values()) for label, count in counts.items()}
        if not isinstance(split.examples[0].gold, str):
            continue
        most = max(counts.values())
        rare = {label: count for label, count in counts.items() if count * RARE < most}
        if rare:
            said = "rare labels: " + ", ".join(f"{label} {count} of {n}" for label, count in rare.items())
            advice = "accuracy hardly sees them: read macro_f1, or collect more of them"
            findings.append(Finding(name, "rare label", sum(rare.values()), n, said, (), advice, serious=False))
    first, *others = shares
    for name in others:
        labels = {*shares[first], *shares[name]}
        moved = sum(abs(shares[first].get(label, 0) - shares[name].get(label, 0)) for label in labels) / 2
        if moved > SHIFTED:
            n = len(loaded[name].examples)
            said = f"labels are shared out differently from {first}: {moved:.0%} would have to change"
            advice = "what is chosen on one (a threshold, a temperature) may not suit the other"
            findings.append(Finding(name, "label shift", round(moved * n), n, said, (), advice, serious=False))
    return findings


def lengths(name: str, split: Loaded) -> list[Finding]:
    """Labels whose texts are longer than others'."""
    words: defaultdict[str, list[int]] = defaultdict(list)
    for example in split.examples:
        if isinstance(example.gold, str):
            words[example.gold].append(len(text(example).split()))
    medians = {label: float(np.median(found)) for label, found in words.items() if len(found) >= RARE}
    if len(medians) < 2 or max(medians.values()) < LONGER * max(min(medians.values()), 1.0):
        return []
    said = "length gives labels away: " + ", ".join(f"{label} {m:g} words" for label, m in sorted(medians.items()))
    advice = "compare with a baseline, and read the slice length"
    return [Finding(name, "length", len(split.examples), len(split.examples), said, (), advice, serious=False)]


def wrong_labels(
    name: str, split: Loaded, texts: Texts, show: int, *, seed: int, scores: Probabilities | None = None
) -> list[Finding]:
    """Suspected label errors by cross-validated confidence, or by the ``scores`` of a cross-fitted system."""
    given = [str(example.gold) for example in split.examples]
    labels = in_order(set(given))
    if len(labels) < 2 or min(given.count(label) for label in labels) < 2:
        return []
    by = "the probabilities given"
    if scores is None:
        groups = units(split.examples, texts.clusters_of(name, split.examples))
        scores = cross_validated([text(e) for e in split.examples], given, labels, groups, seed=seed)
        by = "tf-idf + logistic regression, cross-validated"
    found = suspects(given, labels, scores)
    accuracy = float(np.mean([labels[int(p.argmax())] == label for p, label in zip(scores, given, strict=True)]))
    rows = [
        {
            "id": place(split, split.examples[one.row]),
            "what": f"{one.given} ({one.p_given:.2f}) → {one.suggested} ({one.p_suggested:.2f})",
            "text": text(split.examples[one.row]),
        }
        for one in found[:show]
    ]
    said = f"{len(found)} of {len(given)} labels look wrong to {by}, itself right on {accuracy:.0%}"
    advice = "read them, the most suspicious stand first; most of a weak classifier's suspects are its own mistakes"
    figures = {"accuracy": accuracy, "by": by}
    if not found:
        return []
    return [Finding(name, "label error", len(found), len(given), said, rows, advice, serious=False, figures=figures)]


def text(example: Example) -> str:
    """An example's fields in a row, cleaned as they were read."""
    return " ".join(" ".join(v) if isinstance(v, list | tuple) else str(v) for v in example.text.values())


def place(split: Loaded, example: Example) -> str:
    """Where an example stands: its file and its id, which is FILE:ROW where the source has no ids of its own."""
    file = Path(split.source).name
    return f"{file}, {example.id}" if ":" not in example.id or example.id.split(":")[0] not in file else example.id


def _tags(example: Example) -> bool:
    return isinstance(example.gold, list | tuple) and bool(example.gold) and isinstance(example.gold[0], str)


def _gold(example: Example) -> str:
    return " ".join(example.gold) if _tags(example) else str(example.gold)
