"""A source too large to hold, read as a stream: counts, broken texts, duplicates and conflicts within and across.

Of each text some 150 bytes are kept: a fingerprint (exact duplicates), the keys of heldout.data.minhash (near ones)
and its label. Near duplicates are 99 of 100 at a Jaccard similarity of 0.5; each that is reported was compared exactly.
Measured on one core: 1,000,000 generated rows of 12 to 29 words (100 MB) take 34 s of CPU and 460 MB; of 100 exact and
100 near duplicates planted in a test of 2,200 rows all were found, and nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from heldout.checks.data import Checked
from heldout.checks.findings import Finding
from heldout.checks.writing import KINDS, broken
from heldout.data import minhash
from heldout.data.corpus_files import rows, streams
from heldout.data.defaults import LABEL
from heldout.data.duplicates import connect, fold
from heldout.data.shingles import THRESHOLD
from heldout.data.streams import Seen
from heldout.errors import Refused

#: How many rows of each kind a finding names.
SHOWN = 5


@dataclass
class Stored:
    """What is kept of a source: fingerprints (n,), keys (n, BANDS), label codes (n,), and what was counted."""

    source: str
    fingerprints: "np.ndarray[Any, np.dtype[np.uint64]]"
    keys: "np.ndarray[Any, np.dtype[np.uint64]]"
    codes: "np.ndarray[Any, np.dtype[np.int32]]"
    labels: list[str]
    broken: Mapping[str, Sequence[int]]
    dropped: Mapping[str, int]
    words: "np.ndarray[Any, np.dtype[np.int32]]"


def texts_of(source: str, columns: Mapping[str, str], encoding: str, seen: Seen) -> Iterator[tuple[str, str]]:
    """The rows of a source as (label, text); blank texts are dropped and counted."""
    for stream in streams(source, seen):
        if not stream.is_table:
            raise Refused(
                f"{stream.where}: only csv, tsv, jsonl and parquet are checked as a stream; leave --stream out"
            )
        for label, text in rows(stream, columns, encoding, seen):
            if text.strip():
                yield label, text
            else:
                seen.dropped["empty_text"] += 1


def with_label(source: str, columns: Mapping[str, str], encoding: str) -> dict[str, str]:
    """The columns to read, the label's among them where the first row has one of its usual names."""
    asked = {"text": columns["text"]} if "text" in columns else {}
    for name in [columns["label"]] if "label" in columns else LABEL:
        try:
            next(texts_of(source, asked | {"domain": name}, encoding, Seen()), None)
        except Refused:
            if "label" in columns:
                raise
            continue
        return asked | {"domain": name}
    return asked


def stored(source: str, columns: Mapping[str, str], encoding: str) -> Stored:
    """Read a source once and keep what is needed of it."""
    seen, labels = Seen(), dict[str, int]()
    prints, blocks, codes, words = [], [], [], []
    odd: dict[str, list[int]] = {}
    block: list[str] = []
    for row, (label, text) in enumerate(texts_of(source, columns, encoding, seen)):
        for kind in broken(text):
            odd.setdefault(kind, []).append(row)
        folded = fold(text)
        prints.append(minhash.fingerprint(folded))
        codes.append(labels.setdefault(label.strip(), len(labels)))
        words.append(folded.count(" ") + 1)
        block.append(folded)
        if len(block) == minhash.BLOCK:
            blocks.append(minhash.keys(block))
            block = []
    blocks.append(minhash.keys(block))
    if not prints:
        raise Refused(f"{source}: no example is left ({dict(seen.dropped) or 'no rows'})")
    fingerprints, kept = np.array(prints, np.uint64), np.concatenate(blocks)
    return Stored(
        source,
        fingerprints,
        kept,
        np.array(codes, np.int32),
        list(labels),
        odd,
        dict(seen.dropped),
        np.array(words, np.int32),
    )


def check(named: Mapping[str, str], columns: Mapping[str, Mapping[str, str]], encodings: Mapping[str, str]) -> Checked:
    """Check sources as streams; each is read twice, the second time only where near duplicates may be."""
    wanted = {name: with_label(source, columns[name], encodings[name]) for name, source in named.items()}
    found = {name: stored(source, wanted[name], encodings[name]) for name, source in named.items()}
    sizes = [len(one.fingerprints) for one in found.values()]
    start = dict(zip(found, np.cumsum([0, *sizes]).tolist(), strict=False))
    prints = np.concatenate([one.fingerprints for one in found.values()])
    _, first, same = np.unique(prints, return_index=True, return_inverse=True)
    same = first[same]
    pairs = _near(found, same, lambda: _again(named, wanted, encodings))
    cluster = np.array(connect(len(prints), pairs.tolist()))[same] if len(pairs) else same
    at = {name: np.arange(start[name], start[name] + n) for name, n in zip(found, sizes, strict=True)}
    sources = {name: _described(one) | _repeats(same, cluster, at[name]) for name, one in found.items()}
    across = [_across(one, other, same, pairs, at) for one, other in combinations(found, 2)]
    every = {"n": len(same)} | _repeats(same, cluster, np.arange(len(same)))
    return Checked(sources, across, _findings(found, same, at), every, ["label errors are not looked for in a stream"])


def _again(
    named: Mapping[str, str], columns: Mapping[str, Mapping[str, str]], encodings: Mapping[str, str]
) -> Iterator[str]:
    for name, source in named.items():
        for _, text in texts_of(source, columns[name], encodings[name], Seen()):
            yield fold(text)


def _near(found: Mapping[str, Stored], same: Any, again: Any) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Near pairs among the first rows of equal texts."""
    table = np.concatenate([one.keys for one in found.values()])
    # A repeated text has its first row's part in every pair.
    table[same != np.arange(len(same))] = minhash.NO_KEY
    pairs = minhash.candidates(table.T)
    return minhash.similar(pairs, again(), THRESHOLD) if len(pairs) else pairs


def _described(one: Stored) -> dict[str, Any]:
    counts = np.bincount(one.codes, minlength=len(one.labels)).tolist()
    named = {label: n for label, n in zip(one.labels, counts, strict=True) if label}
    words = {f"p{p}": int(np.percentile(one.words, p)) for p in (5, 50, 95)} | {"max": int(one.words.max())}
    rest = {"hash": "", "notes": {"read_as_a_stream": len(one.codes)}, "cleaning": []}
    return {"source": one.source, "n": len(one.codes), "labels": named, "dropped": one.dropped, "words": words} | rest


def _repeats(same: Any, cluster: Any, members: Any) -> dict[str, int]:
    distinct = len(np.unique(same[members]))
    return {
        "exact_duplicates": len(members) - distinct,
        "near_duplicates": distinct - len(np.unique(cluster[members])),
    }


def _across(one: str, other: str, same: Any, pairs: Any, at: Mapping[str, Any]) -> dict[str, Any]:
    """How many texts of ``other`` stand in ``one``, exactly or else nearly."""
    there = np.zeros(len(same), bool)
    there[same[at[one]]] = True
    near = np.zeros(len(same), bool)
    left, right = pairs.T
    near[right[there[left]]] = True
    near[left[there[right]]] = True
    texts = same[at[other]]
    exact = there[texts]
    return {
        "of": other,
        "in": one,
        "n": len(texts),
        "exact": int(exact.sum()),
        "near": int((near[texts] & ~exact).sum()),
    }


def _findings(found: Mapping[str, Stored], same: Any, at: Mapping[str, Any]) -> list[Finding]:
    findings = []
    for name, one in found.items():
        for kind, odd in one.broken.items():
            rows = [{"id": f"{Path(one.source).name}, row {row + 1}"} for row in odd[:SHOWN]]
            said = f"{len(odd)} of {len(one.codes)} texts: {KINDS[kind]}"
            findings.append(Finding(name, kind, len(odd), len(one.codes), said, rows, "mend the file's encoding"))
        mine, codes = same[at[name]], one.codes
        order = np.lexsort((codes, mine))
        texts, labels = mine[order], codes[order]
        clash = np.flatnonzero((texts[1:] == texts[:-1]) & (labels[1:] != labels[:-1]))
        n = len(np.unique(texts[clash]))
        if n:
            rows = [{"id": f"{Path(one.source).name}, row {int(order[place]) + 1}"} for place in clash[:SHOWN]]
            said = f"{n} texts stand with more than one label"
            findings.append(Finding(name, "conflict", n, len(codes), said, rows, "keep one label, or none"))
    return findings
