"""A tokenizer's folder: tokenizer.json and tokenizer_config.json, as AutoTokenizer reads them, and training.json.

It is saved with neither truncation nor padding, and what was saved is loaded and looked at before it gets its name
(FAULTS P8: a trained tokenizer without its template adds no [CLS], and nobody notices).
"""

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from heldout.errors import Failed, Refused
from heldout.runs import atomic, write_json
from heldout.tokenizer import parts
from heldout.tokenizer.train import Trained


def refuse_taken(folder: Path) -> None:
    """Refused where the folder is there and holds anything: a command asks before its work, not after it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"{folder}: is there already; choose another --out or remove it")


def save(trained: Trained, folder: Path, facts: dict[str, Any]) -> None:
    """Write the folder under a temporary name, load what was written, check it, rename it."""
    with atomic(folder) as temporary:
        wrap(trained.tokenizer).save_pretrained(temporary)
        wrong = _wrong(load(str(temporary)), trained.tokenizer)
        if wrong:
            raise Failed(f"{folder}: the saved tokenizer {wrong} once loaded; is this version of transformers known?")
        write_json(temporary / "training.json", facts)


def _wrong(loaded: PreTrainedTokenizerFast, trained: Tokenizer) -> str:
    """What a loaded tokenizer does otherwise than the trained one; "" where nothing is."""
    text, other = "A first text, longer.", "a second one"
    encoded = loaded(text, other)
    ids, segments = encoded["input_ids"], encoded["token_type_ids"]
    first = len(loaded(text)["input_ids"])
    checks = {
        "splits a text otherwise": ids == trained.encode(text, other).ids,
        "adds no [CLS] and [SEP]": framed(loaded),
        "has other segment ids": segments == [0] * first + [1] * (len(ids) - first),
        "cuts or pads its texts": (loaded.backend_tokenizer.truncation, loaded.backend_tokenizer.padding)
        == (None, None),
    }
    return next((wrong for wrong, holds in checks.items() if not holds), "")


def framed(tokenizer: PreTrainedTokenizerFast) -> bool:
    """Whether a tokenizer puts its [CLS] before a text and its [SEP] after it and between two."""
    one, two = tokenizer("a")["input_ids"], tokenizer("a", "a")["input_ids"]
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    return [one[0], one[-1], two[0], two[len(one) - 1], two[-1]] == [cls, sep, cls, sep, sep]


def wrap(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    """The tokenizer as transformers has it, its special tokens by their names."""
    names = {f"{token.strip('[]').lower()}_token": token for token in (parts.PAD, parts.CLS, parts.SEP, parts.MASK)}
    if tokenizer.token_to_id(parts.UNK) is not None:
        names["unk_token"] = parts.UNK
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        clean_up_tokenization_spaces=False,
        **names,
    )


def load(name: str) -> PreTrainedTokenizerFast:
    """A fast tokenizer from a folder or hub id, ours or anyone's, without the truncation or padding its file may carry.

    Refused where there is none, or none that is fast, or where one that we trained has lost its template; no code of
    theirs is run.
    """
    path = Path(name)
    if path.exists() and not any((path / file).is_file() for file in ("tokenizer.json", "tokenizer_config.json")):
        raise Refused(f"{name}: no tokenizer.json; give a folder that heldout tokenizer train or transformers saved")
    if not path.exists() and (name.startswith((".", "/", "~")) or name.count("/") > 1):
        raise Refused(f"{name}: no such tokenizer folder")
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
    except (OSError, ValueError, ImportError, KeyError, RuntimeError, TypeError, AttributeError) as error:
        raise Refused(f"{name}: the tokenizer could not be loaded: {' '.join(str(error).split())[:300]}") from error
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise Refused(f"{name}: its tokenizer has no fast version (tokenizer.json); convert it with transformers")
    if (path / "training.json").is_file() and not framed(tokenizer):
        raise Refused(f"{name}: adds no [CLS] and [SEP], as its template is gone; train it again")
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    return tokenizer
