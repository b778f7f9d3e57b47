"""heldout embed: train, judge, compare, probe as a person calls them."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from heldout.cli import main
from heldout.embeddings.files import read_vectors

WORDS = [
    "the",
    "a",
    "boat",
    "river",
    "sail",
    "lamp",
    "hill",
    "mill",
    "on",
    "near",
    "with",
    "under",
    "old",
    "slow",
    "bright",
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    generator = random.Random(2)
    path = tmp_path_factory.mktemp("corpus") / "boats.txt"
    lines = (" ".join(generator.choices(WORDS, k=12)).capitalize() + "." for _ in range(80))
    path.write_text("\n\n".join(lines))
    return path


def embed(*words: object) -> int:
    return main(["embed", *map(str, words)])


def test_training_judges_at_once_and_judge_says_the_same_again(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "vectors"
    asked = ["--word", "boat", "--passages", "mill", "--frequent", 5, "--top", 3]
    words = [
        "train",
        corpus,
        "--kind",
        "cbow",
        "--size",
        8,
        "--min-count",
        2,
        "--again",
        "seed=2",
        "--again",
        "window=2",
    ]
    assert embed(*words, "--save-as", tmp_path / "v.bin", "--out", out, *asked) == 0
    trained = capsys.readouterr().out
    assert "15 words from 960" in trained and "words a second" in trained
    assert "boat (" in trained and "of 2 runs" in trained and "window=2" in trained and "mill stands in" in trained
    assert embed("judge", out, *asked) == 0
    assert capsys.readouterr().out in trained
    assert {path.name for path in out.iterdir()} >= {"options.json", "training.json", "vectors.safetensors"}
    assert json.loads((out / "run.json").read_text())["state"] == "done"
    assert embed("judge", tmp_path / "v.bin", "--word", "boat", "--json") == 0
    account = json.loads(capsys.readouterr().out)
    assert account["words"] == 15 and account["random_pairs"]["min_count"] is None
    assert np.array_equal(read_vectors(tmp_path / "v.bin").rows, read_vectors(out).rows)


def test_a_stopped_glove_is_continued_and_only_as_it_was_begun(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from heldout.embeddings import glove

    words = ["train", corpus, "--kind", "glove", "--size", 4, "--epochs", 3, "--frequent", 5]
    assert embed(*words, "--out", tmp_path / "whole") == 0
    keep, kept = glove._keep, []

    def killed(path: Path, state: glove.State, losses: list[float]) -> None:
        keep(path, state, losses)
        kept.append(path)
        if len(losses) == 2 and len(kept) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(glove, "_keep", killed)
    assert embed(*words, "--out", tmp_path / "cut") == 130
    capsys.readouterr()
    assert embed(*words[:-2], "--seed", 9, "--out", tmp_path / "cut", "--resume") == 2
    assert "was begun with --seed 1" in capsys.readouterr().err
    assert embed(*words, "--out", tmp_path / "cut", "--resume") == 0
    assert "epoch 3 of 3" in (said := capsys.readouterr().err) and "epoch 2 of 3" not in said
    assert np.array_equal(read_vectors(tmp_path / "whole").rows, read_vectors(tmp_path / "cut").rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "CORPUS"], "needs --out DIR"),
        (["train", "none.txt", "--out", "OUT"], "none.txt: no such file"),
        (["train", "CORPUS", "--min-count", 999, "--out", "OUT"], "no word occurs 999 times"),
        (["train", "CORPUS", "--resume", "--out", "OUT"], "as a pickle only"),
        (["judge", "CORPUS"], "boats.txt, line 1"),
        (["judge", "CORPUS", "--window", 3], "--window is for train"),
        (["judge", "a", "b"], "takes one table of vectors, not 2"),
        (["compare", "MODEL"], "needs one MODEL, one --word and --sentences"),
        (["probe", "MODEL"], "needs one MODEL and --data"),
    ],
)
def test_a_wrong_call_is_one_line_that_says_what_to_do(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[object], message: str
) -> None:
    known: dict[object, object] = {"CORPUS": corpus, "OUT": tmp_path / "out"}
    assert embed(*(known.get(word, word) for word in words)) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert message in said[-1]


def test_without_gensim_glove_still_trains_and_the_rest_says_what_to_install(corpus: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked" / "gensim"
    blocked.mkdir(parents=True)
    (blocked / "__init__.py").write_text("raise ModuleNotFoundError('gensim')")
    code = (
        "import sys; from heldout.cli import main; out = sys.argv[2];"
        "bad = main(['embed', 'train', sys.argv[1], '--out', out]);"
        "fine = main(['embed', 'train', sys.argv[1], '--kind', 'glove', '--frequent', '5', '--out', out]);"
        "print('status', bad, fine, 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(corpus), str(tmp_path / "out")],
        env={**os.environ, "PYTHONPATH": str(blocked.parent)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "status 2 0 False", done.stderr
    assert "pip install 'heldout[embeddings]'" in done.stderr


def test_compare_shows_one_static_row_and_as_many_states_as_sentences(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.txt").write_text("the plot is lovely\nA dull song, but the Plot!\nplot\n")
    assert embed("compare", tiny_model, "--word", "plot", "--sentences", tmp_path / "s.txt", "--json") == 0
    account = json.loads(capsys.readouterr().out)
    static, *layers = account["layers"]
    assert account["static_equal"] and static["mean"] == pytest.approx(1, abs=1e-6)
    assert len(layers) == 3
    assert all(row["lowest"] < 0.999 for row in layers)
    assert np.allclose(np.diag(account["last"]), 1, atol=1e-5)
    assert embed("compare", tiny_model, "--word", "plot", "--sentences", tmp_path / "s.txt") == 0
    assert "is the same row in all of them" in capsys.readouterr().out
    (tmp_path / "s.txt").write_text("the plot\nthe plots\n")
    assert embed("compare", tiny_model, "--word", "plot", "--sentences", tmp_path / "s.txt") == 2
    assert "sentence 2: 'plot' does not stand in it" in capsys.readouterr().err


def test_a_words_states_are_those_of_the_model_itself(tiny_model: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    from heldout.checks.contextual import compare

    (tmp_path / "s.txt").write_text("the plot is lovely\na dull plot\n")
    account = compare(str(tiny_model), "plot", tmp_path / "s.txt")
    model, tokenizer = AutoModel.from_pretrained(tiny_model).eval(), AutoTokenizer.from_pretrained(tiny_model)
    states = []
    for line, place in (("the plot is lovely", 2), ("a dull plot", 3)):
        with torch.inference_mode():
            states.append(model(**tokenizer(line, return_tensors="pt")).last_hidden_state[0, place])
    assert account["last"][0][1] == pytest.approx(torch.cosine_similarity(*states, dim=0).item(), abs=1e-5)


def test_a_probe_finds_what_the_embeddings_hold_and_not_what_is_random(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = random.Random(1)
    nouns, rest = ["film", "plot", "scene", "song"], ["the", "a", "with", "its"]
    lines = []
    for _ in range(60):
        for word in generator.choices([*nouns, *rest], k=6):
            lines.append(f"{word}\t{'N' if word in nouns else 'X'}")
        lines.append("")
    (tmp_path / "pos.conll").write_text("\n".join(lines))
    assert embed("probe", tiny_model, "--task", "pos", "--data", tmp_path / "pos.conll", "--json") == 0
    account = json.loads(capsys.readouterr().out)
    assert (account["trained_on"], account["scored"]) == (270, 90)
    assert [row["layer"] for row in account["layers"]] == [0, 1, 2]
    assert account["layers"][0]["accuracy"] > 0.95 > account["majority"] + 0.2
    tags = [f"{line.split(chr(9))[0]}\t{generator.choice('NX')}" if line else "" for line in lines]
    (tmp_path / "noise.conll").write_text("\n".join(tags))
    assert embed("probe", tiny_model, "--task", "pos", "--data", tmp_path / "noise.conll", "--json") == 0
    assert json.loads(capsys.readouterr().out)["layers"][0]["accuracy"] < 0.7


def test_probes_of_entities_and_of_texts_read_their_own_formats(
    tiny_model: Path, reviews_csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert embed("probe", tiny_model, "--task", "sentiment", "--data", reviews_csv) == 0
    assert "sentiment: probes trained on 72 answers, scored on 24" in capsys.readouterr().out
    rows = [f"{word} B-{kind}\nis O\n" for word, kind in [("film", "thing"), ("actor", "person")] for _ in range(30)]
    (tmp_path / "ner.conll").write_text("\n".join(rows))
    assert embed("probe", tiny_model, "--task", "ner", "--data", tmp_path / "ner.conll", "--json") == 0
    account = json.loads(capsys.readouterr().out)
    assert (account["trained_on"], account["scored"]) == (45, 15)
    assert account["layers"][0]["accuracy"] == 1
    (tmp_path / "ner.conll").write_text("\n".join(rows[:9]))
    assert embed("probe", tiny_model, "--task", "ner", "--data", tmp_path / "ner.conll") == 2
    assert "a probe needs 40 or more" in capsys.readouterr().err


def test_pretraining_begins_with_static_vectors_and_says_for_how_many_tokens(
    tiny_model: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from safetensors.numpy import load_file
    from transformers import AutoTokenizer

    from heldout.embeddings.files import write_vectors
    from heldout.embeddings.vectors import Vectors

    rows = np.random.default_rng(0).normal(size=(2, 128)).astype(np.float32)
    write_vectors(Vectors(("plot", "nobody"), rows), tmp_path / "v.bin")
    call = ["pretrain", "--corpus", str(corpus), "--tokenizer", str(tiny_model), "--preset", "tiny", "--init-only"]
    call += ["--held-out", "0.2", "--max-length", "32"]
    assert main([*call, "--embeddings", str(tmp_path / "v.bin"), "--out", str(tmp_path / "a")]) == 0
    assert "1 of " in capsys.readouterr().err
    assert main([*call, "--out", str(tmp_path / "b")]) == 0
    name = "bert.embeddings.word_embeddings.weight"
    with_, without = (load_file(tmp_path / run / "model" / "model.safetensors")[name] for run in "ab")
    token = AutoTokenizer.from_pretrained(tiny_model).convert_tokens_to_ids("plot")
    changed = np.flatnonzero((with_ != without).any(axis=1)).tolist()
    assert changed == [token]
    assert with_[token] @ rows[0] / np.linalg.norm(with_[token]) / np.linalg.norm(rows[0]) == pytest.approx(1, abs=1e-5)
