"""What tokenizers make of a text: tokens a word, words that are split, what is unknown, dropped or does not come back.

A word is a run of letters and digits or a single other sign, whatever the tokenizer thinks, so that two can be
compared; fertility (tokens a word) and the share of split words as in Rust et al. 2021, "How good is your tokenizer?".
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from tokenizers import Encoding
from transformers import PreTrainedTokenizerFast

from heldout.data.corpus import Document
from heldout.data.streams import Seen

WORD = re.compile(r"\w+|[^\w\s]")
#: Documents that are cut up at once.
BATCH = 200
#: Percentiles of the sequence lengths, special tokens among them.
PERCENTILES = (50, 90, 99)
#: The row over all domains.
ALL = "all"


@dataclass
class Tally:
    """The counts of one tokenizer on one domain.

    ``split`` words have two tokens or more; ``unknown`` are [UNK] tokens; ``dropped`` are characters, white space
    aside, that stand in no token; ``altered`` documents do not come back from their tokens, white space and the
    tokenizer's own normalisation aside; ``exact`` ones come back as they were.
    """

    documents: int = 0
    characters: int = 0
    words: int = 0
    tokens: int = 0
    split: int = 0
    unknown: int = 0
    dropped: int = 0
    altered: int = 0
    exact: int = 0
    lengths: list[int] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Counts, shares and percentiles of the lengths."""
        lengths = np.array(self.lengths)
        shown = {name: getattr(self, name) for name in ("documents", "characters", "words", "tokens")}
        return shown | {
            "fertility": self.tokens / self.words if self.words else None,
            "split_words": self.split / self.words if self.words else None,
            "unknown": self.unknown / self.tokens if self.tokens else None,
            "unknown_tokens": self.unknown,
            "dropped_characters": self.dropped,
            "altered_documents": self.altered,
            "exact_documents": self.exact,
            "length": {f"p{p}": int(np.percentile(lengths, p)) for p in PERCENTILES} | {"max": int(lengths.max())},
        }


@dataclass(frozen=True)
class Inspection:
    """The tallies by tokenizer, then by domain (all of them together under "all" where there are several)."""

    sizes: Mapping[str, int]
    tallies: Mapping[str, Mapping[str, Tally]]

    def to_json(self, seen: Seen) -> dict[str, Any]:
        """Everything as one JSON object; ``seen`` says what of the corpus was left out."""
        found = {
            name: {
                "vocabulary": self.sizes[name],
                "domains": {domain: tally.to_json() for domain, tally in domains.items()},
            }
            for name, domains in self.tallies.items()
        }
        return {"tokenizers": found, "left_out": dict(sorted(seen.dropped.items()))}


def inspect(tokenizers: Mapping[str, PreTrainedTokenizerFast], documents: Iterable[Document]) -> Inspection:
    """Cut up every document with every tokenizer; the documents are streamed, only their lengths are kept."""
    tallies: dict[str, dict[str, Tally]] = {name: {} for name in tokenizers}
    for batch in _batches(documents):
        for name, tokenizer in tokenizers.items():
            _add(tallies[name], tokenizer, batch)
    for domains in tallies.values():
        if len(domains) > 1:
            domains[ALL] = _sum(domains.values())
    return Inspection({name: len(tokenizer) for name, tokenizer in tokenizers.items()}, tallies)


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    found = iter(documents)
    while batch := list(islice(found, BATCH)):
        yield batch


def _sum(tallies: Iterable[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        for name, value in vars(tally).items():
            setattr(total, name, getattr(total, name) + value)
    return total


def _add(domains: dict[str, Tally], tokenizer: PreTrainedTokenizerFast, batch: list[Document]) -> None:
    backend = tokenizer.backend_tokenizer
    encodings = backend.encode_batch([document.text for document in batch], add_special_tokens=False)
    decoded = backend.decode_batch([encoding.ids for encoding in encodings], skip_special_tokens=True)
    added = tokenizer.num_special_tokens_to_add()
    for document, encoding, back in zip(batch, encodings, decoded, strict=True):
        text, tally = document.text, domains.setdefault(document.domain, Tally())
        normal = backend.normalizer.normalize_str(text) if backend.normalizer else text
        words = np.array([match.span() for match in WORD.finditer(text)]).reshape(-1, 2)
        tally.documents += 1
        tally.characters += len(text)
        tally.words += len(words)
        tally.tokens += len(encoding.ids)
        tally.unknown += encoding.ids.count(tokenizer.unk_token_id)
        tally.altered += "".join(back.split()) != "".join(normal.split())
        tally.exact += back == text
        tally.lengths.append(len(encoding.ids) + added)
        _by_offsets(tally, text, words, encoding)


def _by_offsets(tally: Tally, text: str, words: Any, encoding: Encoding) -> None:
    """What the places of the tokens tell: which words have several, which characters none."""
    places = np.array(encoding.offsets).reshape(-1, 2)
    places = places[places[:, 0] < places[:, 1]]
    # Tokens stand in order, so those that touch a word are those that begin before its end less those that end by
    # its start.
    touching = np.searchsorted(places[:, 0], words[:, 1]) - np.searchsorted(places[:, 1], words[:, 0], side="right")
    tally.split += int((touching > 1).sum())
    depth = np.zeros(len(text) + 1, np.int64)
    np.add.at(depth, places[:, 0], 1)
    np.add.at(depth, places[:, 1], -1)
    tally.dropped += sum(not text[at].isspace() for at in np.flatnonzero(depth.cumsum()[:-1] == 0))
