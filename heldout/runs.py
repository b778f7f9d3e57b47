"""The run folder: made at once, written file by file under temporary names, owned by one writer at a time.

run.json {"state": "running" | "done" | "failed", "pid", "host"}   lock   options.json   environment.json
ledger.json   losses.jsonl   card.json   train-texts.json   checkpoints/step-N/   model/
gold/NAME.jsonl   predictions/NAME.jsonl   fits/NAME.json   scores/NAME.json   report.html
"""

import errno
import fcntl
import json
import os
import platform
import shutil
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from heldout.errors import Failed, Held, HeldoutError, Refused

#: Distributions whose versions environment.json records.
RECORDED = ("heldout", "torch", "transformers", "accelerate", "datasets", "tokenizers", "scikit-learn", "numpy")

#: What the system says where there is no room: the disk, a quota, the largest file allowed.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside ``path`` and rename it onto ``path`` once the block is through and on disk.

    The block may write a file or make a folder. A kill at any moment leaves a file as it was, and a folder that was
    not there absent; a folder that is replaced is gone for a moment. A full disk is Failed.
    """
    temporary = path.parent / f".{path.name}.tmp-{os.getpid()}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(temporary)
        yield temporary
        _sync(temporary)
        if path.is_dir():
            _remove(path)
        temporary.rename(path)
        _sync_entry(path.parent)
    except OSError as error:
        with suppress(OSError):
            _remove(temporary)
        advice = "free some space and run again" if error.errno in FULL else "choose another place"
        raise Failed(f"{path}: could not be written ({error.strerror or error}); {advice}") from error
    except BaseException:
        _remove(temporary)
        raise


def write_json(path: Path, value: Any) -> None:
    """Write one JSON value atomically, indented, with a last newline. Lone surrogates are escaped."""
    with atomic(path) as temporary:
        temporary.write_text(_dumps(value, indent=2) + "\n", encoding="utf-8")


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON objects atomically, one a line. Lone surrogates are escaped: they have no UTF-8 form."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8") as lines:
        for row in rows:
            lines.write(_dumps(row) + "\n")


def append_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Append JSON objects, one a line, and wait until they are on disk; a kill may cut the last line short."""
    try:
        with path.open("a", encoding="utf-8") as lines:
            lines.writelines(_dumps(row) + "\n" for row in rows)
            lines.flush()
            os.fsync(lines.fileno())
    except OSError as error:
        advice = "free some space and run again" if error.errno in FULL else "choose another place"
        raise Failed(f"{path}: could not be written ({error.strerror}); {advice}") from error


def _dumps(value: Any, indent: int | None = None) -> str:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def read_json(path: Path) -> Any:
    """Read one JSON value; Refused naming the file where there is none or it is cut short."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Refused(f"{path}: no such file; is this a run folder of heldout?") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: not JSON ({error})") from None


def task_options(folder: Path) -> dict[str, Any]:
    """What a fine-tuned run was made with; Refused for a run that does no task, as those of heldout pretrain."""
    options = read_json(folder / "options.json")
    if not isinstance(options, dict) or "task" not in options:
        raise Refused(f"{folder}/options.json: names no task; give a run of heldout finetune")
    return options


def refuse_taken(folder: Path) -> None:
    """Refused where the folder holds a run already: a command asks before its work, not after it.

    A run that failed before it made anything (a model that could not be loaded) is not in the way of the next try.
    """
    path = folder / "run.json"
    if path.exists() and not (read_json(path).get("state") == "failed" and came_to_nothing(folder)):
        raise Refused(f"{folder}: holds a run already; continue it with --resume or choose another --out")


def came_to_nothing(folder: Path) -> bool:
    """Whether a run folder, with the runs inside it, holds no checkpoint, model or prediction: nothing to lose."""
    inside = [*folder.glob("seed-*"), *folder.glob("baselines/*")]
    made = any((folder / name).exists() for name in ("checkpoints", "model", "predictions"))
    return not made and all(came_to_nothing(run) for run in inside)


@contextmanager
def writing(folder: Path, *, resume: bool = False) -> Iterator[Path]:
    """Hold a run folder for writing; its state is running inside, done after, failed where the block raises.

    Refused when another live process holds it, or when it holds an earlier run and ``resume`` is not asked for.
    """
    state = folder / "run.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"{folder}: cannot be written in ({error.strerror}); choose another --out") from None
    with holding(folder):
        # With the lock held: a run that ended while we looked counts as one.
        if not resume:
            refuse_taken(folder)
        _clear_leftovers(folder)
        mark = {"pid": os.getpid(), "host": socket.gethostname()}
        write_json(state, {"state": "running"} | mark)
        try:
            yield folder
        except BaseException:
            # On a full disk this fails too; the first error is the one to tell.
            with suppress(HeldoutError):
                write_json(state, {"state": "failed"} | mark)
            raise
        write_json(state, {"state": "done"} | mark)


@contextmanager
def holding(folder: Path) -> Iterator[Path]:
    """Hold the lock of a run folder that is there, to add files to it; its state stays what it is.

    Refused when another live process holds it.
    """
    try:
        lock = (folder / "lock").open("a")
    except OSError as error:
        raise Refused(f"{folder}: cannot be written in ({error.strerror}); choose another --out") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            state = folder / "run.json"
            owner = json.loads(state.read_text()) if state.exists() else {}
            who = f"process {owner.get('pid', '?')}" if owner.get("state") == "running" else "another process"
            raise Held(f"{folder}: {who} is writing here; wait for it or stop it") from None
        yield folder


def environment() -> dict[str, Any]:
    """What the run was made with: date, versions, machine; nothing that names a person."""
    versions = {}
    for name in RECORDED:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cpus": cpus(),
        "versions": versions,
    }


def cpus() -> int:
    """The processors that this process may use; all there are where the system does not say (macOS)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """The threads that OMP_NUM_THREADS asks for, the outermost of a list ("4,2"); 0 where it says none."""
    said = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(said) if said.isdecimal() else 0


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()


def _clear_leftovers(folder: Path) -> None:
    """Remove what a killed writer left under temporary names; the lock is ours, so nobody is writing them."""
    for leftover in folder.glob("**/.*.tmp-*"):
        _remove(leftover)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    for entry in [path, *path.rglob("*")] if path.is_dir() else [path]:
        _sync_entry(entry)


def _sync_entry(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
