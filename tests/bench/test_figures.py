"""Rounds, ratios, digests and the files of benchmarks: no model, no child."""

import json
import os
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from heldout.bench import result
from heldout.bench.commands import ran
from heldout.bench.figures import coverage, ratio
from heldout.bench.result import Result, against, keep, read, short
from heldout.bench.training.quality import refuse_less
from heldout.bench.training.speed import check, epochs_for
from heldout.bench.training.taken import Taken
from heldout.bench.turns import rounds
from heldout.cli import main
from heldout.errors import Failed, Refused
from heldout.scripts import bench


class Recorded:
    """A side that notes when it was asked, in place of a process."""

    def __init__(self, name, log):
        self.name, self.log = name, log

    def block(self, steps):
        self.log.append((self.name, steps))
        return {"steps": steps, "by": self.name}


def test_sides_take_turns_and_every_other_round_goes_backwards():
    log = []
    sides = [Recorded(name, log) for name in ("ours", "peer", "tuned")]
    found = rounds(sides, steps={"ours": 4, "peer": 4, "tuned": 1}, blocks=3, say=lambda message: None)
    there, back = [("ours", 4), ("peer", 4), ("tuned", 1)], [("tuned", 1), ("peer", 4), ("ours", 4)]
    assert log == [*there, *back, *there]
    assert [list(one) for one in found] == [["ours", "peer", "tuned"]] * 3
    assert all(block["by"] == name for one in found for name, block in one.items())


@given(st.integers(1, 60), st.data())
def test_the_coverage_of_two_ranks_is_that_of_the_binomial(n, data):
    k = data.draw(st.integers(1, max(1, n // 2)))
    assert coverage(n, k) == pytest.approx(1 - 2 * binom.cdf(k - 1, n, 0.5), abs=1e-12)


def test_the_interval_holds_the_median_of_ratios_as_often_as_it_says():
    rng, held = np.random.default_rng(0), 0
    for _ in range(1000):
        found = ratio(rng.lognormal(0.5, 1, 8).tolist(), [1.0] * 8)
        held += found["low"] <= np.exp(0.5) <= found["high"]
    assert found["coverage"] == pytest.approx(0.992, abs=1e-3)
    assert held / 1000 == pytest.approx(0.992, abs=0.01)


def test_a_few_rounds_give_their_whole_range_and_say_what_it_is_worth():
    assert ratio([3.0, 2.0, 4.0], [1.0, 1.0, 1.0]) == {
        "median": 3.0,
        "low": 2.0,
        "high": 4.0,
        "coverage": 0.75,
        "rounds": 3,
    }


ROWS = st.lists(st.tuples(st.lists(st.integers(0, 99), min_size=1, max_size=4), st.integers(0, 2)), max_size=8)


def taken(rows, batch=3):
    found = Taken()
    for start in range(0, len(rows), batch):
        found.add(rows[start : start + batch])
    return found.to_json()


@given(ROWS, st.randoms())
def test_a_digest_does_not_see_the_order_of_rows(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert taken(rows)["digest"] == taken(shuffled)["digest"]


@given(ROWS.filter(len), st.data())
def test_a_digest_sees_a_row_that_is_missing_doubled_or_changed(rows, data):
    place = data.draw(st.integers(0, len(rows) - 1))
    ids, target = rows[place]
    others = [
        [row for number, row in enumerate(rows) if number != place],
        [*rows, rows[place]],
        [*rows[:place], (ids, target + 1), *rows[place + 1 :]],
        [*rows[:place], ([*ids, 5], target), *rows[place + 1 :]],
    ]
    assert all(taken(other)["digest"] != taken(rows)["digest"] for other in others)


def test_a_side_that_takes_fewer_steps_or_rows_is_no_comparison():
    mine = taken([([1, 2], 0), ([3], 1), ([4], 1), ([5, 6, 7], 0)], batch=2)
    less = taken([([1, 2], 0), ([3], 1)], batch=2)
    padded = taken([([1, 2], 0), ([3], 1), ([4], 1), ([5, 6], 0)], batch=2)
    refuse_less("trainer", 1, mine, dict(mine), same=True)
    with pytest.raises(Failed, match="ours took 2 steps and trainer 1"):
        refuse_less("trainer", 1, mine, less, same=True)
    with pytest.raises(Failed, match=r"4 rows of 7 tokens and trainer 4 of 6.*not the same"):
        refuse_less("trainer", 1, mine, padded, same=True)
    with pytest.raises(Failed, match="not the same"):
        refuse_less("trainer", 1, mine, padded, same=False)


def test_a_block_of_less_work_is_not_timed():
    side = Recorded("trainer", [])
    check(side, {"steps": 4, "rows": 64}, 4, {"batch_size": 16})
    check(side, {"steps": 4, "rows": 50}, 4, {"batch_size": 16})
    for less in ({"steps": 3, "rows": 64}, {"steps": 4, "rows": 32}):
        with pytest.raises(Failed, match="would be that of less work"):
            check(side, less, 4, {"batch_size": 16})


def test_enough_passes_are_planned_for_the_steps_that_are_asked_for():
    assert [epochs_for(total, 100, 16) for total in (1, 7, 8, 34)] == [1, 1, 2, 5]


def made(kind="score", rows=10, **figures):
    return Result(kind, {"rows": rows}, figures, {"more": [1]}, "a table")


def test_kept_benchmarks_come_back_and_the_same_one_takes_its_own_place(tmp_path):
    path = tmp_path / "last.json"
    keep(path, [made(seconds=2.0), made("report", seconds=1.0)])
    keep(path, [made(seconds=3.0), made(rows=20, seconds=5.0)])
    found = {(entry["bench"], entry["arguments"]["rows"]): entry["figures"]["seconds"] for entry in read(path)}
    assert found == {("score", 10): 3.0, ("score", 20): 5.0, ("report", 10): 1.0}
    entry = read(path)[0]
    assert entry["machine"]["threads"] >= 1 and entry["machine"]["versions"]["heldout"]
    assert json.loads(path.read_text())["benches"][0] == entry


def test_against_prints_the_ratio_to_the_same_benchmark_only(tmp_path):
    path = tmp_path / "last.json"
    keep(path, [made(seconds=2.0, bytes=4000.0), made(rows=20, seconds=50.0)])
    lines = against(path, made(seconds=3.0, bytes=4000.0, new=1.0)).splitlines()
    assert lines[1].split() == ["seconds", "3", "2", "1.50"]
    assert lines[2].split() == ["bytes", "4,000", "4,000", "1.00"]
    assert lines[3].split() == ["new", "1"]
    assert "holds no score with these arguments" in against(path, made(rows=30, seconds=1.0))


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "other.json").write_text('{"benches": [{"bench": "score"}]}')
    with pytest.raises(Refused, match="is no file of benchmarks"):
        read(tmp_path / "other.json")


def test_a_path_is_matched_by_its_last_two_parts_and_anything_else_as_it_is(tmp_path):
    (tmp_path / "rows.csv").touch()
    assert short(tmp_path / "rows.csv") == f"{tmp_path.name}/rows.csv"
    assert short([str(tmp_path / "rows.csv"), "org/name:train", 3]) == [
        f"{tmp_path.name}/rows.csv",
        "org/name:train",
        3,
    ]


def test_a_command_is_measured_from_outside(tmp_path):
    code = "import sys, time; held = bytearray(120_000_000); time.sleep(0.3)"
    took = ran([sys.executable, "-c", code], tmp_path)
    assert 0.3 <= took.wall < 30 and 0 < took.cpu <= took.wall + 1
    assert 120e6 < took.peak_memory < 250e6
    with pytest.raises(Failed, match="broken"):
        ran([sys.executable, "-c", "raise SystemExit('broken')"], tmp_path)


def test_a_command_that_has_done_enough_is_ended(tmp_path):
    code = f"import pathlib, time; pathlib.Path({str(tmp_path / 'made')!r}).touch(); time.sleep(200)"
    took = ran([sys.executable, "-c", code], tmp_path, (tmp_path / "made").exists)
    assert took.wall < 60


def test_score_is_measured_as_the_command_kept_and_set_against_itself(tmp_path, capsys):
    kept, written = tmp_path / "last.json", tmp_path / "all.json"
    words = ["bench", "score", "--rows", "60", "--replicates", "20", "--words", "6"]
    assert main([*words, "--keep", str(kept), "--json", str(written)]) == 0
    (entry,) = read(kept)
    assert entry["bench"] == "score" and entry["arguments"] == {"rows": 60, "replicates": 20, "words": 6}
    assert entry["figures"]["peak memory"] > 20e6
    assert read(written)[0]["figures"] == entry["figures"]
    assert result.machine()["processor"] in capsys.readouterr().out
    assert main([*words, "--against", str(kept)]) == 0
    out = capsys.readouterr().out
    assert "now over kept" in out and "60 of about 6 words" in out


@pytest.mark.parametrize(("said", "wanted"), [("4,2", 4), ("3", 3), ("", 0), ("many", 0)])
def test_the_machine_is_told_where_the_system_tells_no_processors_of_ours_and_threads_are_a_list(
    said, wanted, monkeypatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert result.machine()["threads"] == (wanted or len(os.sched_getaffinity(0)))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert result.machine()["threads"] == (wanted or os.cpu_count())
    assert result.machine()["cpus"] == os.cpu_count()


def test_files_are_written_before_the_last_line_is_printed(tmp_path, monkeypatch):
    def fails():
        raise OSError("no such thing here")

    monkeypatch.setattr(bench, "where", fails)
    monkeypatch.setattr(bench, "_measured", lambda options: [result.Result("score", {}, {"seconds": 1.0}, {}, "")])
    kept, written = tmp_path / "last.json", tmp_path / "all.json"
    with pytest.raises(OSError, match="no such thing"):
        bench.run(bench.Options(action="score", keep=kept, json=written))
    assert [entry["figures"] for path in (kept, written) for entry in read(path)] == [{"seconds": 1.0}] * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "--task", "sentiment"], "heldout bench train needs --train"),
        (["predict"], "heldout bench predict needs --model"),
        (["tokenize"], "heldout bench tokenize needs --corpus"),
        (["score", "--rows", "0"], "--rows 0: give 1 or more"),
        (["train", "--task", "nli", "--train", "x.csv", "--model", "m", "--seeds", "one"], "--seeds one"),
        (["train", "--task", "nli", "--train", "x.csv", "--model", "m", "--peer", "trainr"], "did you mean trainer?"),
        (
            ["train", "--task", "sentiment", "--train", "x.csv", "--model", "m", "--long", "tail"],
            "--long: the examples of transformers have no such thing",
        ),
        (["score", "--against", "nowhere.json"], "nowhere.json: no such file; heldout bench"),
        (["race"], "invalid choice: 'race'"),
    ],
)
def test_a_call_that_measures_nothing_is_told_what_it_lacks(words, said, capsys):
    assert main(["bench", *words]) == 2
    assert said in capsys.readouterr().err
