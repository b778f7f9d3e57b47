"""Where the sentences of a document begin, by one of three splitters.

``sentencex`` (Wikimedia's splitter, kept up, in Rust: 3 MB took 0.07 s; ``pip install sentencex``), ``line`` (a line is
a sentence), ``plain`` (the fallback where sentencex is not installed: it knows no abbreviations, so "Mr. Smith" is two
sentences). pysbd, syntok and blingfire have had no release since 2022.
"""

import importlib
import importlib.util
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

from heldout.errors import Refused

Splitter = Literal["auto", "sentencex", "line", "plain"]

#: The end of a sentence with its closing quotes, before white space and what may begin another; or an end of line.
_PLAIN = re.compile(r"[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\W_a-z])|\n+")
_LINE = re.compile(r"\n+")


def resolve(splitter: Splitter) -> Splitter:
    """The splitter that ``auto`` means on this machine; Refused where sentencex is asked for and not installed."""
    installed = importlib.util.find_spec("sentencex") is not None
    if splitter == "sentencex" and not installed:
        raise Refused("--sentences sentencex: it is not installed; pip install sentencex, or use plain or line")
    return splitter if splitter != "auto" else "sentencex" if installed else "plain"


def starts(splitter: Splitter) -> Callable[[str], Sequence[int]]:
    """A function from a text to the offsets (characters) at which its sentences begin; the first is always 0."""
    if splitter == "sentencex":
        module: Any = importlib.import_module("sentencex")
        return lambda text: [0, *(found["start_index"] for found in module.get_sentence_boundaries("en", text)[1:])]
    pattern = _LINE if splitter == "line" else _PLAIN
    return lambda text: [0, *(match.end() for match in pattern.finditer(text) if match.end() < len(text))]
