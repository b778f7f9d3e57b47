import pytest
import torch
from transformers import BertForPreTraining, BertModel, GPT2LMHeadModel

from heldout.pretrain.frames import Frame
from heldout.pretrain.presets import SHAPES, bert, gpt2


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(("preset", "parameters"), [("base", 109_482_240), ("large", 335_141_888)])
def test_the_berts_have_the_published_numbers_of_parameters(preset, parameters):
    with torch.device("meta"):
        assert count(BertModel(bert(preset, vocabulary=30_522, pad_id=0))) == parameters


@pytest.mark.parametrize(
    ("preset", "millions"), [("tiny", 4.4), ("mini", 11.2), ("small", 28.8), ("base", 109.5), ("large", 335.1)]
)
def test_the_small_berts_have_the_millions_that_turc_and_others_name(preset, millions):
    with torch.device("meta"):
        assert count(BertModel(bert(preset, vocabulary=30_522, pad_id=0))) / 1e6 == pytest.approx(millions, abs=0.05)


def test_the_causal_base_is_the_small_gpt2():
    with torch.device("meta"):
        model = GPT2LMHeadModel(gpt2("base", vocabulary=50_257, frame=Frame((50_256,), (50_256,))))
    assert count(model) == 124_439_808


def test_the_last_matrix_is_tied_to_the_embeddings():
    model = BertForPreTraining(bert("tiny", vocabulary=100, pad_id=0))
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight
    assert set(SHAPES) == {"tiny", "mini", "small", "base", "large"}
