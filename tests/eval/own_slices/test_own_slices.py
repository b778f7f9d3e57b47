"""Slices of the user's own: kept with the run, scored like the others, and no code runs because a file says so."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from heldout.cli import main
from heldout.errors import Failed, Refused
from heldout.eval import own_slices
from heldout.eval.score import score
from heldout.eval.slices import chosen, known, parts
from heldout.records import Card, Example, Prediction

CARD = Card("toy", "1", "label", ("negative", "positive"), ("accuracy",), ("length",))
TEXTS = ["Yeah right, fine.", "A fine film with a fine end.", "yeah Right", "Dull."]
GOLD = [
    Example(str(n), {"text": text}, "positive", {"topic": "ab"[n % 2], "group": str(n)}) for n, text in enumerate(TEXTS)
]
SAID = [Prediction(str(n), "positive" if n < 2 else "negative") for n in range(4)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    for folder in (tmp_path / "run", tmp_path / "run" / "baselines" / "majority"):
        (folder / "gold").mkdir(parents=True)
        (folder / "predictions").mkdir()
        (folder / "card.json").write_text(json.dumps(CARD.to_json()))
        (folder / "gold" / "films.jsonl").write_text("".join(json.dumps(e.to_json()) + "\n" for e in GOLD))
        (folder / "predictions" / "films.jsonl").write_text("".join(json.dumps(p.to_json()) + "\n" for p in SAID))
    return tmp_path / "run"


def scores(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "scores" / "films.json").read_text())
    return found


def test_an_expression_cuts_the_examples_in_two_and_a_field_into_its_values() -> None:
    own = own_slices.from_options(["sarcasm=text~/yeah right/i", "topic=about.topic", "long=tokens>200"])
    card = own_slices.with_slices(CARD, own)
    row = score(card, GOLD, SAID, data="films", replicates=50)
    sizes = {key: part["n"] for key, part in row["slices"].items() if not key.startswith("length")}
    assert sizes == {"sarcasm=yes": 2, "sarcasm=rest": 2, "topic=a": 2, "topic=b": 2}
    assert row["slices"]["sarcasm=yes"]["metrics"]["accuracy"]["value"] == 0.5
    assert row["own_slices"] == {"sarcasm": "text ~ /yeah right/i", "topic": "about.topic", "long": "tokens > 200"}
    assert row["notes"] == ["Slice long (tokens > 200) holds no example."]


def test_a_slice_that_looks_at_what_the_model_saw_belongs_to_one_system() -> None:
    card = own_slices.with_slices(CARD, {"cut": "seen.lost > 0", "long": "tokens > 2"})
    assert {s.name: s.of_system for s in chosen(card) if s.name in ("cut", "long")} == {"cut": True, "long": False}  # type: ignore[union-attr]


def test_a_run_and_its_baselines_keep_the_slices_until_they_are_taken_away(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", str(run), "--replicates", "50", "--slice", "long=tokens>2", "--slice", "a=topic=a"]) == 0
    assert "long is tokens > 2" in capsys.readouterr().out
    for folder in (run, run / "baselines" / "majority"):
        assert json.loads((folder / "slices.json").read_text()) == {"long": "tokens > 2", "a": 'topic = "a"'}
    assert main(["score", str(run), "--replicates", "50", "--slice", "a="]) == 0
    assert [key for key in scores(run)["slices"] if "length" not in key] == ["long=yes", "long=rest"]
    assert main(["report", str(run), "--slice", "fine=text~/fine/"]) == 0
    assert "fine=yes" in scores(run)["slices"]
    assert "fine=yes" in scores(run / "baselines" / "majority")["slices"]
    page = (run / "report.html").read_text()
    assert "fine: yes" in page and "long: rest" in page
    assert "Slice long: tokens &gt; 2." in page, "the page says what a slice of one's own means"


def test_a_function_runs_when_the_command_line_names_it_and_never_because_a_file_does(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my_slices.py").write_text(
        "def short(example):\n    return len(example.text['text']) < 12\n\ndef odd(example):\n    return 7\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(own_slices, "_functions", {})
    path = list(sys.path)
    assert main(["score", str(run), "--replicates", "50", "--slice", "short=my_slices:short"]) == 0
    assert {key: part["n"] for key, part in scores(run)["slices"].items() if "short" in key} == {
        "short=yes": 2,
        "short=rest": 2,
    }
    assert sys.path == path
    assert not (run / "slices.json").exists(), "code is not kept"
    # A later process, and a card or slices.json from elsewhere that names it.
    monkeypatch.setattr(own_slices, "_functions", {})
    assert main(["score", str(run), "--replicates", "50"]) == 0
    assert "short=yes" not in scores(run)["slices"]
    sys.modules.pop("my_slices")
    (run / "slices.json").write_text('{"short": "my_slices:short"}')
    capsys.readouterr()
    assert main(["score", str(run)]) == 2
    assert "runs only where the command line names it" in capsys.readouterr().err
    with pytest.raises(Refused, match="runs only where the command line names it"):
        score(own_slices.with_slices(CARD, {"s": "my_slices:short"}), GOLD, SAID, data="films", replicates=50)
    assert "my_slices" not in sys.modules
    monkeypatch.setattr(own_slices, "_functions", {"odd": "my_slices:odd"})
    with pytest.raises(Failed, match="slice odd: my_slices:odd gave 7 on id '0'"):
        score(own_slices.with_slices(CARD, {"odd": "my_slices:odd"}), GOLD, SAID, data="films", replicates=50)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["tokens>200"], "--slice tokens>200: begin with a name of its own: --slice NAME='tokens>200'"),
        (["about.topic=a"], "begin with a name of its own"),
        (["length=tokens>2"], "'length' is a slice of heldout's own"),
        (["a=tokens>2", "a=tokens>3"], "'a' is given twice"),
        (["n=tokens"], "slice n: tokens is a number; compare it, such as tokens>200"),
        (["n=tokens>"], "slice n: 'tokens>': its end"),
    ],
)
def test_what_is_no_slice_is_refused_with_what_to_write(given: list[str], message: str) -> None:
    with pytest.raises(Refused) as error:
        own_slices.from_options(given, list(known()))
    assert message in str(error.value)


def test_a_field_without_examples_and_one_with_too_many_values_are_refused_before_anything_is_kept(run: Path) -> None:
    with pytest.raises(Refused, match="slice t: no example has 'topik'; did you mean topic"):
        own_slices.keep([run], own_slices.from_options(["t=topik=a"]))
    many = [Example(str(n), {"text": "x"}, "positive", {"film": f"f{n}"}) for n in range(60)]
    with pytest.raises(Refused, match=r"slice f: film has 60 values; compare it, such as film=…"):
        own_slices.refuse_idle({"f": "film"}, many)
    with pytest.raises(Refused, match="slice z: no_such_module:f cannot be imported"):
        own_slices.keep([run], {"z": "no_such_module:f"})
    assert not (run / "slices.json").exists()


def test_one_name_with_two_meanings_is_refused_when_runs_are_reported_together(run: Path) -> None:
    (run / "slices.json").write_text('{"long": "tokens>2"}')
    (run / "baselines" / "majority" / "slices.json").write_text('{"long": "tokens>3"}')
    family = own_slices.family([run])
    assert len(family) == 2
    with pytest.raises(Refused, match="slice 'long' is 'tokens > 3', elsewhere 'tokens > 2'"):
        own_slices.keep(family, {})
    own_slices.keep(family, {"long": "tokens > 3"})
    assert [own_slices.read_slices(folder) for folder in family] == [{"long": "tokens > 3"}] * 2


def test_own_parts_are_functions_of_text_and_gold_alone() -> None:
    card = own_slices.with_slices(CARD, {"long": "tokens > 2 or gold = negative"})
    long = next(s for s in chosen(card) if s.name == "long")
    other = [Prediction(p.id, "negative") for p in SAID]
    rows = [parts(long, list(zip(GOLD, said, strict=True))) for said in (SAID, other)]  # type: ignore[arg-type]
    assert rows[0] == rows[1] == {"long=yes": [0, 1], "long=rest": [2, 3]}
