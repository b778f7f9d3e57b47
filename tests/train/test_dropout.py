import pytest
import torch
from torch import nn

from heldout.train import dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_a_number_is_dropped_with_the_probability_and_otherwise_scaled(p):
    torch.manual_seed(1)
    given = torch.full((501, 403), 3.0, dtype=torch.bfloat16, requires_grad=True)
    found = dropout.Dropout(p)(given)
    gone = found == 0
    # 201,903 draws: the share's standard error is at most 0.11%.
    assert float(gone.float().mean()) == pytest.approx(p, abs=0.005)
    wanted = float(torch.tensor(3.0).bfloat16() * torch.tensor(1 / (1 - p)).bfloat16())
    assert set(found[~gone].tolist()) == {wanted}
    found.backward(torch.full_like(found, 2.0))
    assert torch.equal(given.grad == 0, gone)
    assert torch.allclose(given.grad[~gone].float(), torch.tensor(2 / (1 - p)), rtol=0.01)


def test_neighbours_are_drawn_independently():
    # Four of them come from one word: their being dropped together must be as rare as by chance.
    torch.manual_seed(2)
    gone = (dropout.kept(400_000, round(0.3 * dropout.STEPS)) == 0).view(-1, 4).float()
    assert torch.allclose(gone.mean(0), torch.tensor(0.3), atol=0.006)
    correlation = torch.corrcoef(gone.T) - torch.eye(4)
    assert float(correlation.abs().max()) < 0.012


def test_the_seed_decides_what_is_dropped():
    given = torch.ones(1000, dtype=torch.bfloat16)
    masks = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        masks.append(dropout.Dropout(0.5)(given))
    assert torch.equal(masks[0], masks[1])
    assert not torch.equal(masks[0], masks[2])


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_nothing_and_everything_are_dropped_as_torch_does(p):
    given = torch.ones(7, dtype=torch.bfloat16)
    assert torch.equal(dropout.Dropout(p)(given), nn.functional.dropout(given, p))


def test_fp32_draws_what_torch_draws():
    given = torch.ones(100)
    torch.manual_seed(4)
    found = dropout.Dropout(0.3)(given)
    torch.manual_seed(4)
    assert torch.equal(found, nn.functional.dropout(given, 0.3))


def test_a_model_that_uses_it_has_the_same_weights_and_drops_nothing_when_it_answers():
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Dropout(0.4), nn.Dropout1d(0.5)), nn.Dropout(0.1)).eval()
    names = list(model.state_dict())
    dropout.use(model)
    assert list(model.state_dict()) == names
    kinds = [type(module) for module in model.modules()]
    assert kinds.count(dropout.Dropout) == 2
    assert kinds.count(nn.Dropout1d) == 1
    given = torch.ones(3, 4, dtype=torch.bfloat16)
    assert torch.equal(model[1](given), given)
    assert model[1].train()[0].p == 0.4
