"""The loss between teacher and student, against numbers worked by hand and against its definition (FAULTS D1)."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heldout.train.losses import divergence, span_divergence, token_divergence

LOGITS = st.lists(st.floats(-8, 8), min_size=3, max_size=3)


def test_the_divergence_of_two_distributions_is_the_one_worked_by_hand():
    teacher, student = torch.tensor([0.5, 0.25, 0.25]).log(), torch.tensor([0.25, 0.25, 0.5]).log()
    # 1/2·ln 2 + 1/4·ln 1 − 1/4·ln 2
    assert divergence(student, teacher, 1.0).item() == pytest.approx(math.log(2) / 4)
    assert divergence(teacher, teacher, 3.0).item() == pytest.approx(0.0, abs=1e-6)
    # At T = 2 roots of the probabilities: √(1/2), 1/2, 1/2 over their sum; the same for the student, turned round.
    total = math.sqrt(0.5) + 1
    by_hand = (math.sqrt(0.5) - 0.5) / total * math.log(math.sqrt(2))
    assert divergence(student, teacher, 2.0).item() == pytest.approx(4 * by_hand)


@given(LOGITS, LOGITS, st.floats(0.5, 8))
def test_it_is_the_definition_whether_the_teacher_gives_logits_or_log_p(teacher, student, temperature):
    softened = [[math.exp(value / temperature) for value in row] for row in (teacher, student)]
    p, q = ([value / sum(row) for value in row] for row in softened)
    expected = temperature**2 * sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    wanted, found = torch.tensor(teacher), torch.tensor(student)
    for given_as in (wanted, wanted.log_softmax(-1)):
        assert divergence(found, given_as, temperature).item() == pytest.approx(expected, abs=2e-4, rel=1e-3)


def test_the_gradient_at_high_temperatures_is_as_large_whatever_the_temperature():
    teacher, student = torch.tensor([1.0, -0.5, 0.3, 2.0]), torch.tensor([0.2, 0.9, -1.0, 0.4])
    # Hinton et al. 2015, section 2.1: (zᵢ − vᵢ)/N where both are centred; without T² it would fall 64-fold here.
    limit = ((student - student.mean()) - (teacher - teacher.mean())) / 4
    sizes = []
    for temperature in (8.0, 16.0, 64.0):
        logits = student.clone().requires_grad_()
        divergence(logits, teacher, temperature).backward()
        sizes.append(logits.grad.norm().item())
        assert logits.grad.tolist() == pytest.approx(limit.tolist(), abs=1 / temperature)
    assert max(sizes) / min(sizes) < 1.1


def test_a_label_that_the_teacher_rules_out_costs_nothing_and_breaks_nothing():
    teacher = torch.tensor([[1.0, 0.0, 0.0]]).log()
    logits = torch.zeros(1, 3, requires_grad=True)
    loss = divergence(logits, teacher, 2.0).sum()
    loss.backward()
    assert loss.item() == pytest.approx(4 * math.log(3))
    assert torch.isfinite(logits.grad).all()


def test_over_words_it_is_the_mean_of_those_that_are_read_times_the_weight():
    torch.manual_seed(0)
    student, teacher = torch.randn(2, 5, 3), torch.randn(2, 5, 3)
    read = torch.tensor([[False, True, True, False, False], [False, True, False, False, False]])
    alone = [divergence(student[row, place], teacher[row, place], 2.0) for row, place in ((0, 1), (0, 2), (1, 1))]
    found = token_divergence(student, teacher, read, torch.tensor([2.0, 1.0]), 2.0)
    assert found.item() == pytest.approx(sum(alone).item(), rel=1e-5)
    nothing = token_divergence(student, teacher, torch.zeros(2, 5, dtype=torch.bool), torch.tensor([0.0, 0.0]), 2.0)
    assert nothing.item() == 0


def test_over_spans_only_what_is_read_counts_and_the_gradient_elsewhere_is_zero():
    torch.manual_seed(0)
    student, teacher = torch.randn(1, 6, 2, requires_grad=True), torch.randn(1, 6, 2)
    read = torch.tensor([[True, False, True, True, False, False]])
    found = span_divergence(student, teacher, read, torch.ones(1), 2.0)
    sides = [divergence(student[0, read[0], side], teacher[0, read[0], side], 2.0) for side in (0, 1)]
    assert found.item() == pytest.approx((sum(sides) / 2).item(), rel=1e-5)
    found.backward()
    assert student.grad[0, ~read[0]].abs().max() == 0
    assert student.grad[0, read[0]].abs().min() > 0
