import numpy as np
import pytest

from heldout.errors import Refused
from heldout.pretrain.options import PretrainOptions
from heldout.pretrain.rows import Rows
from heldout.pretrain.schedule import schedule
from heldout.train.plan import make_plan


def rows_of(n, length):
    return Rows(np.full(n, length), np.arange(n), lambda rows, generator: [], {})


def test_one_length_is_the_plan_of_fine_tuning():
    lengths = np.arange(1, 51)
    rows = Rows(lengths, lengths, lambda rows, generator: [], {})
    plan = schedule([rows], [1.0], batch_size=8, epochs=3, seed=5, max_steps=0)
    assert plan == make_plan(lengths.tolist(), batch_size=8, epochs=3, seed=5)


def test_each_length_takes_its_share_of_the_steps_in_turn():
    plan = schedule([rows_of(40, 16), rows_of(9, 64)], [0.9, 0.1], batch_size=4, epochs=1, seed=1, max_steps=50)
    assert [step.number for step in plan] == list(range(50))
    assert all(max(step.rows) < 40 for step in plan[:45])
    assert all(min(step.rows) >= 40 and max(step.rows) < 49 for step in plan[45:])
    # The 10 steps of a pass over the short rows are taken four and a half times.
    assert [sorted({step.epoch for step in part}) for part in (plan[:45], plan[45:])] == [[0, 1, 2, 3, 4], [5, 6]]
    assert sorted(row for step in plan[:10] for row in step.rows) == list(range(40))


def test_without_a_number_of_steps_each_length_goes_over_its_share_of_its_rows():
    plan = schedule([rows_of(40, 16), rows_of(20, 32)], [0.5, 0.5], batch_size=4, epochs=4, seed=1, max_steps=0)
    assert sum(max(step.rows) < 40 for step in plan) == 20
    assert len(plan) == 30


def options(**changes):
    return PretrainOptions(corpus=("a.txt",), tokenizer="t", **changes)


def test_lengths_are_read_and_refused_where_they_mean_nothing():
    assert options(lengths="128:0.9,512:0.1").schedule == [(128, 0.9), (512, 0.1)]
    assert options(max_length=64).schedule == [(64, 1.0)]
    for wrong in ("128", "128:1,x:1", "128:0.5,512:0.1", "128:1.5,512:-0.5"):
        with pytest.raises(Refused, match="--lengths"):
            options(lengths=wrong)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tokenizer": None}, "heldout tokenizer train makes it"),
        ({"model": "m", "preset": "tiny"}, "give one of the two"),
        ({"model": "m", "init_only": True}, "writes a fresh model"),
        ({"pack": True, "objective": "mlm-nsp"}, "a row of mlm-nsp is one pair"),
        ({"whole_words": True, "objective": "clm"}, "masks nothing"),
        ({"held_out": 0.0}, "--held-out 0.0"),
        ({"max_length": 4}, "--max-length 4"),
    ],
)
def test_options_that_do_not_go_together_are_refused_before_any_work(changes, said):
    with pytest.raises(Refused, match=said):
        PretrainOptions(**({"corpus": ("a.txt",), "tokenizer": "t"} | changes))
