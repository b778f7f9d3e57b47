"""Examples as windows, a block at a time, kept in the cache: a second start on the same data tokenises nothing.

What is kept is found by a hash of the texts with their gold, the tokenizer's whole file, the labels, the geometry and
the code that encodes, so that none of these can change unseen (FAULTS P11).
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import tokenizers
import transformers

from heldout.cache import cache_folder, cached
from heldout.data.rows import hash_of
from heldout.records import Example
from heldout.train import classify, framing, packed, places, windows
from heldout.train.packed import InFolder, InMemory, Packed, Seen, open_packed, pack, save_form
from heldout.train.progress import progress
from heldout.train.task import Encoded, Encoding, Task

#: Examples that are lists of Python's integers at a time.
BLOCK = 2000
KIND = "tokens"


def encode(
    task: Task, examples: Sequence[Example], encoding: Encoding, what: str = "tokenising", *, shown: bool = True
) -> Encoded:
    """The task's windows of the examples in a compact form, from the cache where they are there.

    Spans, whose places are objects of their own, stay as the task makes them.
    """
    # What the task refuses or sets in the tokenizer it does here, though the windows may be there already.
    empty = task.encode([], encoding)
    if not examples:
        return empty
    if packed.form_of(task.encode(examples[:1], encoding).flat()[0]) is None:
        return task.encode(examples, encoding)
    with progress(what, len(examples), "examples", shown=shown) as advance:

        def blocks() -> Iterator[tuple[Any, Any]]:
            for start in range(0, len(examples), BLOCK):
                some = examples[start : start + BLOCK]
                found = task.encode(some, encoding)
                yield found.windows, found.seen
                advance(len(some))

        def make(temporary: Path) -> None:
            form = pack(blocks(), InFolder(temporary))
            assert form is not None
            save_form(temporary, form)

        key = key_of(task, examples, encoding) if _known(task) and cache_folder() is not None else None
        found = cached(KIND, key, make, open_packed) if key is not None else None
        if found is not None:
            return _encoded(found)
        memory = InMemory()
        form = pack(blocks(), memory)
        assert form is not None
        return _encoded(Packed(form, memory.arrays()))


def _encoded(found: Packed) -> Encoded:
    return Encoded(found, Seen(found))


def _known(task: Task) -> bool:
    """Whether the encoding is a function that stands in a file by its name: one made on the spot has no hash."""
    return getattr(sys.modules.get(task.encode.__module__), "encode", None) is task.encode


def key_of(task: Task, examples: Sequence[Example], encoding: Encoding) -> str | None:
    """SHA-256 of all that decides the windows; None where a part of the tokenizer is code, which has no file."""
    tokenizer: Any = encoding.tokenizer
    try:
        whole = tokenizer.backend_tokenizer.to_str()
    except Exception:  # The library has no narrower one for a pre-tokenizer (or decoder, …) written in Python.
        return None
    said = {
        "texts": hash_of(examples),
        "names": list(tokenizer.model_input_names),
        "special": list(tokenizer.all_special_ids),
        "libraries": [tokenizers.__version__, transformers.__version__],
        **{name: value for name, value in vars(encoding).items() if name not in ("tokenizer", "labels")},
        "labels": list(encoding.labels),
    }
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    digest.update(whole.encode("utf-8", "surrogatepass"))
    for module in (
        sys.modules[task.encode.__module__],
        classify,
        framing,
        places,
        windows,
        packed,
        sys.modules[__name__],
    ):
        assert module.__file__ is not None
        digest.update(Path(module.__file__).read_bytes())
    return digest.hexdigest()
