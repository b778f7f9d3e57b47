"""The run folder: whole files or none, one writer, a state that tells the truth."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from heldout.errors import Failed, Refused
from heldout.runs import atomic, environment, read_json, refuse_taken, write_json, write_lines, writing

#: A writer that says when it holds the folder, leaves a half-written file under a temporary name and waits.
HOLDER = """
import sys, time
from pathlib import Path
from heldout.runs import atomic, writing
with writing(Path(sys.argv[1]), resume=len(sys.argv) > 2) as run, atomic(run / "model") as half:
    half.mkdir()
    (half / "weights").write_text("ha")
    print("held", flush=True)
    time.sleep(60)
"""


def holder(run: Path) -> "subprocess.Popen[str]":
    child = subprocess.Popen([sys.executable, "-c", HOLDER, str(run)], stdout=subprocess.PIPE, text=True)
    assert child.stdout and child.stdout.readline() == "held\n"
    return child


def state(run: Path) -> str:
    return str(read_json(run / "run.json")["state"])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    write_json(path, 1)
    with pytest.raises(ZeroDivisionError), atomic(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert read_json(path) == 1
    assert names(tmp_path) == ["scores.json"]


def test_rows_that_fail_half_way_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        write_lines(tmp_path / "gold" / "dev.jsonl", ({"id": str(1 // n)} for n in (1, 0)))
    assert names(tmp_path / "gold") == []


def test_a_folder_appears_whole_and_can_be_replaced(tmp_path: Path) -> None:
    for text in ("old", "new"):
        with atomic(tmp_path / "model") as temporary:
            (temporary / "a").mkdir(parents=True)
            (temporary / "a" / "weights").write_text(text)
            assert not (tmp_path / "model").exists() or text == "new"
        assert (tmp_path / "model" / "a" / "weights").read_text() == text
    assert names(tmp_path) == ["model"]


def test_a_full_disk_is_a_failure_that_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    write_json(path, "old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Past the limit the kernel sends SIGXFSZ, which Python ignores, so that write() fails as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(Failed, match=r"could not be written .*free some space"):
            write_json(path, "x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert read_json(path) == "old"
    assert names(tmp_path) == ["scores.json"]


def test_a_parent_that_is_a_file_is_a_failure_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("")
    with pytest.raises(Failed, match=r"could not be written .*choose another place"):
        write_json(tmp_path / "gold" / "dev.json", 1)


def test_lone_surrogates_are_written_as_escapes(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"name": "caf\udce9 é"})
    write_lines(tmp_path / "a.jsonl", [{"id": "\ud800"}, {"id": "é"}])
    assert read_json(tmp_path / "a.json") == {"name": "caf\udce9 é"}
    assert (tmp_path / "a.jsonl").read_text(encoding="utf-8") == '{"id": "\\ud800"}\n{"id": "é"}\n'


def test_a_run_is_running_inside_and_done_after(tmp_path: Path) -> None:
    run = tmp_path / "a" / "run"
    with writing(run) as folder:
        assert folder == run
        assert read_json(run / "run.json")["pid"] == os.getpid()
        assert state(run) == "running"
    assert state(run) == "done"


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_run_that_raises_has_failed_and_can_be_resumed(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), writing(tmp_path):
        raise error
    assert state(tmp_path) == "failed"
    with writing(tmp_path, resume=True):
        assert state(tmp_path) == "running"
    assert state(tmp_path) == "done"


def test_a_second_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    refuse_taken(tmp_path)
    with writing(tmp_path):
        pass
    with pytest.raises(Refused, match="holds a run already"), writing(tmp_path):
        pytest.fail("a second run was let in")
    with pytest.raises(Refused, match="holds a run already"):
        refuse_taken(tmp_path)
    assert state(tmp_path) == "done"


@pytest.mark.parametrize("resume", [False, True])
def test_a_second_writer_is_refused_and_the_first_is_named(tmp_path: Path, resume: bool) -> None:
    with holder(tmp_path) as first:
        try:
            says = f"process {first.pid} is writing here"
            with pytest.raises(Refused, match=says), writing(tmp_path, resume=resume):
                pytest.fail("a second writer was let in")
            assert state(tmp_path) == "running"
            assert any(name.startswith(".model.tmp-") for name in names(tmp_path))
        finally:
            first.kill()


def test_what_a_killed_writer_left_is_cleared_by_the_next(tmp_path: Path) -> None:
    with holder(tmp_path) as first:
        first.send_signal(signal.SIGKILL)
    assert state(tmp_path) == "running"
    assert any(".tmp-" in name for name in names(tmp_path))
    with writing(tmp_path, resume=True):
        assert names(tmp_path) == ["lock", "run.json"]


def test_a_folder_that_cannot_be_written_in_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(Refused, match="choose another --out"), writing(out):
            pytest.fail("a file was taken for a folder")


def test_the_first_error_is_told_when_the_state_cannot_be_written_either(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(tmp_path):
        (tmp_path / "run.json").unlink()
        (tmp_path / "run.json").mkdir()
        (tmp_path / "run.json" / "in the way").write_text("")
        (tmp_path / f".run.json.tmp-{os.getpid()}").mkdir()
        raise ZeroDivisionError


def test_a_json_file_that_is_cut_short_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text('{"name": ')
    with pytest.raises(Refused, match=r"card\.json: not JSON"):
        read_json(tmp_path / "card.json")
    with pytest.raises(Refused, match=r"ledger\.json: no such file"):
        read_json(tmp_path / "ledger.json")


def test_the_environment_names_versions_and_no_person() -> None:
    found = environment()
    assert set(found) == {"date", "python", "platform", "processor", "cpus", "versions"}
    assert "numpy" in found["versions"]
    user = os.environ.get("USER", "")
    assert not user or user == "root" or user not in json.dumps(found)
