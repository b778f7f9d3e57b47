"""The cache of what any run can use again: whole or absent, made once, bounded, never in the way."""

import errno
import os
import shutil
import subprocess
import sys
import threading

import pytest

from heldout import cache as cache_module
from heldout.cache import cached
from heldout.errors import Refused


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fill(size):
    return lambda folder: (folder / "data").write_bytes(bytes(size))


def kept(kind, key, make):
    return cached(kind, key, make, lambda folder: folder)


def test_it_is_made_once(cache):
    made = []
    for _ in range(2):
        folder = kept("things", "a", lambda folder: made.append(folder) or fill(3)(folder))
        assert (folder / "data").read_bytes() == bytes(3)
    assert folder == cache / "things" / "a"
    assert len(made) == 1


def test_off_and_a_place_that_cannot_be_written_are_no_cache(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HELDOUT_CACHE", "off")
    assert kept("things", "a", fill(1)) is None
    assert capsys.readouterr().err == ""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path / "file"))
    assert kept("things", "a", fill(1)) is None
    assert "the cache is not used" in capsys.readouterr().err


def test_a_disk_that_gets_full_is_no_cache_and_a_line_says_so(cache, capsys):
    def full(folder):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert kept("things", "a", full) is None
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "No space left" in said
    assert "HELDOUT_CACHE" in said
    assert not [path for path in cache.glob("things/*") if path.is_dir()]


def test_the_cache_is_its_owners_alone_and_one_that_is_there_keeps_its_mode(cache):
    kept("things", "a", fill(1))
    assert cache.stat().st_mode & 0o777 == 0o700
    cache.chmod(0o750)
    kept("things", "b", fill(1))
    assert cache.stat().st_mode & 0o777 == 0o750


def test_nothing_is_removed_before_it_is_open_and_what_is_open_can_be_read_afterwards(cache, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE_GB", "0")

    def read(folder):
        kept("things", "b", fill(1))
        return (folder / "data").open("rb")

    with cached("things", "a", fill(3), read) as file:
        kept("things", "c", fill(1))
        assert not (cache / "things" / "a").exists()
        assert file.read() == bytes(3)


def test_a_lock_goes_with_its_folder_and_who_waited_for_it_does_not_hold_it(cache, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE_GB", "0")
    kept("things", "a", fill(3))
    kept("things", "b", fill(3))
    assert {path.name for path in cache.glob("things/*")} == {"b", "b.lock"}
    folder, got = cache / "things" / "a", []

    def wait():
        with cache_module._locked(folder):
            got.append("lock")

    first, second, waiting = cache_module._locked(folder), cache_module._locked(folder), threading.Thread(target=wait)
    assert first.__enter__()
    waiting.start()
    waiting.join(0.1)
    folder.with_name("a.lock").unlink()
    assert second.__enter__()
    first.__exit__(None, None, None)
    waiting.join(0.1)
    assert not got
    second.__exit__(None, None, None)
    waiting.join()
    assert got == ["lock"]


def test_a_removal_that_is_killed_leaves_no_half_folder(cache, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE_GB", "0")
    kept("things", "a", fill(3))

    def killed(path):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(shutil, "rmtree", killed)
        kept("things", "b", fill(3))
    assert not (cache / "things" / "a").exists()
    kept("things", "b", fill(3))
    assert not list(cache.glob("things/.*"))


def test_what_fails_half_way_leaves_nothing_and_is_raised(cache):
    def half(folder):
        fill(3)(folder)
        raise Refused("no text")

    with pytest.raises(Refused, match="no text"):
        kept("things", "a", half)
    assert kept("things", "a", fill(5)).joinpath("data").stat().st_size == 5


KILLED = """
import os, signal
from heldout.cache import cached
def make(folder):
    (folder / "data").write_bytes(bytes(3))
    os.kill(os.getpid(), signal.SIGKILL)
cached("things", "a", make, lambda folder: folder)
"""


def test_what_a_killed_maker_left_is_removed_and_made_again(cache):
    died = subprocess.run([sys.executable, "-c", KILLED], check=False)
    assert died.returncode == -9
    assert len(list(cache.glob("things/.a.tmp-*"))) == 1
    assert kept("things", "a", fill(5)).joinpath("data").stat().st_size == 5
    assert not list(cache.glob("things/.*"))


WAITS = """
import sys, time
from heldout.cache import cached
def make(folder):
    time.sleep(0.3)
    (folder / "data").write_text("made")
    print("made", flush=True)
cached("things", "a", make, lambda folder: folder)
"""


def test_of_two_processes_one_makes_it(cache):
    both = [subprocess.Popen([sys.executable, "-c", WAITS], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert sorted(said) == ["", "made\n"]
    assert [process.returncode for process in both] == [0, 0]


def test_what_was_not_used_for_longest_is_removed_first(cache, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE_GB", "0.000000025")
    for age, name in ((300, "old"), (200, "used"), (100, "young")):
        os.utime(kept("things", name, fill(8)), (1e9 - age, 1e9 - age))
    kept("things", "used", fill(8))
    kept("things", "new", fill(8))
    assert {path.name for path in cache.glob("things/*") if path.is_dir()} == {"used", "young", "new"}
    monkeypatch.setenv("HELDOUT_CACHE_GB", "0")
    # What is asked for is never removed, whatever its size.
    assert kept("things", "new", fill(8)).exists()
    assert {path.name for path in cache.glob("things/*") if path.is_dir()} == {"new"}
    monkeypatch.setenv("HELDOUT_CACHE_GB", "plenty")
    with pytest.raises(Refused, match="plenty"):
        kept("things", "new", fill(8))
