"""From a corpus to sentences of words, written to a file once and streamed from it at every epoch.

A sentence is what windows do not cross: a document (a paragraph, a table's row). ``--words listing`` is the seeds' way:
a file as it is (its byte order mark kept: it is part of the first word), cut at '. ', words at white space, stripped of
.,!?;:()[] at both ends, case kept.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from heldout.data.corpus import CorpusOptions, documents
from heldout.data.files import read_bytes
from heldout.data.streams import Seen
from heldout.errors import Refused
from heldout.options import option
from heldout.runs import atomic

#: Letters and digits with what may stand inside a word.
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
STRIPPED = ".,!?;:()[]"
#: gensim drops what a sentence has beyond this many words; a longer one is cut in two instead.
LONGEST = 10_000


@dataclass(frozen=True)
class TextOptions(CorpusOptions):
    """The options of whoever reads sentences of words."""

    words: Literal["lower", "cased", "listing"] = option(
        "lower", "train: what a word is; listing: the seeds' War and Peace cut, the file as it is"
    )


@dataclass(frozen=True)
class Sentences:
    """A file of sentences, one a line, words between spaces; it can be gone through again and again."""

    path: Path

    def __iter__(self) -> Iterator[list[str]]:
        with self.path.open(encoding="utf-8", newline="\n") as lines:
            for line in lines:
                yield line[:-1].split(" ")

    def counts(self) -> Counter[str]:
        """How often each word occurs."""
        found: Counter[str] = Counter()
        for sentence in self:
            found.update(sentence)
        return found


def words(text: str, *, lower: bool = True) -> list[str]:
    """The words of a text: runs of letters and digits, an apostrophe or hyphen inside.

    >>> words("Well-known? He doesn't say: 3 times!")
    ['well-known', 'he', "doesn't", 'say', '3', 'times']
    """
    return WORD.findall(text.lower() if lower else text)


def listing(text: str) -> list[list[str]]:
    """The sentences of the seeds' listing.

    >>> listing("Well (he said). No!")
    [['Well', 'he', 'said'], ['No']]
    """
    cut = ([word.strip(STRIPPED) for word in part.split()] for part in text.split(". "))
    return [kept for found in cut if (kept := [word for word in found if word])]


def write_sentences(sources: Sequence[str], options: TextOptions, path: Path, seen: Seen) -> Sentences:
    """Write the sentences of a corpus to ``path``; ``seen`` counts what was read and left out.

    Refused where a source is not there or holds no text.
    """
    found = _listed(sources, options, seen) if options.words == "listing" else _cut(sources, options, seen)
    some = False
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as lines:
        for sentence in found:
            for at in range(0, len(sentence), LONGEST):
                some = True
                lines.write(" ".join(sentence[at : at + LONGEST]) + "\n")
        if not some:
            raise Refused(f"{', '.join(sources)}: no words in it; is it text?")
    return Sentences(path)


def _cut(sources: Sequence[str], options: TextOptions, seen: Seen) -> Iterator[list[str]]:
    for document in documents(sources, options, seen):
        found = words(document.text, lower=options.words == "lower")
        if found:
            yield found
        else:
            seen.dropped["documents_without_words"] += 1


def _listed(sources: Sequence[str], options: TextOptions, seen: Seen) -> Iterator[list[str]]:
    if options.column or options.documents or options.clean or options.encoding:
        raise Refused("--words listing: reads a file of UTF-8 as it is; leave the corpus options out, or use lower")
    for source in sources:
        content = read_bytes(Path(source))
        seen.bytes += len(content)
        try:
            # "utf-8" and not "utf-8-sig": the seeds' open() keeps the byte order mark.
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refused(f"{source}: byte {error.start} is not UTF-8, which --words listing needs") from None
        # Python's own open() does this to line ends.
        yield from listing(text.replace("\r\n", "\n").replace("\r", "\n"))
