from heldout.train import progress as module
from heldout.train.progress import progress


def lines_of(monkeypatch, capsys, times, calls):
    """What is said where stderr is no terminal, with the clock at these times."""
    clock = iter(times)
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    with progress("training", 200, "steps") as advance:
        for call in calls:
            advance(*call)
    return capsys.readouterr().err.splitlines()


def test_a_line_now_and_then_says_how_far_and_how_long_still(monkeypatch, capsys):
    said = lines_of(monkeypatch, capsys, [0.0, 10.0, 60.0], [(50,), (50, "loss 0.5")])
    assert said == ["training: 100 of 200 steps, about 1 min left; loss 0.5"]


def test_steps_of_an_earlier_life_count_but_took_no_time(monkeypatch, capsys):
    said = lines_of(monkeypatch, capsys, [0.0, 60.0], [(10, "", 150)])
    assert said == ["training: 160 of 200 steps, about 4 min left"]


def test_a_bar_begins_where_the_earlier_life_ended(monkeypatch, capsys):
    monkeypatch.setattr(module.sys.stderr, "isatty", lambda: True, raising=False)
    with progress("training", 200, "steps") as advance:
        advance(10, "", 150)
        advance(10, "", 150)
    assert "170/200" in capsys.readouterr().err
