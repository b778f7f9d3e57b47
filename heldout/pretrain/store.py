"""The corpus as token ids on disk: tokenised once, kept under a key of content, tokenizer and options, memory-mapped.

    CACHE/KEY/  tokens.bin  begins.bin  sentences.bin  bounds.bin  digests.bin  domain.bin  meta.json

The key is a hash of every document's text, of the tokenizer's whole file and of the splitter (FAULTS P11: a cache that
looked at names alone was used again after the tokenizer had changed).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Encoding
from transformers import PreTrainedTokenizerFast

from heldout.data.corpus import Document
from heldout.errors import Refused
from heldout.pretrain.masking import BoolArray, IntArray
from heldout.pretrain.sentences import Splitter, starts
from heldout.runs import atomic, read_json

#: The version of the files' form: another one is another key.
FORM = 1
#: Documents that are tokenised at a time.
BATCH = 256
#: The other arrays and their types; that of tokens depends on the vocabulary.
ARRAYS = {"begins": "bool", "sentences": "int64", "bounds": "int64", "digests": "uint64", "domain": "uint32"}


@dataclass(frozen=True)
class Corpus:
    """N documents as one stream of T token ids, without special tokens; the arrays are memory-mapped.

    ``begins`` (T,) marks tokens that begin a word; ``sentences`` holds the places in the stream at which sentences
    begin, ``bounds`` (N + 1,) those at which documents do; ``digests`` (N,) tell documents apart by their text;
    ``domain`` (N,) numbers ``domains``. ``dropped`` counts what was left out and why.
    """

    key: str
    tokens: IntArray
    begins: BoolArray
    sentences: IntArray
    bounds: IntArray
    digests: IntArray
    domain: IntArray
    domains: tuple[str, ...]
    dropped: Mapping[str, int]

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.domain)

    @property
    def lengths(self) -> IntArray:
        """The length of each document in tokens, (N,)."""
        return np.diff(self.bounds)

    def name(self, document: int) -> str:
        """The domain of a document and what its text hashes to."""
        return f"{self.domains[self.domain[document]]}/{int(self.digests[document]):016x}"


def key_of(documents: Iterable[Document], tokenizer: PreTrainedTokenizerFast, splitter: Splitter | None) -> str:
    """The key of a cache: SHA-256 over every document, the tokenizer's file and the splitter."""
    digest = hashlib.sha256(json.dumps([FORM, splitter, tokenizer.all_special_ids]).encode())
    digest.update(tokenizer.backend_tokenizer.to_str().encode("utf-8", "surrogatepass"))
    for document in documents:
        digest.update(hashlib.sha256(document.domain.encode("utf-8", "surrogatepass")).digest())
        digest.update(_digest(document))
    return digest.hexdigest()


def load(
    cache: Path,
    read: Callable[[], Iterable[Document]],
    tokenizer: PreTrainedTokenizerFast,
    splitter: Splitter | None,
) -> Corpus:
    """The corpus of the documents that ``read`` gives each time it is called; tokenised only where it is not cached.

    Without ``splitter`` a document is one sentence. Exact duplicates and documents without tokens are left out and
    counted. Refused where nothing is left. Of several processes one calls this, and the others ``opened``.
    """
    folder = cache / key_of(read(), tokenizer, splitter)
    if not folder.exists():
        with atomic(folder) as temporary:
            temporary.mkdir()
            _build(temporary, iter(read()), tokenizer, splitter)
    return opened(folder)


def opened(folder: Path) -> Corpus:
    """The corpus in a cache's folder: the files are mapped, so a process reads the pages of its own rows."""
    meta = read_json(folder / "meta.json")
    types = {"tokens": meta["type"], **ARRAYS}
    arrays: dict[str, Any] = {name: np.memmap(folder / f"{name}.bin", kind, "r") for name, kind in types.items()}
    return Corpus(folder.name, **arrays, domains=tuple(meta["domains"]), dropped=meta["dropped"])


def _build(
    folder: Path, found: Iterator[Document], tokenizer: PreTrainedTokenizerFast, splitter: Splitter | None
) -> None:
    kind = "uint16" if len(tokenizer) <= 1 << 16 else "uint32"
    begins_at = starts(splitter) if splitter else lambda text: [0]
    domains: dict[str, int] = {}
    dropped: Counter[str] = Counter()
    seen = Seen()
    total = 0
    with ExitStack() as stack:
        files = {name: stack.enter_context((folder / f"{name}.bin").open("wb")) for name in ("tokens", *ARRAYS)}

        def write(name: str, values: Any, type_: str) -> None:
            files[name].write(np.asarray(values, dtype=type_).tobytes())

        write("bounds", [0], "int64")
        while batch := list(islice(found, BATCH)):
            short = [int.from_bytes(_digest(document)[:8], "big") for document in batch]
            digests = np.array(short, dtype=ARRAYS["digests"])
            rows = np.flatnonzero(seen.new(digests))
            dropped["exact_duplicates"] += len(batch) - len(rows)
            documents = [batch[row] for row in rows]
            texts = [document.text for document in documents]
            encodings = tokenizer.backend_tokenizer.encode_batch(texts, add_special_tokens=False)
            for document, digest, encoding in zip(documents, digests[rows], encodings, strict=True):
                if not encoding.ids:
                    dropped["documents_without_tokens"] += 1
                    continue
                write("tokens", encoding.ids, kind)
                write("begins", _words(encoding), ARRAYS["begins"])
                write("sentences", total + _sentences(encoding, begins_at(document.text)), ARRAYS["sentences"])
                total += len(encoding.ids)
                write("bounds", [total], ARRAYS["bounds"])
                write("digests", [digest], ARRAYS["digests"])
                write("domain", [domains.setdefault(document.domain, len(domains))], ARRAYS["domain"])
    if not total:
        raise Refused("--corpus: no document holds a token; is it text, and is the tokenizer of its language?")
    meta = {"type": kind, "domains": list(domains), "dropped": {why: n for why, n in dropped.items() if n}}
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")


def small(values: IntArray) -> IntArray:
    """The same numbers, none negative, in the smallest type that holds them: a number of a document takes 4 bytes."""
    found: IntArray = values.astype(np.min_scalar_type(int(values.max(initial=0))))
    return found


class Seen:
    """Which digests have come before: 8 bytes each, in sorted arrays, each at least twice as long as the next.

    Python's set takes 120 bytes each: at 10 million documents (5 GB of paragraphs) 1.2 GB instead of 80 MB. Two texts
    of one digest are one in 2⁶⁴: among 10 million documents one is lost with a probability of 3 in a million.
    """

    def __init__(self) -> None:
        self._runs: list[IntArray] = []

    def new(self, digests: IntArray) -> BoolArray:
        """Of these, (n,), which come for the first time; from here on all of them have come."""
        unique, first = np.unique(digests, return_index=True)
        known = np.zeros(len(unique), dtype=bool)
        for run in self._runs:
            known |= run[np.minimum(np.searchsorted(run, unique), len(run) - 1)] == unique
        found = np.zeros(len(digests), dtype=bool)
        found[first[~known]] = True
        fresh = unique[~known]
        while self._runs and len(self._runs[-1]) < 2 * len(fresh):
            fresh = np.sort(np.concatenate([self._runs.pop(), fresh]), kind="stable")
        if len(fresh):
            self._runs.append(fresh)
        return found


def _digest(document: Document) -> bytes:
    return hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).digest()


def _words(encoding: Encoding) -> BoolArray:
    """Which tokens begin a word, by the words of the pre-tokenizer: right for ## and byte-level pieces alike."""
    words = np.array([-1 if word is None else word for word in encoding.word_ids])
    return np.append(True, words[1:] != words[:-1])


def _sentences(encoding: Encoding, begins: Sequence[int]) -> IntArray:
    """The tokens that begin a sentence; a token belongs to the sentence of its last character.

    (Byte-level tokens begin with the space before a word, which stands at the end of the sentence before.)
    """
    if len(begins) == 1:
        return np.array([0])
    ends = np.array([end for _, end in encoding.offsets])
    sentence = np.maximum.accumulate(np.searchsorted(begins, np.maximum(ends - 1, 0), side="right"))
    return np.flatnonzero(np.append(True, sentence[1:] != sentence[:-1]))
