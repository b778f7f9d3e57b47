"""What tests of commands share."""

import pytest

from heldout.cli import main


@pytest.fixture
def refused(capsys):
    """A function: the command of these words fails with a status and one line on stderr that holds all the parts."""

    def call(words, *parts, status=2):
        capsys.readouterr()
        assert main(words) == status
        lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("heldout: ")]
        assert len(lines) == 1
        assert [part for part in parts if part not in lines[0]] == [], lines[0]

    return call
