"""Texts as vectors, the baseline of them, and an encoder's table that begins with them."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from heldout.baselines import BASELINES, BaselineOptions
from heldout.embeddings.features import A, How, fit_features
from heldout.embeddings.files import write_vectors
from heldout.embeddings.table import begin_with
from heldout.embeddings.vectors import Vectors
from heldout.errors import Refused
from heldout.records import Card, Example

WORDS = ("dull", "bright", "film", "scene", "a", "unused")
ROWS = np.random.default_rng(4).normal(size=(6, 5)).astype(np.float32)
VECTORS = Vectors(WORDS, ROWS)
TEXTS = [["a", "dull", "film", "a"], ["a", "bright", "scene"], ["unknown"], ["bright", "bright", "film"]]
NEW = [["bright", "scene", "nobody"], []]
CARD = Card("films", "1", "label", ("negative", "positive"), ("accuracy", "nll"))


def slow(texts: list[list[str]], how: How, fitted: list[list[str]]) -> np.ndarray:
    """The definitions, word by word."""
    counts = Counter(word for text in fitted for word in text if word in WORDS)
    rows = []
    for text in texts:
        known = [word for word in text if word in WORDS]
        weight = {
            "mean": lambda w: 1.0,
            "idf": lambda w: math.log((1 + len(fitted)) / (1 + sum(w in text for text in fitted))) + 1,
            "sif": lambda w: A / (A + counts[w] / counts.total()),
        }[how]
        total = sum((weight(word) * ROWS[WORDS.index(word)].astype(float) for word in known), np.zeros(5))
        rows.append(total / ((sum(map(weight, known)) if how == "idf" else len(known)) or 1))
    return np.array(rows)


@pytest.mark.parametrize("how", ["mean", "idf", "sif"])
def test_pooling_is_as_it_is_defined_and_fitted_on_its_own_texts_alone(how: How) -> None:
    features = fit_features(VECTORS, TEXTS, how)
    expected = slow(NEW, how, TEXTS)
    if how == "sif":
        u = np.linalg.svd(slow(TEXTS, how, TEXTS))[2][0]
        expected = expected - np.outer(expected @ u, u)
        assert np.allclose(features.of(TEXTS) @ u, 0, atol=1e-6)
    assert np.allclose(features.of(NEW), expected, atol=1e-6)
    assert np.allclose(features.of(NEW[:1]), features.of(NEW)[:1], atol=1e-7)
    assert not features.of(NEW)[1].any()


def test_weights_of_the_three_poolings_differ() -> None:
    found = [fit_features(VECTORS, TEXTS, how).of(NEW)[0] for how in ("mean", "idf", "sif")]
    assert not np.allclose(found[0], found[1]) and not np.allclose(found[0], found[2])


def films(n: int, seed: int) -> list[Example]:
    generator, found = np.random.default_rng(seed), []
    for number in range(n):
        label = ("negative", "positive")[number % 2]
        opinion = {"negative": ["dull", "noisy", "stale"], "positive": ["bright", "tender", "witty"]}[label]
        text = [str(generator.choice(opinion)), *map(str, generator.choice(["film", "scene", "song", "plot"], 3))]
        found.append(Example(f"{seed}:{number}", {"text": " ".join(text)}, label))
    return found


def test_static_learns_what_words_say_from_its_own_vectors_or_those_of_a_file(tmp_path: Path) -> None:
    train, dev, test = films(80, 1), films(20, 2), films(40, 3)
    fitted = BASELINES["static"].fit(train, dev, CARD, 1, BaselineOptions())
    said = fitted.predict(test)
    assert sum(one.answer == example.gold for one, example in zip(said, test, strict=True)) >= 36
    assert set(fitted.chosen_on_dev) == {"C"}
    opinions = ("dull", "noisy", "stale", "bright", "tender", "witty")
    write_vectors(Vectors(opinions, np.eye(6, dtype=np.float32)), tmp_path / "v.txt")
    given = BASELINES["static"].fit(train, dev, CARD, 1, BaselineOptions(vectors=tmp_path / "v.txt", pooling="mean"))
    assert [one.answer for one in given.predict(test)] == [example.gold for example in test]
    write_vectors(Vectors(("other", "words"), np.eye(2, dtype=np.float32)), tmp_path / "w.txt")
    with pytest.raises(Refused, match="no word of train has a vector"):
        BASELINES["static"].fit(train, dev, CARD, 1, BaselineOptions(vectors=tmp_path / "w.txt"))


def test_static_of_a_pair_sees_what_its_sides_share(tmp_path: Path) -> None:
    """The label is whether both sides have the same word: neither side alone tells."""
    card = Card("pairs", "1", "label", ("same", "other"), ("accuracy", "nll"))
    names = ["oak", "elm", "ash", "fir"]
    generator = np.random.default_rng(0)
    rows = []
    for number in range(120):
        p, h = generator.choice(4, 2)
        texts = {"premise": f"an {names[p]}", "hypothesis": f"one {names[h if number % 2 else p]}"}
        rows.append(Example(str(number), texts, "same" if texts["premise"][3:] == texts["hypothesis"][4:] else "other"))
    write_vectors(Vectors(tuple(names), np.eye(4, dtype=np.float32)), tmp_path / "v.txt")
    options = BaselineOptions(vectors=tmp_path / "v.txt", pooling="mean")
    said = BASELINES["static"].fit(rows[:80], rows[80:100], card, 1, options).predict(rows[100:])
    assert [one.answer for one in said] == [row.gold for row in rows[100:]]


def test_an_encoders_table_begins_with_the_vectors_of_tokens_that_are_words() -> None:
    drawn = np.random.default_rng(1).normal(size=(9, 5)).astype(np.float32) / 50
    tokens = {"[PAD]": 0, "dull": 1, "##film": 2, "Ġbright": 3, "▁scene": 4, "A": 5, "ing": 6, "Ġ": 7}
    table = drawn.copy()
    found = begin_with(table, tokens, VECTORS, "v")
    assert found.tolist() == [False, True, False, True, True, True, False, False, False]
    assert np.array_equal(table[~found], drawn[~found])
    static = ROWS[[0, 1, 3, 4]]
    scale = table[found] / static
    assert np.allclose(scale, scale[0, 0], rtol=1e-4)
    assert np.linalg.norm(table[found], axis=1).mean() == pytest.approx(
        np.linalg.norm(drawn[found], axis=1).mean(), rel=1e-4
    )


def test_a_table_of_another_width_or_language_is_refused() -> None:
    with pytest.raises(Refused, match="has 5 dimensions and the model 8"):
        begin_with(np.zeros((3, 8), np.float32), {"dull": 0}, VECTORS, "v")
    with pytest.raises(Refused, match="none of the tokenizer's 1 tokens"):
        begin_with(np.zeros((3, 5), np.float32), {"##dull": 0}, VECTORS, "v")
