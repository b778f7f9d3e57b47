"""Files from outside as a stream of lines: plain, .gz or .bz2, never whole in memory, decoded strictly.

heldout.data.files reads whole files, which a labelled set allows and a corpus does not.
"""

import bz2
import codecs
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from heldout.data.files import encoding_advice, missing
from heldout.errors import Refused

#: Bytes read at once.
CHUNK = 1 << 20
#: Characters of a line that are held before it is cut, where it may be cut (a corpus can be a single line).
LONG = 1 << 16
#: What reading and unpacking raise where a file is missing, cut short or not what its name says.
UNREADABLE = (OSError, EOFError, zlib.error, ValueError, RuntimeError)


@dataclass
class Seen:
    """What a reader met so far: bytes of the files on disk (for a progress bar), and what it left out, by reason."""

    bytes: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


@contextmanager
def opened(path: Path, seen: Seen) -> Iterator[Callable[[], bytes]]:
    """Yield a function that reads the next bytes of a file, decompressed; b"" at its end."""
    packed = path.suffix.lower()
    try:
        with path.open("rb") as raw:
            stream = gzip.GzipFile(fileobj=raw) if packed == ".gz" else bz2.BZ2File(raw) if packed == ".bz2" else raw
            yield reader(str(path), stream.read, raw.tell, seen)
    except FileNotFoundError:
        raise missing(path) from None
    except OSError as error:
        raise Refused(f"{path}: cannot be read ({error.strerror or error})") from None


def reader(
    where: str, unpacked: Callable[[int], bytes], position: Callable[[], int], seen: Seen
) -> Callable[[], bytes]:
    """``unpacked`` with readable errors and a count; ``position`` is how far the file on disk has been read."""
    before = position()

    def read() -> bytes:
        nonlocal before
        try:
            content = unpacked(CHUNK)
        except UNREADABLE as error:
            raise Refused(
                f"{where}: cannot be read ({error}); is the file whole and of the kind its name says?"
            ) from None
        seen.bytes += position() - before
        before = position()
        return content

    return read


def lines(where: str, read: Callable[[], bytes], encoding: str, *, cut: bool = False) -> Iterator[str]:
    """The lines with their ends, which all become a newline; with ``cut`` a very long one comes in parts.

    Refused naming the offset (after decompression) of the first byte that is not of the encoding.
    """
    rest = ""
    for text in _decoded(where, read, encoding):
        whole = (rest + text).split("\n")
        rest = whole.pop()
        for line in whole:
            yield line + "\n"
        while cut and len(rest) > LONG:
            # At a space, so that no word is torn but one that is itself longer.
            end = rest.rfind(" ", 0, LONG) + 1 or LONG
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def _decoded(where: str, read: Callable[[], bytes], encoding: str) -> Iterator[str]:
    # utf-8-sig leaves out a byte order mark and is utf-8 otherwise.
    utf8 = codecs.lookup(encoding).name == "utf-8"
    decoder = codecs.getincrementaldecoder("utf-8-sig" if utf8 else encoding)("strict")
    newlines = io.IncrementalNewlineDecoder(None, translate=True)
    before = 0
    while True:
        content = read()
        try:
            text = decoder.decode(content, not content)
        except UnicodeDecodeError as error:
            at = before + len(content) - len(error.object) + error.start
            byte, sample = error.object[error.start], bytes(error.object)
            raise Refused(
                f"{where}: byte {at} (0x{byte:02x}) is not {encoding}; try {encoding_advice(sample)}"
            ) from None
        except UnicodeError as error:
            raise Refused(f"{where}: not {encoding} ({error}); name its --encoding") from None
        before += len(content)
        yield newlines.decode(text, not content)
        if not content:
            return
