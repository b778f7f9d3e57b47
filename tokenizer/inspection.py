"""What tokenizers make of a text: tokens a word, words that are split, what is unknown, dropped or does not come back.

A word is a run of letters and digits or a single other sign, whatever the tokenizer thinks, so that two can be
compared; fertility (tokens a word) and the share of split words as in Rust et al. 2021, "How good is your tokenizer?".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.corpus import Document
from heldout.data.streams import Seen

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

Ints = NDArray[np.int64]

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
    aside, that stand in no token or are deleted inside one; ``altered`` documents do not come back from their tokens,
    white space and the tokenizer's own normalisation aside; ``exact`` ones come back as they were.
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
    normal = backend.normalizer.normalize_str if backend.normalizer else str
    # Characters that the normaliser deletes, which leave no gap where they stood inside a token.
    deleted = {character for character in {*"".join(document.text for document in batch)} if not normal(character)}
    for document, encoding, back in zip(batch, encodings, decoded, strict=True):
        text, tally = document.text, domains.setdefault(document.domain, Tally())
        words = np.array([match.span() for match in WORD.finditer(text)], np.int64).reshape(-1, 2)
        places = np.array(encoding.offsets, np.int64).reshape(-1, 2)
        places = places[places[:, 0] < places[:, 1]]
        tally.documents += 1
        tally.characters += len(text)
        tally.words += len(words)
        tally.tokens += len(encoding.ids)
        tally.split += int((_touching(places, words) > 1).sum())
        tally.unknown += encoding.ids.count(tokenizer.unk_token_id)
        tally.dropped += sum(text.count(character) for character in deleted)
        tally.dropped += sum(not text[at].isspace() and text[at] not in deleted for at in _untouched(places, len(text)))
        tally.altered += "".join(back.split()) != "".join(normal(text).split())
        tally.exact += back == text
        tally.lengths.append(len(encoding.ids) + added)


def _touching(places: Ints, words: Ints) -> Ints:
    """How many tokens touch each word. Tokens stand in order, so those are the ones that begin before its end, less
    those that end by its start."""
    before = np.searchsorted(places[:, 0], words[:, 1])
    return before - np.searchsorted(places[:, 1], words[:, 0], side="right")


def _untouched(places: Ints, length: int) -> Ints:
    """The places of a text that stand in no token."""
    depth = np.zeros(length + 1, np.int64)
    np.add.at(depth, places[:, 0], 1)
    np.add.at(depth, places[:, 1], -1)
    return np.flatnonzero(depth.cumsum()[:-1] == 0)
