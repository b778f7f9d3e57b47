"""An encoder's embedding table that begins with static vectors, by the tokens' strings."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from heldout.embeddings.vectors import Floats, Vectors
from heldout.errors import Refused

#: What stands before a token that begins a word (byte-level BPE, SentencePiece), or inside one (WordPiece).
BEGINS, INSIDE = ("Ġ", "▁"), "##"


def begin_with(table: Floats, tokens: Mapping[str, int], vectors: Vectors, name: str) -> npt.NDArray[np.bool_]:
    """Put the vectors of tokens that are words into a table (rows, d), in place; returns which rows were found.

    The static rows are scaled, all by one factor, to the mean length that the drawn ones have: those of word2vec are
    longer by an order of magnitude, which would drown positions and segments. A piece inside a word (##ing) is no word
    and keeps its drawn row. Refused where the widths differ or no token is found.
    """
    if vectors.rows.shape[1] != table.shape[1]:
        raise Refused(
            f"--embeddings {name}: has {vectors.rows.shape[1]} dimensions and the model {table.shape[1]}; train "
            f"vectors of that size (heldout embed train --size {table.shape[1]}) or choose another preset"
        )
    rows = {row: at for token, row in tokens.items() if (at := _word(token, vectors)) is not None}
    if not rows:
        raise Refused(f"--embeddings {name}: none of the tokenizer's {len(tokens)} tokens is a word of these vectors")
    found = np.zeros(len(table), np.bool_)
    found[list(rows)] = True
    static = vectors.rows[list(rows.values())]
    scale = np.linalg.norm(table[found], axis=1).mean() / np.linalg.norm(static, axis=1).mean()
    table[list(rows)] = static * scale
    return found


def _word(token: str, vectors: Vectors) -> int | None:
    if token.startswith(INSIDE):
        return None
    word = token[1:] if token.startswith(BEGINS) and len(token) > 1 else token
    return vectors.find(word)
