"""What was trained, and how tokenizers cut up a text, in words for the terminal.

corpus   tokenizer  documents  words  tokens/word  split words  [UNK]  dropped  altered  length p50   p90   p99   max
wiki     pieces           620  24911         1.31       19.2 %   0.0 %        0        0         41   120   310   512
         other            620  24911         1.18       11.0 %   0.2 %        3       12         38   111   290   470
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heldout.data.streams import Seen
from heldout.eval.columns import aligned
from heldout.tokenizer.inspection import PERCENTILES, Inspection, Tally

HEAD = [
    *("corpus", "tokenizer", "documents", "words", "tokens/word", "split words", "[UNK]", "dropped", "altered"),
    *(f"length p{p}" if p == PERCENTILES[0] else f"p{p}" for p in PERCENTILES),
    "max",
]
LEGEND = (
    "words: runs of letters and digits, and single signs; split: of two tokens or more; [UNK]: share of the tokens",
    "dropped: characters that stand in no token; altered: documents that do not come back from their tokens, but for",
    "white space and the tokenizer's own normalisation; length: tokens of a document, special ones among them",
)


def show(inspection: Inspection, seen: Seen) -> str:
    """A row for each tokenizer in each domain, those of one domain together, then what the columns mean."""
    names = _short(list(inspection.tallies))
    rows = [HEAD]
    for domain in next(iter(inspection.tallies.values())):
        for name, domains in inspection.tallies.items():
            rows.append([domain, names[name], *_cells(domains[domain])])
    sizes = [f"{names[name]} is {name}, {size:,} tokens" for name, size in inspection.sizes.items()]
    left_out = [f"left out: {_named(seen.dropped)}"] if seen.dropped else []
    return "\n".join([*aligned(rows, right=set(range(2, len(HEAD)))), "", *sizes, *left_out, *LEGEND])


def _short(names: list[str]) -> dict[str, str]:
    """The last parts of the names, where those differ."""
    last = {name: Path(name).name or name for name in names}
    return last if len(set(last.values())) == len(names) else {name: name for name in names}


def _cells(tally: Tally) -> list[str]:
    found = tally.to_json()
    shares = [f"{found['fertility']:.2f}", _percent(found["split_words"]), _percent(found["unknown"])]
    counts = [f"{tally.dropped:,}", f"{tally.altered:,}"]
    lengths = [str(length) for length in found["length"].values()]
    return [f"{tally.documents:,}", f"{tally.words:,}", *shares, *counts, *lengths]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"


def summary(facts: Mapping[str, Any], out: Path) -> str:
    """What training made of which corpus, and what it left out."""
    corpus, words, alphabet, vocabulary = (facts[key] for key in ("corpus", "words", "alphabet", "vocabulary"))
    lines = [
        f"{out}: {facts['kind']}, {vocabulary['size']:,} tokens: {len(vocabulary['special'])} special, "
        f"{vocabulary['characters']:,} for {alphabet['characters']:,} characters, {vocabulary['learned']:,} learned",
        f"from {corpus['characters']:,} characters: {words['occurrences']:,} words, {words['distinct']:,} of them "
        f"different; {facts['tokens'] / (words['occurrences'] - words['given_up']):.2f} tokens a word",
    ]
    if vocabulary["size"] < vocabulary["asked_for"]:
        lines.append(
            f"asked for {vocabulary['asked_for']:,} tokens, but no more pairs stand in the corpus often enough; give "
            "more text or a lower --min-frequency"
        )
    if facts["unknown"] is not None:
        lines.append(
            f"[UNK] is {_percent(facts['unknown'] / facts['tokens'])} of the corpus' tokens "
            f"({alphabet['left_out']:,} rare characters left out, seen {alphabet['left_out_occurrences']:,} times)"
        )
    if words["given_up"]:
        lines.append(
            f"{words['given_up']:,} occurrences of rare words were given up to bound memory; a count may lack "
            f"{words['counts_lack_up_to']:,} (--max-words holds more)"
        )
    if corpus["dropped"]:
        lines.append(f"left out: {_named(corpus['dropped'])}")
    return "\n".join(lines)


def _named(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {n:,}" for key, n in sorted(dropped.items()))
