"""Counting words in bounded memory: all that BPE and WordPiece learn from a corpus is how often each word stands in it.

The library's own counter keeps every distinct word, and a corpus has always more of them. On 300 MB of made-up text
with an unbounded, Zipf-like vocabulary (90 million words) training 8,000 WordPieces took 5,209 MB of memory; with this
counter, at its usual limit of a million words, 549 MB (544,489 were held in the end). The price is counts of the rarest
words. Of 14 MB of reviews and WikiText, 50,636 distinct words, the usual limit gives none up; one of 40,000 would leave
7,532 of the 8,000 pieces the same.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

#: White space that every pre-tokenizer splits at, and white space that BERT's normaliser deletes as control characters,
#: joining what stands around it.
SPLITS, DELETED = r"\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000", r"\x0b\x0c\x85"
#: Where no word goes across: between a character and white space after it. Each chunk between two such borders is split
#: into words once for all its occurrences: 14 MB of reviews and WikiText have 2.6 million chunks, 150,000 distinct.
BORDER = re.compile(rf"(?<=[^{SPLITS}{DELETED}])(?=[{SPLITS}])")
#: Distinct chunks that are held before they are split into words.
CHUNKS = 200_000


@dataclass
class Words:
    """How often each word was seen. Words of the smallest counts are given up whenever there are more than ``limit``:
    lossy counting (Manku and Motwani 2002), so a count may lack up to ``lacking``, and no more.

    ``given_up`` counts those occurrences; ``texts`` and ``characters`` all that was read, ``digest`` is its SHA-256.
    """

    limit: int
    counts: Counter[str] = field(default_factory=Counter)
    given_up: int = 0
    lacking: int = 0
    texts: int = 0
    characters: int = 0
    digest: str = ""

    def prune(self) -> None:
        """Where there are too many words, give up the rarest so that at most half the limit is left."""
        if len(self.counts) <= self.limit:
            return
        sizes = Counter(self.counts.values())
        left, least = len(self.counts), 0
        while left > self.limit // 2:
            least = min(size for size in sizes if size > least)
            left -= sizes[least]
        kept = Counter({word: n for word, n in self.counts.items() if n > least})
        self.given_up += self.counts.total() - kept.total()
        self.lacking += least
        self.counts = kept


def count_words(
    texts: Iterable[str], split: Callable[[str], list[str]], *, limit: int, prefix_space: bool = False
) -> Words:
    """Count the words of a stream of texts. ``split`` normalises and pre-tokenises a chunk of a text; ``prefix_space``
    puts a space before a text that has none, as byte-level BPE may do."""
    words, chunks, digest = Words(limit), Counter[str](), hashlib.sha256()
    for text in texts:
        words.texts += 1
        words.characters += len(text)
        # Lone surrogates have no UTF-8; "\0" keeps two texts apart.
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        chunks.update(BORDER.split(" " + text if prefix_space and not text.startswith(" ") else text))
        if len(chunks) >= CHUNKS:
            _into(words, chunks, split)
    _into(words, chunks, split)
    words.digest = digest.hexdigest()
    return words


def _into(words: Words, chunks: Counter[str], split: Callable[[str], list[str]]) -> None:
    for chunk, n in chunks.items():
        for word in split(chunk):
            words.counts[word] += n
    chunks.clear()
    words.prune()
