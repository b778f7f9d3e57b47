"""How a tokenizer frames one text or a pair, read off the tokenizer itself: every kind of model has its own way.

    BERT      [CLS] a [SEP]      [CLS] a [SEP] b [SEP]        segments 0, and 1 for the second text and its [SEP]
    RoBERTa   <s> a </s>         <s> a </s></s> b </s>        no segments

Texts are tokenised without special tokens, cut to what there is room for, and put into the frame.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from heldout.errors import Refused
from heldout.train.task import Encoding, Long

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

#: Texts tokenised at a time: enough for the tokenizer's threads, little memory.
BLOCK = 1000
Ids = Sequence[int]


@dataclass(frozen=True)
class Frame:
    """``special`` are the runs of special tokens before, between and after the texts, one more than there are texts;
    ``special_types`` are their segment ids, ``types`` those of the texts. ``segments``: whether the model reads them.
    """

    special: Sequence[Ids]
    special_types: Sequence[Ids]
    types: Ids
    segments: bool

    @property
    def size(self) -> int:
        """How many special tokens there are."""
        return sum(map(len, self.special))

    def room(self, max_length: int) -> int:
        """The tokens that ``max_length`` leaves for the texts; Refused where that is not one for each."""
        room = max_length - self.size
        if room < len(self.types):
            what = "no token of the text" if len(self.types) == 1 else "no token of one of the texts"
            raise Refused(f"--max-length {max_length}: leaves {what}; give more")
        return room

    def around(self, *texts: Ids) -> dict[str, list[int]]:
        """The model's inputs for these texts, as many as the frame is for."""
        ids, types = list(self.special[0]), list(self.special_types[0])
        for text, kind, special, of_special in zip(
            texts, self.types, self.special[1:], self.special_types[1:], strict=True
        ):
            ids += [*text, *special]
            types += [*[kind] * len(text), *of_special]
        return {"input_ids": ids} | ({"token_type_ids": types} if self.segments else {})


def frame(tokenizer: PreTrainedTokenizerFast, texts: int) -> Frame:
    """The frame for one text or two; Refused where no special tokens tell where a text begins."""
    whole = tokenizer(*["a"] * texts, return_special_tokens_mask=True)
    ids = whole["input_ids"]
    types = whole.get("token_type_ids", [0] * len(ids))
    runs = [(special, list(run)) for special, run in groupby(range(len(ids)), whole["special_tokens_mask"].__getitem__)]
    bodies = [run for special, run in runs if not special]
    if len(bodies) != texts or len(runs) == 1:
        between = "around a text ([CLS] … [SEP])" if texts == 1 else "between two texts ([CLS] … [SEP] … [SEP])"
        raise Refused(f"the tokenizer puts no special tokens {between}; give an encoder's tokenizer")
    edges = [0, *(edge for run in bodies for edge in (run[0], run[-1] + 1)), len(ids)]
    around = list(zip(edges[::2], edges[1::2], strict=True))
    return Frame(
        [ids[start:end] for start, end in around],
        [types[start:end] for start, end in around],
        [types[run[0]] for run in bodies],
        "token_type_ids" in tokenizer.model_input_names,
    )


def bodies(encoding: Encoding, texts: Sequence[str]) -> Iterator[list[int]]:
    """The ids of every text, without special tokens and whatever their length."""
    for start in range(0, len(texts), BLOCK):
        found = encoding.tokenizer.backend_tokenizer.encode_batch_fast(
            texts[start : start + BLOCK], add_special_tokens=False
        )
        yield from (body.ids for body in found)


def cut(body: Ids, room: int, long: Long) -> list[list[int]]:
    """The piece or pieces of a text's tokens that the model reads, each of at most ``room`` tokens.

    Windows cover the whole text, overlap by a quarter at least, and are spread evenly.

    >>> cut([1, 2, 3, 4, 5], 3, "head"), cut([1, 2, 3, 4, 5], 3, "tail"), cut([1, 2, 3, 4, 5], 3, "head+tail")
    ([[1, 2, 3]], [[3, 4, 5]], [[1, 4, 5]])
    """
    if len(body) <= room:
        return [list(body)]
    if long == "head":
        return [list(body[:room])]
    if long == "tail":
        return [list(body[-room:])]
    if long == "head+tail":
        # A quarter from the head, the rest from the tail: Sun et al. 2019 (section 5.3.1) keep 128 + 382 of 510.
        head = min(max(room // 4, 1), room - 1)
        return [[*body[:head], *body[len(body) - (room - head) :]]]
    stride = max(room * 3 // 4, 1)
    count = 1 + math.ceil((len(body) - room) / stride)
    starts = [round(number * (len(body) - room) / (count - 1)) for number in range(count)]
    return [list(body[start : start + room]) for start in starts]


def longest_first(first: int, second: int, room: int) -> tuple[int, int]:
    """The tokens that two texts keep of theirs: the longer loses until both fit, as the tokenizers' longest_first does.

    >>> longest_first(10, 3, 8), longest_first(9, 9, 7), longest_first(2, 3, 8)
    ((5, 3), (3, 4), (2, 3))
    """
    short = min(first, second, room // 2)
    long = min(max(first, second), room - short)
    return (long, short) if first > second else (short, long)
