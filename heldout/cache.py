"""What is made once and used again by any run on the same data: CACHE/KIND/KEY/, a folder a thing.

CACHE is HELDOUT_CACHE, else $XDG_CACHE_HOME/heldout or ~/.cache/heldout; HELDOUT_CACHE=off keeps nothing. A folder is
made under another name and renamed when it is whole, so a kill leaves none behind that is half; of several processes
that want the same one, one makes it and the others wait. Over HELDOUT_CACHE_GB (20) gigabytes, those that were not used
for longest are removed. All of it may be deleted at any time: ``rm -r ~/.cache/heldout``. It holds texts of the data,
so CACHE is made for its owner alone (mode 0700); one that is there keeps its mode.
"""

import fcntl
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from heldout.errors import Failed, Refused
from heldout.runs import atomic

OFF = "off"
#: Gigabytes that are kept where HELDOUT_CACHE_GB says nothing else.
KEPT_GB = 20.0
T = TypeVar("T")


def cache_folder() -> Path | None:
    """Where the cache lies; None where it is off."""
    said = os.environ.get("HELDOUT_CACHE", "")
    if said == OFF:
        return None
    return Path(said) if said else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heldout"


def cached(kind: str, key: str, make: Callable[[Path], object], read: Callable[[Path], T]) -> T | None:
    """What ``read`` opens in the folder CACHE/KIND/KEY; ``make`` fills an empty folder where it is not there yet.

    Both run while the folder is locked. Afterwards any process may remove it, so ``read`` opens (or maps) all that is
    read later. None where the cache is off, and where an OSError or Failed of either says that it cannot be used, which
    a line on stderr tells: the caller then does without. What else they raise is raised.
    """
    root, limit = cache_folder(), _limit()
    if root is None:
        return None
    folder = root / kind / key
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.parent.mkdir(exist_ok=True)
        with _locked(folder):
            if not folder.exists():
                with atomic(folder) as temporary:
                    temporary.mkdir()
                    make(temporary)
            # Its time is when it was last used.
            os.utime(folder)
            found = read(folder)
    except (OSError, Failed) as error:
        print(f"the cache is not used: {error} (HELDOUT_CACHE=DIR is another place)", file=sys.stderr, flush=True)
        return None
    # Another process may be tidying up as well.
    with suppress(OSError):
        _prune(root, limit, folder)
    return found


def _limit() -> float:
    said = os.environ.get("HELDOUT_CACHE_GB", "")
    try:
        return float(said or KEPT_GB) * 1e9
    except ValueError:
        raise Refused(f"HELDOUT_CACHE_GB={said}: give a number of gigabytes, such as {KEPT_GB:g}") from None


@contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a folder of the cache; the system lets it go when its holder dies. Yields whether it is ours."""
    path = _lock_of(folder)
    while True:
        with path.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            # Who held it before may have removed the file: a lock of that one keeps nobody out.
            if _is_at(path, lock.fileno()):
                yield True
                return


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _is_at(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _prune(root: Path, limit: float, used: Path) -> None:
    """Remove what was not used for longest until ``limit`` bytes are left; never what is being made or is ``used``.

    Who has a removed file open or mapped keeps reading it: the system frees it afterwards.
    """
    _remove_leftovers(root)
    found = [path for path in root.glob("*/*") if path.is_dir() and not path.name.startswith(".")]
    sizes = {path: sum(file.stat().st_size for file in path.iterdir()) for path in found}
    total = sum(sizes.values())
    for path in sorted(found, key=lambda path: path.stat().st_mtime):
        if total <= limit or path == used:
            continue
        with _locked(path, wait=False) as ours:
            if ours:
                _remove(path)
                total -= sizes[path]


def _remove(folder: Path) -> None:
    """Remove a folder whose lock is ours, and the lock; under another name, so that a kill leaves none that is half."""
    leftover = folder.with_name(f".{folder.name}.tmp-{os.getpid()}")
    folder.rename(leftover)
    shutil.rmtree(leftover)
    _lock_of(folder).unlink()


def _remove_leftovers(root: Path) -> None:
    """Remove what killed makers left under temporary names; a living one holds the lock."""
    for leftover in root.glob("*/.*.tmp-*"):
        folder = leftover.with_name(leftover.name[1:].rpartition(".tmp-")[0])
        with _locked(folder, wait=False) as ours:
            if ours:
                shutil.rmtree(leftover, ignore_errors=True)
