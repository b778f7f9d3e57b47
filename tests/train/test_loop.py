from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from accelerate import Accelerator

from heldout.train.loop import Recipe, step_seed, train
from heldout.train.losses import cross_entropy
from heldout.train.optim import linear_schedule, make_optimizer
from heldout.train.plan import make_plan
from heldout.train.predict import predict
from heldout.train.windows import Window, by_budget, collate


class MeanOfEmbeddings(torch.nn.Module):
    """A classifier small enough to differentiate by hand: the masked mean of token embeddings, one linear layer."""

    def __init__(self, vocab=50, width=8, labels=3, dropout=0.0):
        super().__init__()
        self.embed = torch.nn.Embedding(vocab, width)
        self.drop = torch.nn.Dropout(dropout)
        self.head = torch.nn.Linear(width, labels)

    def forward(self, input_ids, attention_mask):
        mask = attention_mask.unsqueeze(-1)
        mean = (self.embed(input_ids) * mask).sum(1) / mask.sum(1)
        return SimpleNamespace(logits=self.head(self.drop(mean)))


def windows_of(n, seed=0, longest=30):
    generator = torch.Generator().manual_seed(seed)
    rows = []
    for number in range(n):
        length = int(torch.randint(1, longest, (1,), generator=generator))
        ids = torch.randint(1, 50, (length,), generator=generator).tolist()
        rows.append([Window(number, {"input_ids": ids}, number % 3)])
    return rows


def recipe_of(rows, **changes):
    usual = Recipe(
        windows=lambda step: [window for row in step.rows for window in rows[row]],
        collate=lambda windows: collate(windows, 0),
        loss=lambda outputs, targets, weights: cross_entropy(outputs.logits, targets, weights),
        rate=lambda step: 0.05,
        seed=1,
        clip=1e9,
    )
    return replace(usual, **changes)


def trained(rows, recipe, *, steps=None, dropout=0.0):
    torch.manual_seed(0)
    model = MeanOfEmbeddings(dropout=dropout)
    accelerator = Accelerator(cpu=True)
    prepared, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.05))
    plan = make_plan([len(r[0]) for r in rows], batch_size=4, epochs=2, seed=1)
    done = list(train(prepared, optimizer, plan if steps is None else plan[:steps], recipe, accelerator))
    return model, done


def test_a_step_cut_into_micro_batches_has_the_weights_of_the_uncut_step():
    # FAULTS T3: with texts of unequal length and micro-batches of unequal size, accumulation must not rescale.
    rows = windows_of(14)
    whole, log = trained(rows, recipe_of(rows, token_budget=10_000))
    cut, cut_log = trained(rows, recipe_of(rows, token_budget=1))
    for a, b in zip(whole.parameters(), cut.parameters(), strict=True):
        assert torch.allclose(a, b, atol=1e-6, rtol=0)
    assert [d.loss for d in log] == pytest.approx([d.loss for d in cut_log], abs=1e-6)
    assert len(log) == 8


def test_the_gradient_of_a_step_is_that_of_the_mean_loss_by_plain_torch():
    rows = windows_of(4)
    model, _ = trained(rows, recipe_of(rows), steps=1)
    torch.manual_seed(0)
    plain = MeanOfEmbeddings()
    losses = [
        torch.nn.functional.cross_entropy(
            plain(torch.tensor([row[0].inputs["input_ids"]]), torch.ones(1, len(row[0]))).logits,
            torch.tensor([row[0].target]),
        )
        for row in rows
    ]
    torch.stack(losses).mean().backward()
    for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        assert torch.allclose(ours, theirs - 0.05 * theirs.grad, atol=1e-6)


def test_the_partial_step_is_averaged_over_its_own_examples():
    # FAULTS T4: nine rows in steps of four; the step of one row must count as one row, not a quarter.
    rows = windows_of(9)
    _, done = trained(rows, recipe_of(rows, rate=lambda step: 0.0))
    plan = make_plan([len(r[0]) for r in rows], batch_size=4, epochs=2, seed=1)
    torch.manual_seed(0)
    fresh = MeanOfEmbeddings()
    for step, log in zip(plan, done, strict=True):
        batch = collate([rows[row][0] for row in step.rows], 0)
        expected = torch.nn.functional.cross_entropy(fresh(**batch.inputs).logits, batch.targets)
        assert log.loss == pytest.approx(expected.item(), abs=1e-6)


def test_two_windows_of_one_text_count_as_one_example():
    pair = [Window(0, {"input_ids": [3, 4]}, 1, 0.5), Window(0, {"input_ids": [5]}, 1, 0.5)]
    single = [Window(1, {"input_ids": [7, 8, 9]}, 2)]
    rows = [pair, single]
    _, done = trained(rows, recipe_of(rows, rate=lambda step: 0.0), steps=1)
    torch.manual_seed(0)
    fresh = MeanOfEmbeddings()
    parts = [
        torch.nn.functional.cross_entropy(fresh(**(b := collate([w], 0)).inputs).logits, b.targets).item()
        for w in [*pair, *single]
    ]
    assert done[0].loss == pytest.approx(((parts[0] + parts[1]) / 2 + parts[2]) / 2, abs=1e-6)


def test_training_from_the_middle_of_the_plan_draws_the_same_dropout():
    rows = windows_of(12)
    recipe = recipe_of(rows)
    whole, _ = trained(rows, recipe, dropout=0.5)
    torch.manual_seed(0)
    model = MeanOfEmbeddings(dropout=0.5)
    accelerator = Accelerator(cpu=True)
    prepared, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.05))
    plan = make_plan([len(r[0]) for r in rows], batch_size=4, epochs=2, seed=1)
    list(train(prepared, optimizer, plan[:2], recipe, accelerator))
    torch.rand(100)  # whatever happens to the generator between two steps
    list(train(prepared, optimizer, plan[2:], recipe, accelerator))
    for a, b in zip(whole.parameters(), model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_step_seeds_differ_by_seed_step_and_process():
    seeds = {step_seed(s, k, p) for s in range(5) for k in range(200) for p in range(4)}
    assert len(seeds) == 5 * 200 * 4
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_the_schedule_rises_over_the_warm_up_and_ends_above_zero():
    rate = linear_schedule(peak=2.0, steps=10, warmup=0.3)
    rates = [rate(step) for step in range(10)]
    assert rates[:3] == pytest.approx([2 / 3, 4 / 3, 2.0])
    assert rates == sorted(rates[:3]) + sorted(rates[3:], reverse=True)
    assert rates[-1] == pytest.approx(2 / 7)


def test_biases_and_norms_have_no_decay():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.LayerNorm(3))
    groups = make_optimizer(model, learning_rate=0.1, weight_decay=0.5).param_groups
    assert [(g["weight_decay"], [tuple(p.shape) for p in g["params"]]) for g in groups] == [
        (0.5, [(3, 3)]),
        (0.0, [(3,), (3,), (3,)]),
    ]


@pytest.mark.parametrize("n", [1, 2, 9, 25])
def test_prediction_gives_exactly_one_row_a_window_in_their_order(n):
    # FAULTS E1, in one process: the last batch neither repeats rows nor loses them.
    torch.manual_seed(0)
    model = MeanOfEmbeddings()
    windows = [row[0] for row in windows_of(n)]
    together = predict(model, windows, Accelerator(cpu=True), pad_id=0, token_budget=64)
    assert len(together) == n
    for window, logits in zip(windows, together, strict=True):
        with torch.no_grad():
            alone = model(**collate([window], 0).inputs).logits[0]
        assert torch.allclose(torch.tensor(logits), alone, atol=1e-6)


def test_batches_by_budget_cover_every_row_once_and_keep_to_the_budget():
    lengths = [5, 1, 30, 8, 8, 2, 17]
    batches = by_budget(lengths, 20)
    assert sorted(row for batch in batches for row in batch) == list(range(7))
    assert all(len(batch) == 1 or len(batch) * max(lengths[r] for r in batch) <= 20 for batch in batches)


def test_dropout_is_on_in_training_and_off_in_prediction():
    torch.manual_seed(0)
    model = MeanOfEmbeddings(dropout=0.5)
    windows = [row[0] for row in windows_of(5)]
    first = predict(model, windows, Accelerator(cpu=True), pad_id=0)
    assert not model.training
    second = predict(model, windows, Accelerator(cpu=True), pad_id=0)
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    rows = windows_of(4)
    dropped, _ = trained(rows, recipe_of(rows), steps=1, dropout=0.5)
    kept, _ = trained(rows, recipe_of(rows), steps=1)
    assert not torch.equal(dropped.head.weight, kept.head.weight)
