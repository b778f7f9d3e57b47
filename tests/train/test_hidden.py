"""Hidden losses against their definitions, in loops; taps on real architectures."""

import math

import pytest
import torch
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel, RobertaConfig, RobertaModel

from heldout.errors import Refused
from heldout.train import hidden, tapped
from heldout.train.hidden import Shape, Tap, taps

HEADS, LENGTHS = 2, (4, 6)
REAL = torch.tensor([[place < length for place in range(6)] for length in LENGTHS])


def tensors(names, seed, width=8):
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(2, 6, width, generator=generator) for name in names}


def by_hand(kind, student, teacher, row):
    """The loss of one row, by its definition."""
    n = LENGTHS[row]

    def product(side, one, other, head, i, j):
        d = side[one].shape[-1] // HEADS
        a, b = side[one][row, i, head * d : head * d + d], side[other][row, j, head * d : head * d + d]
        return float(a @ b) / math.sqrt(d)

    def attention(side, one, other, head, i):
        scores = torch.tensor([product(side, one, other, head, i, j) for j in range(n)])
        return scores.softmax(0)

    if kind == "cosine":
        pairs = [(student["hidden.1"][row, i], teacher["hidden.1"][row, i]) for i in range(n)]
        return sum(1 - float(a @ b / (a.norm() * b.norm())) for a, b in pairs) / n
    if kind == "minilm":
        total = 0.0
        for one, other in (("query.1", "key.1"), ("value.1", "value.1")):
            for head in range(HEADS):
                for i in range(n):
                    p, q = (attention(side, one, other, head, i) for side in (teacher, student))
                    total += float((p * (p / q).log()).sum())
        return total / (HEADS * n)
    states = sum(
        float((student[name][row, :n] - teacher[name][row, :n]).square().mean()) for name in ("hidden.0", "hidden.1")
    )
    scores = [
        (product(student, "query.1", "key.1", head, i, j) - product(teacher, "query.1", "key.1", head, i, j)) ** 2
        for head in range(HEADS)
        for i in range(n)
        for j in range(n)
    ]
    return states + sum(scores) / len(scores)


NAMES = {
    "cosine": ["hidden.1"],
    "minilm": ["query.1", "key.1", "value.1"],
    "tinybert": ["hidden.0", "hidden.1", "query.1", "key.1"],
}


@pytest.mark.parametrize("kind", NAMES)
def test_a_hidden_loss_is_its_definition_and_padding_plays_no_part(kind):
    student, teacher = tensors(NAMES[kind], 1), tensors(NAMES[kind], 2)
    weights = torch.tensor([0.5, 1.0])
    found = hidden.loss(kind, student, teacher, REAL, weights, HEADS)
    expected = 0.5 * by_hand(kind, student, teacher, 0) + by_hand(kind, student, teacher, 1)
    assert found.item() == pytest.approx(expected, rel=1e-4)
    for side in (student, teacher):
        for tensor in side.values():
            tensor[~REAL] = 1000.0
    again = hidden.loss(kind, student, teacher, REAL, weights, HEADS)
    assert again.item() == pytest.approx(found.item(), rel=1e-5)


@pytest.mark.parametrize("kind", NAMES)
def test_of_equal_states_the_loss_is_zero_and_its_gradient_is_a_number(kind):
    student = {name: tensor.requires_grad_() for name, tensor in tensors(NAMES[kind], 1).items()}
    found = hidden.loss(kind, student, tensors(NAMES[kind], 1), REAL, torch.ones(2), HEADS)
    assert found.item() == pytest.approx(0, abs=1e-5)
    found.backward()
    assert all(torch.isfinite(tensor.grad).all() for tensor in student.values())


def test_what_shapes_do_not_allow_is_refused_with_what_to_do():
    small, large = Shape(3, 32, 4), Shape(6, 64, 4)
    with pytest.raises(Refused, match=r"32 numbers and the teacher's 64; use --hidden tinybert"):
        taps("cosine", small, large)
    with pytest.raises(Refused, match="2 attention heads and the teacher 4"):
        taps("minilm", Shape(3, 32, 2), large)
    with pytest.raises(Refused, match="6 layers are not a multiple of the student's 4"):
        taps("tinybert", Shape(4, 32, 4), large)
    assert [tap.name for tap in taps("minilm", small, large)] == ["query.3", "key.3", "value.3"]
    assert taps("cosine", Shape(3, 64, 4), large) == (Tap("hidden", 3, 6),)


SMALL = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 50}
MODELS = {
    "bert": lambda: BertModel(BertConfig(**SMALL)),
    "roberta": lambda: RobertaModel(RobertaConfig(**SMALL)),
    "distilbert": lambda: DistilBertModel(
        DistilBertConfig(dim=16, n_layers=3, n_heads=2, hidden_dim=32, vocab_size=50)
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_taps_read_the_states_and_the_matrices_of_the_layer_that_is_named(name):
    model = MODELS[name]().eval()
    ids = torch.arange(5, 12)[None]
    wanted = [Tap("hidden", 2, 2), Tap("query", 3, 3), Tap("value", 1, 1)]
    teacher = tapped.teacher(model, wanted)
    assert not teacher.training
    assert not any(parameter.requires_grad for parameter in teacher.parameters())
    outputs, read = teacher(input_ids=ids, attention_mask=torch.ones_like(ids))
    states = model(input_ids=ids, output_hidden_states=True).hidden_states
    assert torch.equal(read["hidden.2"], states[2])
    layers = tapped.layers_of(model)
    matrices = {"query.3": (layers[2], ("query", "q_lin"), 2), "value.1": (layers[0], ("value", "v_lin"), 0)}
    for key, (layer, names, place) in matrices.items():
        matrix = next(module for label, module in layer.named_modules() if label.rpartition(".")[2] in names)
        torch.testing.assert_close(read[key], matrix(states[place]))
    assert torch.equal(outputs.last_hidden_state, states[-1])
    assert tapped.shape_of(model) == Shape(3, 16, 2)


def test_a_student_reads_only_while_it_trains_and_projects_to_the_teachers_width():
    model = MODELS["bert"]()
    wanted = taps("tinybert", Shape(3, 16, 2), Shape(6, 24, 2))
    student = tapped.student(model, wanted, Shape(6, 24, 2), seed=1)
    ids = torch.arange(5, 12)[None]
    student.train()
    _, read = student(input_ids=ids, attention_mask=torch.ones_like(ids))
    assert len(read) == 1 + 3 * 3
    assert {tensor.shape[-1] for name, tensor in read.items() if name.startswith("hidden")} == {24}
    assert read["query.1"].shape[-1] == 16
    student.eval()
    assert not isinstance(student(input_ids=ids), tapped.Features)
    again = tapped.student(MODELS["bert"](), wanted, Shape(6, 24, 2), seed=1)
    assert torch.equal(student.projections["hidden_0"].weight, again.projections["hidden_0"].weight)
