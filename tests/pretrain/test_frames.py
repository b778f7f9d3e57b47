import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from heldout.errors import Refused
from heldout.pretrain import frames


def test_the_frames_are_those_of_the_tokenizers_own_template(wordpiece):
    assert frames.single(wordpiece) == frames.Frame((2,), (3,))
    pair = frames.pair(wordpiece)
    assert pair == frames.Frame((2,), (3,), (3,))
    ids = wordpiece("ada left", "bo saw")["input_ids"]
    inner = [wordpiece(text, add_special_tokens=False)["input_ids"] for text in ("ada left", "bo saw")]
    assert ids == [*pair.before, *inner[0], *pair.between, *inner[1], *pair.after]


def test_after_save_and_load_a_text_begins_with_cls_and_ends_with_sep(tokenizer_folder):
    # FAULTS P8, under v5: what fine-tuning loads adds what pretraining framed with.
    again = AutoTokenizer.from_pretrained(tokenizer_folder)
    frame = frames.single(again)
    ids = again("ada left")["input_ids"]
    assert (ids[0], ids[-1]) == (again.cls_token_id, again.sep_token_id) == (*frame.before, *frame.after)


def test_a_tokenizer_that_adds_no_special_tokens_is_refused(wordpiece):
    # FAULTS P8.
    from tokenizers import Tokenizer, processors

    bare = Tokenizer.from_str(wordpiece.backend_tokenizer.to_str())
    bare.post_processor = processors.Sequence([])
    without = PreTrainedTokenizerFast(tokenizer_object=bare, cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]")
    for make in (frames.single, frames.pair):
        with pytest.raises(Refused, match="adds no special tokens"):
            make(without)


def test_a_template_without_segment_ids_serves_masks_but_not_pairs(byte_level):
    assert frames.single(byte_level) == frames.Frame((1,), (2,))
    with pytest.raises(Refused, match="segment ids 0 and 1"):
        frames.pair(byte_level)


def test_a_causal_models_borders_are_bos_and_eos_or_cls_and_sep(wordpiece, byte_level):
    assert frames.causal(byte_level) == frames.Frame((1,), (2,))
    assert frames.causal(wordpiece) == frames.Frame((2,), (3,))


def test_unk_is_special_too(wordpiece):
    special = frames.special_ids(wordpiece, len(wordpiece))
    assert special.nonzero()[0].tolist() == [0, 1, 2, 3, 4]
