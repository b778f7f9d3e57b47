"""docs/predictions.md: its files are written, its commands run, its output compared, letter by letter."""

import re
import shlex
from pathlib import Path

import pytest

from heldout.cli import main

DOC = Path(__file__).parents[2] / "docs" / "predictions.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    return [(name, body) for found, name, body in BLOCK.findall(DOC.read_text()) if found == language]


def write_files(folder: Path) -> None:
    for name, body in blocks("json"):
        (folder / name).write_text(body)


def shell(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the few shell commands of the page print; heldout runs in this process."""
    words, _, target = command.partition(" > ")
    name, *rest = shlex.split(words)
    if name == "heldout":
        main(rest)
        captured = capsys.readouterr()
        output = captured.out + captured.err
    elif name == "head":
        output = "".join(Path(rest[1]).read_text().splitlines(keepends=True)[: int(rest[0].lstrip("-"))])
    else:
        assert name == "python"
        exec(rest[1])
        output = capsys.readouterr().out
    if target:
        Path(target).write_text(output)
        return ""
    return output


def test_every_command_of_the_page_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    ran = 0
    for _, body in blocks("console"):
        joined = body.replace("\\\n", "")
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", joined, re.MULTILINE):
            assert shell(command, capsys).rstrip() == expected.rstrip(), command
            ran += 1
    assert ran == 8
    assert len(blocks("json")) == 11
