"""The heldout command: finds commands by listing scripts/, one line an error, imports no torch."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from heldout import __version__, cli

COMMAND = '''"""Do what the test asks.

More words.
"""
import sys
from dataclasses import dataclass
from heldout.errors import Failed, Refused
from heldout.options import option, positional

@dataclass(frozen=True)
class Options:
    """What it takes."""
    what: str = positional("what to do")
    times: int = option(1, "how often")

def run(options):
    """Do it."""
    match options.what:
        case "refuse":
            raise Refused("rows.csv, row 3:\\nno label; add one")
        case "fail":
            raise Failed("the disk is full")
        case "break":
            return {}["nothing"]
        case "stop":
            raise KeyboardInterrupt
        case "talk":
            for n in range(options.times):
                print("word", n)
    return 0
'''


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A command of the test's own, in a folder that cli lists in place of scripts/."""
    (tmp_path / "do_it.py").write_text(COMMAND)
    scripts = importlib.import_module("heldout.scripts")
    monkeypatch.setattr(cli, "SCRIPTS", tmp_path)
    monkeypatch.setattr(scripts, "__path__", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "heldout.scripts.do_it", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return "do-it"


def test_commands_are_found_with_the_first_line_of_their_docstring(command: str) -> None:
    assert cli.commands() == {command: "Do what the test asks."}


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_every_command(words: list[str], command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 0
    assert f"  {command}  Do what the test asks.\n" in capsys.readouterr().out


def test_every_real_command_has_a_summary_options_and_a_run() -> None:
    found = cli.commands()
    assert len(found) >= 1
    for name, summary in found.items():
        assert summary.endswith(".") and len(summary) > 10, name
        # Read, not imported: torch takes seconds.
        tree = ast.parse((cli.SCRIPTS / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        assert {"Options", "run"} <= defined, name


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["do-it", "talk"], 0, ""),
        (["do-it", "refuse"], 2, "heldout: rows.csv, row 3: no label; add one\n"),
        (["do-it", "fail"], 1, "heldout: the disk is full\n"),
        (["do-it", "break"], 1, "heldout: KeyError: 'nothing' (a fault in heldout; --debug shows where)\n"),
        (["do-it", "stop"], 130, "heldout: stopped\n"),
        (["do-it"], 2, "heldout: heldout do-it needs WHAT: what to do\n"),
        (["do_it"], 2, "heldout: unknown command 'do_it'; did you mean do-it?; heldout --help lists them\n"),
        (["../cli"], 2, "heldout: unknown command '../cli'; heldout --help lists them\n"),
    ],
)
def test_each_end_has_its_status_and_at_most_one_line(
    command: str, words: list[str], status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == status
    assert capsys.readouterr().err == says


@pytest.mark.parametrize(("what", "status"), [("refuse", 2), ("break", 1)])
def test_debug_adds_the_traceback(command: str, what: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, what, "--debug"]) == status
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback") and "do_it.py" in shown


def test_a_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "--help"])
    shown = capsys.readouterr().out
    assert stop.value.code == 0
    assert all(words in shown for words in ("More words.", "what to do", "how often (default 1)", "--config FILE.toml"))


def heldout(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "heldout", *words], capture_output=True, text=True, timeout=60)


def test_the_module_runs_as_the_command_does() -> None:
    done = heldout("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"heldout {__version__}\n", "")
    done = heldout("nonsense")
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_a_reader_that_has_gone_is_no_error_to_talk_about() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "heldout", "--help"], stdout=pipe, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (1, "")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from heldout import cli; cli.main(['--help']);"
        "print(sorted({'torch', 'transformers', 'sklearn', 'datasets', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.endswith("[]\n"), done.stderr
