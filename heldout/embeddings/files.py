"""Vectors as files: our own safetensors, and word2vec's text and binary formats, which gensim reads and writes.

    DIR or vectors.safetensors   words, counts, rows (and fastText's n-grams); what ``heldout embed train`` writes
    .txt .vec (.gz)              "n d", then a line a word; GloVe's files without that first line are read too
    .bin (.gz)                   "n d", then word, a space, d little-endian float32

gensim's own ``save`` is a pickle, which can run any code when it is read: it is refused, with what to type instead.
"""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from heldout.data.files import missing, suffix
from heldout.embeddings.vectors import Floats, Grams, Ints, Vectors
from heldout.errors import Refused
from heldout.runs import atomic

NAME = "vectors.safetensors"
TEXT, BINARY = (".txt", ".vec"), (".bin",)
KNOWN = f"a folder of heldout embed train, {NAME}, {', '.join(TEXT)} or .bin"
#: A word longer than this is no word: the file is not what its name says.
LONGEST = 10_000


def read_vectors(path: Path) -> Vectors:
    """Vectors from a folder or a file, by its suffix; Refused where it is missing, broken, or a pickle."""
    file = path / NAME if path.is_dir() else path
    if not file.is_file():
        raise Refused(f"{path}: holds no {NAME}; heldout embed train writes one") if path.is_dir() else missing(path)
    kind = suffix(file)
    if kind == ".safetensors":
        return _read_own(file)
    if kind not in (*TEXT, *BINARY):
        advice = "; of gensim's own files save wv.save_word2vec_format(FILE, binary=True): a pickle could run any code"
        raise Refused(f"{path}: vectors are {KNOWN}, not {kind or 'a file without suffix'}{advice}")
    with _opened(file) as stream:
        return _read_binary(file, stream) if kind in BINARY else _read_text(file, stream)


def write_vectors(vectors: Vectors, path: Path) -> None:
    """Write vectors in the format that the suffix names; Refused for another one. Counts stand in our own alone."""
    kind = path.suffix.lower()
    if kind not in (".safetensors", *TEXT, *BINARY):
        raise Refused(f"{path}: vectors are written as .safetensors, {', '.join(TEXT)} or .bin")
    with atomic(path) as temporary:
        if kind == ".safetensors":
            _write_own(vectors, temporary)
            return
        with temporary.open("wb") as stream:
            stream.write(f"{len(vectors.words)} {vectors.rows.shape[1]}\n".encode())
            for word, row in zip(vectors.words, vectors.rows, strict=True):
                values = row.astype("<f4").tobytes() if kind in BINARY else f"{' '.join(map(str, row))}\n".encode()
                stream.write(f"{word} ".encode() + values)


def _write_own(vectors: Vectors, path: Path) -> None:
    tensors = {"vectors": vectors.rows, "words": np.frombuffer("\n".join(vectors.words).encode(), np.uint8)}
    metadata = {"format": "heldout.embeddings 1"}
    if vectors.counts is not None:
        tensors["counts"] = vectors.counts
    if vectors.grams is not None:
        tensors["ngrams"] = vectors.grams.rows
        metadata |= {"shortest": str(vectors.grams.shortest), "longest": str(vectors.grams.longest)}
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, path, metadata)


def _read_own(path: Path) -> Vectors:
    try:
        with safe_open(path, framework="numpy") as file:
            about = file.metadata() or {}
            names = file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
        words = tuple(tensors["words"].tobytes().decode("utf-8").split("\n"))
        grams = Grams(tensors["ngrams"], int(about["shortest"]), int(about["longest"])) if "ngrams" in tensors else None
        rows, counts = tensors["vectors"], tensors.get("counts")
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise Refused(f"{path}: not the vectors of heldout embed train ({error}); train them again") from None
    if rows.ndim != 2 or len(rows) != len(words) or (counts is not None and len(counts) != len(words)):
        raise Refused(f"{path}: has {len(words)} words for a table of shape {rows.shape}; train them again")
    return _checked(path, words, rows, counts, grams)


def _read_text(path: Path, stream: IO[bytes]) -> Vectors:
    # One growing buffer: a list of a million small arrays would take twice the memory once they are stacked.
    words, buffer, width = list[str](), bytearray(), 0
    for number, line in enumerate(stream, 1):
        word, *values = line.rstrip(b"\r\n").rstrip(b" ").split(b" ")
        if number == 1 and len(values) == 1 and word.isdigit():
            continue
        try:
            words.append(word.decode("utf-8"))
            buffer += np.array(values, dtype=np.float32).tobytes()
        except ValueError as error:
            raise Refused(f"{path}, line {number}: not a word and its numbers ({error})") from None
        width = width or len(values)
        if len(values) != width or not values:
            raise Refused(f"{path}, line {number}: {len(values)} numbers after {word!r}; the first has {width}")
    if not words:
        raise Refused(f"{path}: holds no vectors")
    return _checked(path, tuple(words), np.frombuffer(buffer, np.float32).reshape(-1, width), None, None)


def _read_binary(path: Path, stream: IO[bytes]) -> Vectors:
    try:
        n, d = map(int, stream.readline(100).split())
        assert n > 0 and d > 0
    except (ValueError, AssertionError):
        raise Refused(f"{path}: does not begin with the numbers of words and dimensions, as word2vec's .bin") from None
    words, buffer = list[str](), bytearray()
    for number in range(1, n + 1):
        letters = bytearray()
        while (letter := stream.read(1)) not in (b" ", b"") and len(letters) < LONGEST:
            letters += letter
        values = stream.read(4 * d)
        if letter != b" " or len(values) != 4 * d:
            raise Refused(f"{path}: ends or breaks at word {number} of {n}; is the file whole?")
        try:
            # word2vec.c ends each row with a newline, gensim does not.
            words.append(bytes(letters).lstrip(b"\n").decode("utf-8"))
        except UnicodeDecodeError:
            raise Refused(f"{path}: word {number} of {n} is not UTF-8 ({bytes(letters[:30])!r})") from None
        buffer += values
    return _checked(path, tuple(words), np.frombuffer(buffer, "<f4").reshape(n, d), None, None)


def _checked(path: Path, words: tuple[str, ...], rows: Floats, counts: Ints | None, grams: Grams | None) -> Vectors:
    if len(set(words)) != len(words):
        twice = Counter(words).most_common(1)[0][0]
        raise Refused(f"{path}: the word {twice!r} stands in it twice; which row is meant?")
    if not np.isfinite(rows).all():
        bad = words[int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])]
        raise Refused(f"{path}: the row of {bad!r} holds no finite numbers; was the training stopped by an overflow?")
    return Vectors(words, rows, counts, grams)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as stream:
            yield cast(IO[bytes], stream)
    except (OSError, EOFError, zlib.error) as error:
        raise Refused(f"{path}: cannot be read ({error}); is the file whole?") from None
