"""Students made of layers: which, how many parameters, and that what is kept computes what it did."""

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, BertModel

from heldout.errors import Refused
from heldout.train.models import load_model, load_tokenizer
from heldout.train.students import chosen, distilbert, make, parameters, shrunk, taken
from heldout.train.tapped import layers_of
from heldout.train.untrusted import Source

SMALL = {"hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 50}


def test_of_twelve_layers_those_are_taken_that_distilberts_script_takes():
    assert taken(12, 6) == (0, 2, 4, 7, 9, 11)
    assert taken(6, 6) == tuple(range(6))


def test_bert_base_in_distilberts_shape_has_two_fifths_fewer_parameters():
    with torch.device("meta"):
        teacher = BertModel(BertConfig())
        assert parameters(teacher) == 109_482_240
        student = distilbert(teacher, taken(12, 6))
    assert parameters(student) == 66_362_880
    assert round(1 - parameters(student) / parameters(teacher), 3) == 0.394


def test_with_all_its_layers_a_distilbert_computes_what_the_bert_did():
    torch.manual_seed(0)
    teacher = BertModel(BertConfig(**SMALL, initializer_range=0.2)).eval()
    student = distilbert(teacher, range(4)).eval()
    ids = torch.tensor([[2, 7, 9, 3, 0], [2, 8, 3, 0, 0]])
    mask = (ids > 0).long()
    theirs, mine = (model(input_ids=ids, attention_mask=mask).last_hidden_state for model in (teacher, student))
    torch.testing.assert_close(mine[mask > 0], theirs[mask > 0], atol=1e-5, rtol=1e-5)


def test_a_shrunk_model_has_the_layers_that_were_named_and_leaves_the_teacher_whole():
    torch.manual_seed(0)
    teacher = BertForSequenceClassification(BertConfig(**SMALL))
    student = shrunk(teacher, (0, 3))
    assert student.config.num_hidden_layers == len(layers_of(student)) == 2
    assert teacher.config.num_hidden_layers == len(layers_of(teacher)) == 4
    for mine, place in zip(layers_of(student), (0, 3), strict=True):
        for one, other in zip(mine.parameters(), layers_of(teacher)[place].parameters(), strict=True):
            assert torch.equal(one, other)
    assert torch.equal(student.classifier.weight, teacher.classifier.weight)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [("0", "give 1 to 6"), ("7", "give 1 to 6"), ("two", "a number of layers"), ("3,1", "in order"), ("0,6", "0 to 5")],
)
def test_layers_that_the_teacher_has_not_are_refused(wanted, said):
    with pytest.raises(Refused, match=said):
        chosen(wanted, 6)


@pytest.mark.parametrize("shape", ["same", "distilbert"])
def test_a_student_in_a_folder_is_loaded_like_any_model(tiny_model, tmp_path, shape):
    from transformers import AutoModelForSequenceClassification as Auto

    source = Source(str(tiny_model))
    teacher = load_model(Auto, source, labels=["negative", "positive"], seed=3)
    made = make(tmp_path / "student", teacher, load_tokenizer(source, 32), "1", shape)
    assert made.places == (0,)
    assert made.head_kept == (shape == "same")
    assert "layers 0 of 2" in made.words
    student = load_model(Auto, Source(str(tmp_path / "student")), labels=["negative", "positive"], seed=1)
    assert student.config.num_hidden_layers == 1
    kept = torch.equal(student.classifier.weight, teacher.classifier.weight)
    assert kept == made.head_kept
    tokenizer = load_tokenizer(Source(str(tmp_path / "student")), 32)
    student(**tokenizer("the film is dull", return_tensors="pt"))


def test_another_architecture_in_distilberts_shape_is_refused():
    from transformers import RobertaConfig, RobertaModel

    with pytest.raises(Refused, match="made of a bert, not of a roberta"):
        distilbert(RobertaModel(RobertaConfig(**SMALL)), (0, 1))
