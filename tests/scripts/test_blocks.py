"""Answers in blocks: a kill loses one at most, and what a resumed command writes is what it would have written."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from heldout.records import Example, Prediction
from heldout.scripts import _blocks, _fit
from heldout.scripts._blocks import forget, write_answers


class Counting:
    """Answers with how many it has answered in this life, so that an answer given twice would show."""

    def __init__(self, dies_at=10**9):
        self.blocks = []
        self.dies_at = dies_at

    def predict(self, examples, what=""):
        if len(self.blocks) == self.dies_at:
            raise KeyboardInterrupt
        self.blocks.append([example.id for example in examples])
        return [Prediction(example.id, example.text["text"]) for example in examples]

    def agreed(self, number):
        return number


# A lone surrogate has no UTF-8 form, and U+2028 is no end of a line.
TEXTS = ["a", "b\u2028c", "\ud800", "é"] * 25
EXAMPLES = [Example(f"{n}", {"text": text}, None) for n, text in enumerate(TEXTS)]
KEY = {"data": "1", "model": {"file": [1, 2]}}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK", 8)


def written(path, system, key=KEY):
    write_answers(path, system, EXAMPLES, "predicting", key=key, main=True)
    return path.read_bytes()


def test_answers_that_are_all_there_are_not_given_again_until_their_command_is_through(small, tmp_path):
    path = tmp_path / "x.jsonl"
    first, again, other = Counting(), Counting(), Counting()
    assert written(path, first) == written(path, again)
    assert (len(first.blocks), len(again.blocks)) == (13, 0)
    written(path, other, KEY | {"data": "2"})
    assert len(other.blocks) == 13
    forget(path)
    assert [each.name for each in tmp_path.iterdir()] == ["x.jsonl"]
    once_more = Counting()
    written(path, once_more, KEY | {"data": "2"})
    assert len(once_more.blocks) == 13


def test_every_example_is_answered_once_in_order(small, tmp_path):
    rows = [json.loads(line) for line in written(tmp_path / "x.jsonl", Counting()).splitlines()]
    assert [row["id"] for row in rows] == [example.id for example in EXAMPLES]
    assert [row["answer"] for row in rows] == TEXTS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.jsonl", "x.jsonl.part.json"]


@pytest.mark.parametrize("torn", [0, 1, 30])
def test_what_was_stopped_goes_on_behind_its_last_whole_block(small, tmp_path, torn):
    whole = written(tmp_path / "whole.jsonl", Counting())
    path, part = tmp_path / "x.jsonl", tmp_path / "x.jsonl.part"
    with pytest.raises(KeyboardInterrupt):
        written(path, Counting(dies_at=5))
    assert not path.exists()
    # As if the sixth block had been cut anywhere by the kill.
    part.write_bytes(whole[: part.stat().st_size + torn])
    second = Counting()
    assert written(path, second) == whole
    assert second.blocks[0][0] == "40"
    assert sum(map(len, second.blocks)) == 60


def test_answers_of_other_data_or_another_model_are_not_gone_on_with(small, tmp_path):
    path = tmp_path / "x.jsonl"
    with pytest.raises(KeyboardInterrupt):
        written(path, Counting(dies_at=5))
    second = Counting()
    written(path, second, KEY | {"data": "2"})
    assert sum(map(len, second.blocks)) == 100


def test_answers_in_blocks_of_another_size_are_not_gone_on_with(small, tmp_path, monkeypatch):
    path = tmp_path / "x.jsonl"
    with pytest.raises(KeyboardInterrupt):
        written(path, Counting(dies_at=5))
    monkeypatch.setattr(_blocks, "BLOCK", 10)
    second = Counting()
    written(path, second)
    assert sum(map(len, second.blocks)) == 100


class Heard(Counting):
    """In a process that is not the main one: what that one said is what counts."""

    def agreed(self, number):
        return 0


def test_which_sets_are_left_is_what_the_main_process_says(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    path = tmp_path / "predictions" / "dev.jsonl"
    path.parent.mkdir()
    # The main process had begun to answer when this one came here, and has ended since.
    path.touch()
    system, job = Heard(), SimpleNamespace(folder=tmp_path, options=SimpleNamespace(precision="fp32"))
    splits = {"train": None, "dev": SimpleNamespace(hash="1", examples=EXAMPLES)}
    _fit._predict(job, system, SimpleNamespace(splits=splits))
    assert sum(map(len, system.blocks)) == 100
    assert path.read_bytes() == b""


# One process imports torch; its forks are the lives of a command, as in tests/train/lives.py.
LIVES = """
import os, pathlib, shutil, signal, sys, time
import heldout.scripts.finetune, heldout.scripts.predict, heldout.train.finetune
from heldout.cli import main
from heldout.scripts import _blocks

_blocks.BLOCK = 16
folder, model, reviews = map(pathlib.Path, sys.argv[1:])
run, data = folder / "run", folder / "more.csv"

def start(*words):
    pid = os.fork()
    if pid == 0:
        sys.argv = ["heldout", *map(str, words), "--precision", "fp32"]
        os._exit(main())
    return pid

def ended(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

made = ("--model", model, "--train", reviews, "--dev-size", 20, "--baseline", "none", "--max-length", 24)
assert ended(start("finetune", "sentiment", *made, "--max-steps", 2, "--out", run)) == 0
shutil.copytree(run, folder / "unbroken")
assert ended(start("predict", folder / "unbroken", "--data", f"more={data}")) == 0
part, size = run / "predictions" / "more.jsonl.part", 0
for _ in range(3):
    pid = start("predict", run, "--data", f"more={data}")
    until = time.monotonic() + 60
    while not (part.exists() and part.stat().st_size > size) and time.monotonic() < until:
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    assert ended(pid) == -signal.SIGKILL
    assert part.stat().st_size > size
    size = part.stat().st_size
assert ended(start("predict", run, "--data", f"more={data}")) == 0
"""


def test_predict_killed_three_times_writes_what_an_unbroken_one_does(tiny_model, reviews_csv, tmp_path):
    (tmp_path / "more.csv").write_text(
        "text,label\n" + "".join(f"the film is number {n} and dull,{n % 2}\n" for n in range(2000))
    )
    lives = [sys.executable, "-c", LIVES, tmp_path, tiny_model, reviews_csv]
    done = subprocess.run(lives, check=False, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    run, unbroken = tmp_path / "run", tmp_path / "unbroken"
    for name in ("predictions/more.jsonl", "gold/more.jsonl"):
        assert (run / name).read_bytes() == (unbroken / name).read_bytes()
    assert len((run / "predictions" / "more.jsonl").read_text().splitlines()) == 2000
    assert not list(run.glob("predictions/*.part*"))
