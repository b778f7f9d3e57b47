"""A small corpus of made-up words full of ties, and tokenizers of each kind trained on it."""

import random

import pytest

KINDS = ("wordpiece", "bpe", "byte-bpe")


def made_up(seed, texts):
    """Texts of words over few letters, so that many pairs are seen equally often."""
    generator = random.Random(seed)
    words = ["".join(generator.choice("aeéntrs") for _ in range(generator.randint(1, 8))) for _ in range(150)]
    return [
        " ".join(generator.choice(words) for _ in range(generator.randint(3, 25))) + generator.choice(".!?")
        for _ in range(texts)
    ]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """A text file, a document a line."""
    path = tmp_path_factory.mktemp("corpus") / "made-up.txt"
    path.write_text("\n".join(made_up(1, 300)) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def folders(corpus, tmp_path_factory):
    """A saved tokenizer of each kind, by kind."""
    from heldout.cli import main

    found = {kind: tmp_path_factory.mktemp("tokenizers") / kind for kind in KINDS}
    for kind, folder in found.items():
        size = "400" if kind == "byte-bpe" else "150"
        assert (
            main(["tokenizer", "train", str(corpus), "--kind", kind, "--vocab-size", size, "--out", str(folder)]) == 0
        )
    return found
