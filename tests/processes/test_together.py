"""What a process says of another one that has gone."""

import pytest

from heldout.errors import Failed
from heldout.train.processes import together

GONE = "[gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:4711"


@pytest.fixture
def rank(monkeypatch):
    def be(rank):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "2")

    return be


def test_a_closed_connection_is_told_as_the_death_of_another_process(rank):
    rank(1)
    with pytest.raises(Failed, match=r"process 1 of 2: another one has died.*go on so"), together("go on so"):
        raise RuntimeError(GONE)


def test_a_signal_on_the_way_of_that_error_does_not_hide_it(rank):
    rank(0)
    with pytest.raises(Failed, match="another one has died"), together("go on so"):
        try:
            raise RuntimeError(GONE)
        finally:
            raise KeyboardInterrupt


def test_a_signal_alone_ends_the_first_process_as_ever_and_the_others_without_a_word(rank):
    rank(0)
    with pytest.raises(KeyboardInterrupt), together("go on so"):
        raise KeyboardInterrupt
    rank(1)
    with pytest.raises(SystemExit), together("go on so"):
        raise KeyboardInterrupt


def test_other_faults_and_a_process_alone_are_left_as_they_are(rank):
    with pytest.raises(RuntimeError), together("go on so"):
        raise RuntimeError(GONE)
    rank(1)
    with pytest.raises(RuntimeError, match="shapes"), together("go on so"):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")
