"""Loading models and tokenizers that come from outside: safetensors only, no code of theirs unless allowed."""

import contextlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast
from transformers.utils import logging as transformers_logging

from heldout.errors import Refused

PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt", "tf_model.h5", "flax_model.msgpack")

#: What configs call the dropout of attention weights: BERT's kin, and DistilBERT's and ModernBERT's.
ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")

# transformers would ask the hub to convert pickled weights in a thread of its own; only safetensors are loaded here.
os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")


@dataclass(frozen=True)
class Source:
    """Where a model comes from: a folder or a hub id, and whether code shipped with it may run."""

    name: str
    trust_remote_code: bool = False


def load_tokenizer(source: Source, max_length: int) -> PreTrainedTokenizerFast:
    """The tokenizer, without the truncation or padding its file may carry; Refused where it cannot batch or align."""
    check_folder(source)
    with _readable_errors(source, "tokenizer"), _quiet():
        tokenizer = AutoTokenizer.from_pretrained(source.name, trust_remote_code=source.trust_remote_code)
    if not getattr(tokenizer, "is_fast", False):
        raise Refused(
            f"{source.name}: its tokenizer has no fast version (tokenizer.json); convert it with transformers"
        )
    if tokenizer.pad_token_id is None:
        raise Refused(
            f"{source.name}: its tokenizer lacks a pad token, so texts cannot be batched; "
            "set one (tokenizer.pad_token = …), save the folder and give that"
        )
    # MiniLM's file carries truncation and padding to 128, which backend_tokenizer would apply.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.model_max_length = max_length
    assert isinstance(tokenizer, PreTrainedTokenizerFast)
    return tokenizer


def load_model(
    auto_class: Any,
    source: Source,
    *,
    labels: Sequence[str] | None = None,
    seed: int = 0,
    attention_dropout: float | None = None,
) -> PreTrainedModel:
    """A model of ``auto_class``, with a head for ``labels`` where they are given, else with the head it has.

    The seed is set before a head is drawn (FAULTS T9). ``attention_dropout`` replaces the config's own.
    """
    check_folder(source)
    with _readable_errors(source, "model"), _quiet():
        config = AutoConfig.from_pretrained(
            source.name, trust_remote_code=source.trust_remote_code, **({} if labels is None else _head(labels))
        )
        if attention_dropout is not None:
            _set_attention_dropout(config, attention_dropout, source)
        torch.manual_seed(seed)
        model = auto_class.from_pretrained(
            source.name,
            config=config,
            use_safetensors=True,
            dtype=torch.float32,
            trust_remote_code=source.trust_remote_code,
        )
    assert isinstance(model, PreTrainedModel)
    return model


def _set_attention_dropout(config: Any, value: float, source: Source) -> None:
    name = next((name for name in ATTENTION_DROPOUT if hasattr(config, name)), None)
    if name is None:
        raise Refused(f"{source.name}: a {config.model_type} has no attention dropout; leave --attention-dropout out")
    setattr(config, name, value)


def _head(labels: Sequence[str]) -> dict[str, Any]:
    return {
        "num_labels": len(labels),
        "id2label": dict(enumerate(labels)),
        "label2id": {label: row for row, label in enumerate(labels)},
    }


def max_positions(model: PreTrainedModel) -> int | None:
    """The longest sequence that the model has positions for, None where its config sets no limit.

    RoBERTa-like models count positions from the padding id on, so theirs hold two tokens fewer than the table has rows.
    """
    limit = getattr(model.config, "max_position_embeddings", None)
    if limit is None:
        return None
    offset = (model.config.pad_token_id or 0) + 1 if "roberta" in model.config.model_type else 0
    return int(limit) - offset


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
def _readable_errors(source: Source, what: str) -> Iterator[None]:
    """Turn the many-line exceptions of transformers into one line that names the model."""
    try:
        yield
    except (OSError, ValueError, ImportError, RuntimeError, KeyError, SafetensorError) as error:
        first = " ".join(str(error).split())[:300]
        if "safetensors" in first and "pytorch_model.bin" not in first:
            first = f"it has no safetensors weights ({first})"
        if "trust_remote_code" in first:
            first = "it wants to run code of its own; read it, then allow it with --trust-remote-code"
        raise Refused(f"{source.name}: the {what} could not be loaded: {first}") from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without transformers' report of a fresh head: a new head is what fine-tuning is for, and the command says so."""
    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity(logging.ERROR)
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        transformers_logging.set_verbosity(before)
