"""The cache of what any run can use again: whole or absent, made once, bounded, never in the way."""

import os
import subprocess
import sys

import pytest

from heldout.cache import cached
from heldout.errors import Refused


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fill(size):
    return lambda folder: (folder / "data").write_bytes(bytes(size))


def test_it_is_made_once(cache):
    made = []
    for _ in range(2):
        folder = cached("things", "a", lambda folder: made.append(folder) or fill(3)(folder))
        assert (folder / "data").read_bytes() == bytes(3)
    assert folder == cache / "things" / "a"
    assert len(made) == 1


def test_off_and_a_place_that_cannot_be_written_are_no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE", "off")
    assert cached("things", "a", fill(1)) is None
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path / "file"))
    assert cached("things", "a", fill(1)) is None


def test_what_fails_half_way_leaves_nothing_and_is_raised(cache):
    def half(folder):
        fill(3)(folder)
        raise Refused("no text")

    with pytest.raises(Refused, match="no text"):
        cached("things", "a", half)
    assert cached("things", "a", fill(5)).joinpath("data").stat().st_size == 5


KILLED = """
import os, signal
from heldout.cache import cached
def make(folder):
    (folder / "data").write_bytes(bytes(3))
    os.kill(os.getpid(), signal.SIGKILL)
cached("things", "a", make)
"""


def test_what_a_killed_maker_left_is_removed_and_made_again(cache):
    died = subprocess.run([sys.executable, "-c", KILLED], check=False)
    assert died.returncode == -9
    assert len(list(cache.glob("things/.a.tmp-*"))) == 1
    assert cached("things", "a", fill(5)).joinpath("data").stat().st_size == 5
    assert not list(cache.glob("things/.*"))


WAITS = """
import sys, time
from heldout.cache import cached
def make(folder):
    time.sleep(0.3)
    (folder / "data").write_text("made")
    print("made", flush=True)
cached("things", "a", make)
"""


def test_of_two_processes_one_makes_it(cache):
    both = [subprocess.Popen([sys.executable, "-c", WAITS], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert sorted(said) == ["", "made\n"]
    assert [process.returncode for process in both] == [0, 0]


def test_what_was_not_used_for_longest_is_removed_first(cache, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE_GB", "0.000000025")
    for age, name in ((300, "old"), (200, "used"), (100, "young")):
        os.utime(cached("things", name, fill(8)), (1e9 - age, 1e9 - age))
    cached("things", "used", fill(8))
    cached("things", "new", fill(8))
    assert {path.name for path in cache.glob("things/*") if path.is_dir()} == {"used", "young", "new"}
    monkeypatch.setenv("HELDOUT_CACHE_GB", "0")
    # What is asked for is never removed, whatever its size.
    assert cached("things", "new", fill(8)).exists()
    assert {path.name for path in cache.glob("things/*") if path.is_dir()} == {"new"}
    monkeypatch.setenv("HELDOUT_CACHE_GB", "plenty")
    with pytest.raises(Refused, match="plenty"):
        cached("things", "new", fill(8))
