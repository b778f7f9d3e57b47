"""A saved tokenizer as encoding asks for it, from its JSON files alone: neither transformers nor torch is imported."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from heldout.errors import Refused
from heldout.runs import read_json


class FileTokenizer:
    """tokenizer.json and tokenizer_config.json of a folder, with the few names of transformers' class that are used.

    ``model_input_names`` are those that the model takes: without token_type_ids among them no segments are made.
    """

    def __init__(self, folder: Path, model_input_names: Sequence[str]) -> None:
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise Refused(f"{path}: no such file; export again: heldout compress RUN --onnx --out RUN2")
        try:
            self.backend_tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises plain Exception
            raise Refused(f"{path}: is no tokenizer ({' '.join(str(error).split())[:200]}); export again") from None
        # A file may carry truncation and padding (MiniLM's to 128 tokens), which would cut what is read.
        self.backend_tokenizer.no_truncation()
        self.backend_tokenizer.no_padding()
        self.model_input_names = list(model_input_names)
        config = read_json(folder / "tokenizer_config.json")
        self.pad_token_id = _pad_id(self.backend_tokenizer, config, folder)
        self.pad_token_type_id = int(config.get("pad_token_type_id") or 0)
        self.add_prefix_space = False

    def __call__(self, *texts: str, return_special_tokens_mask: bool = True) -> dict[str, list[int]]:
        """One text or a pair with its special tokens, as transformers' tokenizers give it."""
        # One text and, of a pair, the second (the stubs take no unpacked tuple).
        found = self.backend_tokenizer.encode(texts[0], texts[1] if len(texts) > 1 else None)
        segments = {"token_type_ids": found.type_ids} if "token_type_ids" in self.model_input_names else {}
        return {"input_ids": found.ids, "special_tokens_mask": found.special_tokens_mask} | segments


def _pad_id(tokenizer: Tokenizer, config: Any, folder: Path) -> int:
    named = config.get("pad_token") if isinstance(config, dict) else None
    token = named.get("content") if isinstance(named, dict) else named
    found = tokenizer.token_to_id(token) if isinstance(token, str) else None
    if found is None:
        raise Refused(f"{folder}/tokenizer_config.json: names no pad token of the tokenizer ({json.dumps(named)})")
    return int(found)
