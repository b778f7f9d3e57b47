"""Files from outside as bytes and as text: plain, .gz or .bz2, decoded strictly so that nothing is replaced unseen."""

import bz2
import codecs
import gzip
import zlib
from pathlib import Path

from heldout.errors import Refused
from heldout.options import nearest

COMPRESSED = (".gz", ".bz2")


def suffix(path: Path) -> str:
    """The suffix that tells the format, in lower case: ``.csv`` of reviews.CSV.gz."""
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return plain.suffix.lower()


def stem(path: Path) -> str:
    """The name without its suffixes: reviews of reviews.csv.gz, but stsa.fine.train of stsa.fine.train."""
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return plain.stem if plain.suffix.lower() in KNOWN else plain.name


KNOWN = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".parquet", ".review", ".txt")


def read_bytes(path: Path, *, may_be_empty: bool = False) -> bytes:
    """The content of a file, decompressed; Refused where it is missing, cut short, not what its name says or empty."""
    try:
        raw = path.read_bytes()
        packed = path.suffix.lower()
        content = gzip.decompress(raw) if packed == ".gz" else bz2.decompress(raw) if packed == ".bz2" else raw
    except FileNotFoundError:
        raise missing(path) from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise Refused(f"{path}: cannot be read ({error}); is the file whole and of the kind its name says?") from None
    if not may_be_empty and not content.strip():
        raise Refused(f"{path}: the file is empty")
    return content


def missing(path: Path) -> Refused:
    """The error for a path that is not there, naming the nearest name in its folder."""
    if not path.parent.is_dir():
        return Refused(f"{path}: no such file, nor a folder {path.parent}")
    return Refused(f"{path}: no such file{nearest(path.name, sorted(entry.name for entry in path.parent.iterdir()))}")


def read_text(path: Path, encoding: str) -> str:
    """The content as text; Refused naming the byte offset (after decompression) of the first undecodable byte."""
    return decode(read_bytes(path), str(path), encoding)


def decode(content: bytes, where: str, encoding: str) -> str:
    """Bytes as text, a byte order mark left out; Refused naming the offset of the first undecodable byte."""
    # The mark is cut off here, as the errors of Python's utf-8-sig count from behind it.
    utf8 = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    mark = len(codecs.BOM_UTF8) if utf8 and content.startswith(codecs.BOM_UTF8) else 0
    try:
        return content[mark:].decode("utf-8" if utf8 else encoding)
    except UnicodeDecodeError as error:
        at = mark + error.start
        advice = encoding_advice(content)
        raise Refused(f"{where}: byte {at} (0x{content[at]:02x}) is not {encoding}; try {advice}") from None
    except UnicodeError as error:
        raise Refused(f"{where}: not {encoding} ({error}); name its --encoding") from None


def encoding_advice(content: bytes) -> str:
    """The --encoding to try for bytes that are not what was asked for."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "--encoding utf-16"
    # Latin-1 has control characters at 0x80-0x9f, where Windows' code page has quotes and dashes.
    windows = any(0x80 <= byte <= 0x9F for byte in content)
    return "--encoding cp1252 or latin-1" if windows else "--encoding latin-1"
