import json

import pytest

from heldout.errors import Refused
from heldout.eval.report import build

ROW = {
    **{"name": "padding", "title": "padding", "group": "arithmetic", "why": "what fills up must not be read"},
    **{"outcome": "pass", "figure": "logits of 9 windows differ by 3e-07", "tolerance": "1e-04", "advice": ""},
    **{"value": 3e-07, "data": "imdb", "n": 9, "seconds": 0.4},
}
FAILS = ROW | {"title": "labels", "outcome": "fail", "figure": "<b>far</b> below", "advice": "set id2label & label2id"}


@pytest.fixture
def run(make_one, tmp_path):
    return make_one(tmp_path / "run", 40, 0.8)


def report(run, rows):
    (run / "checks.json").write_text(json.dumps({"checks": rows}))
    return build([run], replicates=50)


def test_the_tab_shows_each_check_with_its_figure_those_that_fail_first_and_what_to_do(run):
    html = report(run, [ROW, FAILS, ROW | {"title": "onnx", "outcome": "not applicable", "figure": "no onnx/"}])
    tab = html[html.index('id="checks"') :]
    assert tab.index("labels") < tab.index("padding") < tab.index("onnx")
    for words in ("&lt;b&gt;far&lt;/b&gt; below", "To do: set id2label &amp; label2id", "9 examples of imdb", "3e-07"):
        assert words in tab
    assert "Of 3 checks 1 fails, 1 passes, 1 not applicable." in tab


def test_a_run_that_was_not_examined_has_no_such_tab(run):
    assert 'id="checks"' not in build([run], replicates=50)


@pytest.mark.parametrize(
    ("rows", "said"),
    [(None, "must be a list"), ([{"title": "x"}], "must be a list"), ([ROW | {"outcome": "fine"}], "outcome 'fine'")],
)
def test_a_file_that_is_not_as_doctor_writes_it_is_refused(run, rows, said):
    with pytest.raises(Refused, match=r"checks\.json: .*heldout doctor") as refused:
        report(run, rows)
    assert said in str(refused.value)
