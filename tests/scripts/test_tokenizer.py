import json

import pytest

from heldout.cli import main

TEXT = "The owls hoot at night.\nThe bats fly at night, and the owls look on.\n" * 20


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "owls.txt"
    path.write_text(TEXT)
    return str(path)


def train(text, out, *more):
    return main(["tokenizer", "train", text, "--kind", "wordpiece", "--vocab-size", "60", "--out", str(out), *more])


def test_training_says_what_it_made_and_two_trainings_write_the_same_bytes(text, tmp_path, capsys):
    assert train(text, tmp_path / "a") == 0
    shown = capsys.readouterr().out
    assert "a: wordpiece, 60 tokens: 5 special" in shown
    assert "[UNK] is 0.00 % of the corpus' tokens" in shown
    assert train(text, tmp_path / "b") == 0
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["tokenizer.json", "tokenizer_config.json", "training.json"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_training_prints_its_facts_as_json(text, tmp_path, capsys):
    assert train(text, tmp_path / "a", "--json", "--lowercase") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts == json.loads((tmp_path / "a" / "training.json").read_text())
    assert facts["corpus"]["sources"] == [text]
    assert facts["options"]["lowercase"] is True


def test_a_corpus_too_small_for_the_vocabulary_is_said(text, tmp_path, capsys):
    arguments = ["tokenizer", "train", text, "--kind", "bpe", "--vocab-size", "5000", "--out", str(tmp_path / "a")]
    assert main(arguments) == 0
    assert "asked for 5,000 tokens, but no more pairs" in capsys.readouterr().out


def test_inspect_shows_tokenizers_side_by_side_by_corpus(text, tmp_path, capsys):
    train(text, tmp_path / "small")
    train(text, tmp_path / "lower", "--lowercase")
    other = tmp_path / "bats.jsonl"
    other.write_text('{"text": "bats hoot ж"}\n{"text": null}\n')
    capsys.readouterr()
    folders = [str(tmp_path / "small"), str(tmp_path / "lower")]
    corpora = ["--corpus", text, str(other), "--documents", "owls:line"]
    assert main(["tokenizer", "inspect", *folders, *corpora]) == 0
    shown = capsys.readouterr().out
    rows = [line.split()[:3] for line in shown.splitlines()]
    for corpus, documents in (("owls", "40"), ("bats", "1"), ("all", "41")):
        for name in ("small", "lower"):
            assert [corpus, name, documents] in rows
    assert "left out: rows without text 1" in shown
    assert main(["tokenizer", "inspect", *folders, *corpora, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found["tokenizers"]) == folders
    assert found["tokenizers"][folders[0]]["domains"]["bats"]["unknown_tokens"] == 1
    assert found["left_out"] == {"rows_without_text": 1}


@pytest.mark.parametrize(
    "words, message",
    [
        (["train", "TEXT"], "needs --out DIR"),
        (["train", "TEXT", "--out", "x", "--kind", "bpe"], "needs --vocab-size N"),
        (["train", "TEXT", "--out", "x", "--corpus", "TEXT"], "--corpus is for inspect"),
        (["inspect", "x"], "needs --corpus CORPUS"),
        (["inspect", "x", "--corpus", "TEXT", "--kind", "bpe"], "--kind is for train"),
        (["inspect", "./x", "--corpus", "TEXT"], "./x: no such tokenizer folder"),
        (["inspect", "TEXT", "--corpus", "TEXT"], "needs DIR: a tokenizer's folder"),
        (["look", "TEXT"], "invalid choice"),
    ],
)
def test_a_wrong_call_is_one_line_and_status_2(text, tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(["tokenizer", *(text if word == "TEXT" else word for word in words)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert message in err


def test_an_out_that_is_taken_is_refused_before_training(text, tmp_path, capsys):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "notes").write_text("mine")
    assert train(text, tmp_path / "a") == 2
    assert "is there already" in capsys.readouterr().err
