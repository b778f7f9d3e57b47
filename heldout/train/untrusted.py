"""What comes from outside, before it is loaded: safetensors only, no code of theirs unless allowed; errors a line."""

import contextlib
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError
from transformers.utils import logging as transformers_logging

from heldout.errors import Refused

PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt", "tf_model.h5", "flax_model.msgpack")

# transformers would ask the hub to convert pickled weights in a thread of its own; only safetensors are loaded here.
os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")


@dataclass(frozen=True)
class Source:
    """Where a model comes from: a folder or a hub id, and whether code shipped with it may run."""

    name: str
    trust_remote_code: bool = False


def check_folder(source: Source) -> None:
    """Refuse a local model folder that lacks a config or weights, has only pickles, or wants code of its own to run."""
    folder = Path(source.name)
    if not folder.exists():
        looks_local = source.name.startswith((".", "/", "~")) or source.name.count("/") > 1
        if looks_local:
            raise Refused(f"{source.name}: no such model folder")
        return
    config = folder / "config.json"
    if not config.is_file():
        raise Refused(f"{source.name}: no config.json; give a folder saved by save_pretrained or a hub id")
    try:
        wants_code = "auto_map" in json.loads(config.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Refused(f"{config}: not JSON ({error})") from None
    if wants_code and not source.trust_remote_code:
        raise Refused(f"{source.name}: wants to run code of its own; read it, then allow it with --trust-remote-code")
    if not list(folder.glob("*.safetensors")):
        pickled = [name for name in PICKLES if (folder / name).exists()]
        if pickled:
            raise Refused(f"{source.name}: has only {pickled[0]}; pickles can run code, so save it as safetensors")
        raise Refused(f"{source.name}: holds no weights (no *.safetensors)")


@contextlib.contextmanager
def readable_errors(source: Source, what: str) -> Iterator[None]:
    """Turn the many-line exceptions of transformers into one line that names the model."""
    try:
        yield
    except (OSError, ValueError, ImportError, RuntimeError, KeyError, SafetensorError) as error:
        said = " ".join(str(error).split())
        why = said[:300]
        if "trust_remote_code" in said:
            why = "it wants to run code of its own; read it, then allow it with --trust-remote-code"
        elif "use_safetensors" in said or ("safetensors" in said.lower() and "not" in said):
            why = f"it has no safetensors weights; pickles can run code, so convert them first ({why})"
        raise Refused(f"{source.name}: the {what} could not be loaded: {why}") from error


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without transformers' report on missing weights: load_model checks them and says it in a line."""
    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity(logging.ERROR)
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        transformers_logging.set_verbosity(before)
