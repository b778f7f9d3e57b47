"""What a fitted baseline keeps in its run folder, so that it answers sets that come later: RUN/fitted.safetensors.

Arrays by name, the words that their rows stand for, and strings that say the rest. No pickle: a file that is read runs
nothing.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from heldout.errors import Refused
from heldout.runs import atomic

NAME = "fitted.safetensors"
FORMAT = "heldout.baselines 1"


@dataclass(frozen=True)
class Kept:
    """The arrays of a fitted baseline, the words of their rows (none with a line break in it), and what else it is."""

    arrays: Mapping[str, npt.NDArray[Any]]
    words: Sequence[str] = ()
    about: Mapping[str, Any] = field(default_factory=dict)


def keep(path: Path, kept: Kept) -> None:
    """Write it."""
    arrays = {**kept.arrays, "words": np.frombuffer("\n".join(kept.words).encode(), np.uint8)}
    about = {"format": FORMAT, "about": json.dumps(kept.about, ensure_ascii=False)}
    with atomic(path) as temporary:
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, temporary, about)


def read_kept(path: Path) -> Kept:
    """Read it; Refused where it is not whole, or not of this format."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            names = file.keys()
            arrays = {name: file.get_tensor(name) for name in names}
        words = arrays.pop("words").tobytes().decode("utf-8")
        about = json.loads(metadata["about"])
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise Refused(f"{path}: not what a baseline keeps ({error}); fit it again with heldout baseline") from None
    if metadata.get("format") != FORMAT or not isinstance(about, dict):
        raise Refused(f"{path}: of another format than {FORMAT}; fit it again with heldout baseline")
    return Kept(arrays, words.split("\n") if words else [], about)
