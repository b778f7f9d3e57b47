"""One word in several sentences: its static row is the same in each, its contextual states are not, layer by layer.

Layer 0 is what the encoder begins with (token, position and segment rows summed, normalised); "static" is the token's
row of the table alone. Beside each layer's cosines stand those of random tokens of the same sentences: states crowd
together too, and a cosine of 0.9 between two meanings of a word says little where any two tokens have 0.8.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoModel, PreTrainedModel, PreTrainedTokenizerFast

from heldout.data.files import read_text
from heldout.errors import Refused
from heldout.eval.columns import aligned
from heldout.train.models import load_tokenizer, load_with_fresh_head, max_positions
from heldout.train.untrusted import Source

Floats = npt.NDArray[np.float32]
#: Pairs of random tokens that a layer's cosines are held against.
PAIRS = 2000


@dataclass(frozen=True)
class Encoder:
    """An encoder with its tokenizer; it is only read."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast

    def states(self, text: str | Sequence[str], where: str) -> tuple[Floats, Any]:
        """The states of every layer, (layers + 1, tokens, d), and the encoding; Refused where the text is too long.

        Given words, the encoding knows which word each token is of.
        """
        whole = isinstance(text, str)
        encoded = self.tokenizer(text if whole else list(text), is_split_into_words=not whole)
        ids = encoded["input_ids"]
        limit = max_positions(self.model)
        if limit is not None and len(ids) > limit:
            raise Refused(f"{where}: {len(ids)} tokens, and the model has {limit} positions; shorten it")
        inputs = {name: torch.tensor([encoded[name]]) for name in self.tokenizer.model_input_names if name in encoded}
        with torch.inference_mode():
            found = self.model(**inputs, output_hidden_states=True).hidden_states
        return torch.stack(found)[:, 0].numpy(), encoded


def load_encoder(name: str) -> Encoder:
    """The encoder of a model's folder, its head left out; Refused as finetune refuses it."""
    source = Source(name)
    model, _ = load_with_fresh_head(AutoModel, source, seed=0)
    model.train(False)
    return Encoder(model, load_tokenizer(source, 10**6))


def compare(name: str, word: str, file: Path) -> dict[str, Any]:
    """Cosines between a word's vectors in the sentences of a file: mean, lowest, and the last layer's table.

    Refused where a line lacks the word, or fewer than two have it.
    """
    lines = [line.strip() for line in read_text(file, "utf-8").splitlines() if line.strip()]
    if len(lines) < 2:
        raise Refused(f"{file}: {len(lines)} sentences; two or more are compared, one a line")
    encoder = load_encoder(name)
    found = [_states(encoder, line, word, f"{file}, sentence {number}") for number, line in enumerate(lines, 1)]
    layers = np.stack([states for states, _, _ in found], axis=1)
    others = np.concatenate([tokens for _, tokens, _ in found], axis=1)
    static = np.stack([row for _, _, row in found])
    rows = [{"layer": "static", **_spread(static), "random_tokens": None}]
    for number, (states, tokens) in enumerate(zip(layers, others, strict=True)):
        rows.append({"layer": str(number), **_spread(states), "random_tokens": _random(tokens)})
    equal = bool((static == static[0]).all())
    last = _cosines(layers[-1]).tolist()
    return {"word": word, "sentences": lines, "static_equal": equal, "layers": rows, "last": last}


def _states(encoder: Encoder, line: str, word: str, where: str) -> tuple[Floats, Floats, Floats]:
    """The word's state in each layer, all tokens' states, and its static row; means over its pieces."""
    match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", line, re.IGNORECASE)
    if match is None:
        raise Refused(f"{where}: {word!r} does not stand in it")
    states, encoded = encoder.states(line, where)
    pieces = sorted({encoded.char_to_token(at) for at in range(*match.span())} - {None})
    if not pieces:
        raise Refused(f"{where}: the tokenizer leaves {word!r} out")
    table = encoder.model.get_input_embeddings().weight.detach().numpy()  # type: ignore[operator]
    static = table[[encoded["input_ids"][piece] for piece in pieces]].mean(axis=0)
    return states[:, pieces].mean(axis=1), states, static


def _cosines(rows: Floats) -> Floats:
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(units @ units.T)


def _spread(rows: Floats) -> dict[str, float]:
    pairs = _cosines(rows)[np.triu_indices(len(rows), 1)]
    return {"mean": float(pairs.mean()), "lowest": float(pairs.min())}


def _random(tokens: Floats) -> float:
    generator = np.random.default_rng(0)
    units = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
    first = generator.integers(len(units), size=PAIRS)
    second = (first + generator.integers(1, len(units), size=PAIRS)) % len(units)
    return float(np.einsum("nd,nd->n", units[first], units[second]).mean())


def show(account: Mapping[str, Any]) -> str:
    """The account as text."""
    rows = [["layer", "mean cosine", "lowest", "random tokens"]]
    for row in account["layers"]:
        beside = "" if row["random_tokens"] is None else f"{row['random_tokens']:.3f}"
        rows.append([row["layer"], f"{row['mean']:.3f}", f"{row['lowest']:.3f}", beside])
    sentences = [f"{number}  {line}" for number, line in enumerate(account["sentences"], 1)]
    same = "is the same row" if account["static_equal"] else "is cut into different pieces"
    head = f"{account['word']} in {len(sentences)} sentences; in the static table it {same} in all of them"
    numbers = [str(number) for number in range(1, len(sentences) + 1)]
    last = [["", *numbers], *([n, *(f"{c:.2f}" for c in row)] for n, row in zip(numbers, account["last"], strict=True))]
    return "\n".join([head, "", *aligned(rows), "", "cosines in the last layer", *aligned(last), "", *sentences])
