"""What stands around text: the special tokens that the tokenizer's own template adds, or a causal model's borders."""

from dataclasses import dataclass

import numpy as np
from transformers import PreTrainedTokenizerFast

from heldout.errors import Refused
from heldout.pretrain.masking import BoolArray


@dataclass(frozen=True)
class Frame:
    """Ids before a text, between the two of a pair, and after: [CLS] A [SEP] B [SEP]."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    between: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        """The tokens that a row's text must leave free."""
        return len(self.before) + len(self.between) + len(self.after)


def single(tokenizer: PreTrainedTokenizerFast) -> Frame:
    """The frame of one text; Refused where the tokenizer adds nothing (FAULTS P8: fine-tuning would find no [CLS])."""
    found = tokenizer.backend_tokenizer.encode("a", add_special_tokens=True)
    text = [place for place, special in enumerate(found.special_tokens_mask) if not special]
    if not text or len(text) == len(found.ids):
        raise Refused(_NO_TEMPLATE.format(name=tokenizer.name_or_path))
    return Frame(tuple(found.ids[: text[0]]), tuple(found.ids[text[-1] + 1 :]))


def pair(tokenizer: PreTrainedTokenizerFast) -> Frame:
    """The frame of a pair, whose second text and what follows has segment id 1; Refused for another template."""
    found = tokenizer.backend_tokenizer.encode("a", "a", add_special_tokens=True)
    of = found.sequence_ids
    if 0 not in of or 1 not in of or None not in of:
        raise Refused(_NO_TEMPLATE.format(name=tokenizer.name_or_path))
    first, second = of.index(0), of.index(1)
    last_first, last_second = len(of) - 1 - of[::-1].index(0), len(of) - 1 - of[::-1].index(1)
    frame = Frame(
        tuple(found.ids[:first]), tuple(found.ids[last_second + 1 :]), tuple(found.ids[last_first + 1 : second])
    )
    if not frame.between or found.type_ids != [int(place >= second) for place in range(len(of))]:
        raise Refused(
            f"{tokenizer.name_or_path}: its template is not [CLS] A [SEP] B [SEP] with segment ids 0 and 1, "
            "which next-sentence prediction needs; heldout tokenizer train --kind wordpiece makes such a one"
        )
    return frame


def causal(tokenizer: PreTrainedTokenizerFast) -> Frame:
    """A causal model's borders: the token that begins a document and the one that ends it (GPT-2 has one for both)."""
    begins = (tokenizer.bos_token_id, tokenizer.cls_token_id, tokenizer.eos_token_id)
    begin = next((token for token in begins if token is not None), None)
    end = next((token for token in (tokenizer.eos_token_id, tokenizer.sep_token_id) if token is not None), None)
    if not isinstance(begin, int) or not isinstance(end, int):
        raise Refused(
            f"{tokenizer.name_or_path}: its tokenizer has no token that begins and ends a document (bos, eos, or "
            "[CLS], [SEP]); heldout tokenizer train makes one that has"
        )
    return Frame((begin,), (end,))


def special_ids(tokenizer: PreTrainedTokenizerFast, size: int) -> BoolArray:
    """Which of the ``size`` ids are special ([UNK] too: there is nothing to learn in predicting it)."""
    special = np.zeros(size, dtype=bool)
    special[[i for i in tokenizer.all_special_ids if i is not None]] = True
    return special


_NO_TEMPLATE = (
    "{name}: its tokenizer adds no special tokens around a text, so a model would be fine-tuned without them; "
    "give it a template (heldout tokenizer train writes one)"
)
