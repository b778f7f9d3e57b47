"""The storage of trials, without a model: nothing is lost, nothing taken twice, and a seed draws the same always."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from heldout.errors import Refused
from heldout.sweep.search import Pruned, Search, open_study, turn
from heldout.sweep.space import Dimension

RATE = Dimension("rate", low=1e-5, high=1e-1, log=True)
BATCH = Dimension("batch", (8, 16, 32))


def opened(folder, *, space=(RATE, BATCH), storage="journal", pruner="none", sampler="tpe", seed=1, fits=None):
    folder.mkdir(exist_ok=True)
    with turn(folder):
        study = open_study(folder, storage, maximize=True, pruner=pruner)
    return Search(folder, study, space, fits or (lambda point: True), sampler, seed)


def worth(values):
    """Best at a rate of 1e-3 and the largest batch."""
    from math import log10

    return 1 - abs(log10(values["rate"]) + 3) / 4 + values["batch"] / 1000


def work(search, wanted):
    """Claim and tell until nothing is left to do."""
    while (claim := search.claim(wanted)) is not None:
        trial, held = claim
        with held:
            search.tell(trial, "done", value=worth(trial.values))


@pytest.mark.parametrize("storage", ["journal", "sqlite"])
def test_every_trial_is_told_once_and_none_beyond_what_is_wanted(tmp_path, storage):
    search = opened(tmp_path / "s", storage=storage)
    work(search, 5)
    trials = opened(tmp_path / "s", storage=storage).trials()
    assert [trial.number for trial in trials] == [0, 1, 2, 3, 4]
    assert [trial.name for trial in trials] == [f"trial-00{n}" for n in range(5)]
    assert all(trial.state == "done" and trial.value == worth(trial.values) for trial in trials)
    assert search.claim(5) is None
    assert (tmp_path / "s" / {"journal": "study.journal", "sqlite": "study.db"}[storage]).exists()


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_a_seed_draws_the_same_values_whether_or_not_the_search_was_interrupted(tmp_path, sampler):
    whole, parts, other = (opened(tmp_path / name, sampler=sampler, seed=3) for name in ("a", "b", "c"))
    work(whole, 16)
    for wanted in (1, 2, 9, 16):
        parts = opened(tmp_path / "b", sampler=sampler, seed=3)
        work(parts, wanted)
    values = [trial.values for trial in whole.trials()]
    assert values == [trial.values for trial in parts.trials()]
    # A process that begins anew does not draw its first values again.
    assert len({trial["rate"] for trial in values}) == 16
    other = opened(tmp_path / "d", sampler=sampler, seed=4)
    work(other, 3)
    assert [trial.values for trial in other.trials()] != values[:3]


def test_tpe_learns_where_it_is_good(tmp_path):
    tpe = opened(tmp_path / "tpe")
    work(tpe, 40)
    values = [trial.value for trial in tpe.trials()]
    assert sum(values[-15:]) / 15 > sum(values[:10]) / 10 + 0.1
    assert max(values) > 0.95


def test_a_trial_left_behind_is_taken_up_with_its_values_before_a_new_one(tmp_path):
    search = opened(tmp_path / "s")
    trial, held = search.claim(3)
    # While its folder is held it is in other hands.
    second, other = opened(tmp_path / "s").claim(3)
    assert (trial.number, second.number) == (0, 1)
    assert second.values != trial.values
    held.close()
    again, held = opened(tmp_path / "s").claim(3)
    assert again == trial
    with held, other:
        search.tell(again, "done", value=1.0)
        search.tell(second, "done", value=2.0)
    assert [trial.state for trial in search.trials()] == ["done", "done"]


def test_a_trial_whose_folder_cannot_be_written_in_is_told_and_not_taken_for_one_in_other_hands(tmp_path):
    trial, held = opened(tmp_path / "s").claim(1)
    held.close()
    folder = tmp_path / "s" / trial.name
    shutil.rmtree(folder)
    folder.write_text("a file in its place")
    with pytest.raises(Refused, match=rf"{trial.name}: cannot be written in"):
        opened(tmp_path / "s").claim(1)


def test_a_small_space_is_tried_point_by_point_and_no_point_twice(tmp_path):
    space = (BATCH, Dimension("rate", (1e-3, 1e-2)))
    search = opened(tmp_path / "s", space=space, fits=lambda point: point != {"batch": 8, "rate": 1e-2})
    work(search, 20)
    found = [tuple(trial.values.items()) for trial in search.trials()]
    assert len(found) == len(set(found)) == 5
    # Fewer are wanted than there are: they are drawn, and differ all the same.
    drawn = opened(tmp_path / "t", space=space)
    work(drawn, 5)
    found = {tuple(sorted(trial.values.items())) for trial in drawn.trials()}
    assert len(found) == 5


def test_values_are_numbers_of_three_digits_inside_their_range(tmp_path):
    space = (Dimension("rate", low=0.12345, high=0.12399), Dimension("share", low=0.0, high=0.5, step=0.1))
    search = opened(tmp_path / "s", space=space, sampler="random")
    for _ in range(6):
        trial, held = search.claim(6)
        with held:
            assert 0.12345 <= trial.values["rate"] <= 0.12399
            assert trial.values["share"] in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
            search.tell(trial, "failed", why="as asked")
    assert [trial.why for trial in search.trials()] == ["as asked"] * 6


def test_where_the_options_take_no_point_the_search_says_so(tmp_path):
    with pytest.raises(Refused, match="the options take none"):
        opened(tmp_path / "s", fits=lambda point: False).claim(3)


def test_a_refused_trial_does_not_count_and_a_failed_one_does(tmp_path):
    search = opened(tmp_path / "s")
    for state in ("refused", "failed"):
        trial, held = search.claim(2)
        with held:
            search.tell(trial, state, why="no")
    work(search, 2)
    assert [trial.state for trial in search.trials()] == ["refused", "failed", "done"]


def test_the_median_pruner_gives_up_what_lies_below_the_others_but_not_at_the_end(tmp_path):
    search = opened(tmp_path / "s", pruner="median")
    for number in range(5):
        trial, held = search.claim(7)
        with held:
            search.report(trial, 100, 0.5 + number / 10, last=False)
            search.tell(trial, "done", value=0.5 + number / 10)
    trial, held = search.claim(7)
    with held:
        with pytest.raises(Pruned, match="after 100 examples"):
            search.report(trial, 100, 0.6, last=False)
        # Told a second time, by a life that began before the evaluation: nothing new, no warning.
        with pytest.raises(Pruned):
            search.report(trial, 100, 0.6, last=False)
        search.tell(trial, "pruned", why="below")
    trial, held = search.claim(7)
    with held:
        search.report(trial, 100, 0.1, last=True)
        search.tell(trial, "done", value=0.1)
    assert [trial.state for trial in search.trials()][-2:] == ["pruned", "done"]
    assert search.trials()[5].evaluations == {100: 0.6}


def test_lives_are_counted_as_long_as_nothing_new_is_made(tmp_path):
    search = opened(tmp_path / "s")
    trial, held = search.claim(1)
    with held:
        assert [search.lives(trial, []) for _ in range(3)] == [1, 2, 3]
        assert [search.lives(trial, ["step-5"]) for _ in range(2)] == [1, 2]
        assert search.lives(trial, ["step-5", "step-9"]) == 1


WORKER = """
import sys, time
from pathlib import Path
from heldout.sweep.search import Search, open_study, turn
from heldout.sweep.space import Dimension
folder, storage = Path(sys.argv[1]), sys.argv[2]
with turn(folder):
    study = open_study(folder, storage, maximize=True, pruner="none")
search = Search(folder, study, (Dimension("rate", low=1e-5, high=1e-1, log=True),), lambda point: True, "random", 1)
while (claim := search.claim(12)) is not None:
    trial, held = claim
    with held:
        print(trial.number, flush=True)
        time.sleep(0.05)
        search.tell(trial, "done", value=trial.values["rate"])
"""


@pytest.mark.parametrize("storage", ["journal", "sqlite"])
def test_two_processes_never_take_the_same_trial_and_a_dead_one_s_is_taken_over(tmp_path, storage):
    folder = tmp_path / "s"
    folder.mkdir()
    call = [sys.executable, "-c", WORKER, str(folder), storage]
    with (
        subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as one,
        subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as two,
    ):
        first = [one.stdout.readline().strip()]
        os.kill(one.pid, signal.SIGKILL)
        first += one.stdout.read().split()
        second = two.stdout.read().split()
    assert (one.returncode, two.returncode) == (-signal.SIGKILL, 0)
    first, second = ([int(word) for word in words] for words in (first, second))
    trials = opened(folder, storage=storage).trials()
    assert [trial.state for trial in trials] == ["done"] * 12
    # Of those that the dead one took only its last, if any, was begun again.
    assert set(first) & set(second) <= {first[-1]}
    assert set(first) | set(second) == set(range(12))
    assert len(second) == len(set(second))
