"""Probes of layers: what is scored, and that context is needed where a word alone says nothing."""

from pathlib import Path

import pytest

from heldout.checks.layers import Asked, _columns, _parts, probe
from heldout.cli import main


def test_texts_of_one_group_are_scored_together_or_not_at_all() -> None:
    asked = _columns("", 1000, seed=3)
    trained, scored = _parts(asked, seed=3)
    assert len(trained) + len(scored) == len(asked) == 1000 and 200 < len(scored) < 300
    assert not {one.group for one in trained} & {one.group for one in scored}
    alone = [Asked((str(k),), {-1: "x"}) for k in range(40)]
    assert [len(part) for part in _parts(alone, seed=3)] == [30, 10]


def test_a_word_that_is_noun_or_verb_is_told_by_context_alone(tiny_model: Path) -> None:
    account = probe(str(tiny_model), "pos", "", limit=400, seed=1)
    assert account["trained_on"] + account["scored"] == 400 and 0.35 < account["majority"] < 0.65
    assert [row["layer"] for row in account["layers"]] == [0, 1, 2]
    assert all(row["low"] <= row["accuracy"] <= row["high"] for row in account["layers"])


def test_ours_are_asked_where_no_file_is_named(tiny_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["embed", "probe", str(tiny_model), "--task", "pos", "--limit", "100"]) == 0
    assert capsys.readouterr().out.startswith("pos: probes trained on ")
    assert main(["embed", "probe", str(tiny_model), "--task", "ner"]) == 2
    assert "--data SOURCE: labelled examples" in capsys.readouterr().err
