"""What a baseline learnt from texts is kept, and answers the same another time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heldout.baselines import BASELINES, BaselineOptions, answer_later, static, write_baseline_run
from heldout.baselines._kept import NAME, Kept, keep, read_kept
from heldout.baselines._later import _learnt
from heldout.data.prepare import PrepareOptions, prepare
from heldout.embeddings.options import VectorOptions
from heldout.embeddings.text import Sentences
from heldout.embeddings.vectors import Vectors
from heldout.errors import Refused
from heldout.records import Card, Example, read_predictions

CARD = Card("films", "1", "label", ("negative", "positive", "mixed"), ("accuracy", "nll"))
OPINIONS = {"negative": "dull flat", "positive": "bright warm", "mixed": "odd, slow"}
KINDS = sorted(kind for kind, baseline in BASELINES.items() if baseline.learns == "texts" and baseline.again)


def examples(n: int, labels: int = 3) -> list[Example]:
    """Texts with all the fields that some baseline reads."""
    found = []
    for i in range(n):
        label = CARD.labels[i % labels]
        text = f"a {OPINIONS[label]} film number {i % 7} with a plot ünd {i % 5} scenes"
        found.append(Example(f"e{i}", {"text": text, "premise": text, "hypothesis": text[i % 9 :]}, label))
    return found


def test_all_that_learn_the_texts_of_labels_are_looked_at() -> None:
    assert KINDS == ["hypothesis-only", "static", "tfidf", "word-overlap"]


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_kept_answers_as_what_was_fitted(kind: str, labels: int, tmp_path: Path) -> None:
    baseline, new = (
        BASELINES[kind],
        [*examples(9), Example("none", dict.fromkeys(("text", "premise", "hypothesis"), ""), "mixed")],
    )
    fitted = baseline.fit(examples(60, labels), examples(20, labels), CARD, 3, BaselineOptions())
    assert fitted.kept is not None and baseline.again is not None
    keep(tmp_path / NAME, fitted.kept)
    again = baseline.again(read_kept(tmp_path / NAME), CARD)
    assert again.predict(new) == fitted.predict(new)
    assert len({prediction.answer for prediction in fitted.predict(new)}) > 1
    assert again.predict([]) == []


def test_vectors_of_the_users_own_are_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "own.vec"
    path.write_text("dull 1 0\nbright 0 1\nslow 1 1\nfilm 1 2\n")
    fitted = BASELINES["static"].fit(examples(60), examples(20), CARD, 3, BaselineOptions(vectors=path))
    assert fitted.kept is None


def test_a_run_keeps_it_and_answers_cases_that_come_later(tmp_path: Path) -> None:
    rows = [f"{e.text['text']}\t{e.gold}" for e in examples(120, 2)]
    (tmp_path / "train.tsv").write_text("\n".join(["text\tlabel", *rows[:100]]))
    (tmp_path / "test.tsv").write_text("\n".join(["text\tlabel", *rows[100:]]))
    run, sources = tmp_path / "run", {"train": str(tmp_path / "train.tsv"), "dev": str(tmp_path / "test.tsv")}
    prepared = prepare(
        "sentiment",
        **sources,
        tests={"t": str(tmp_path / "test.tsv")},
        options=PrepareOptions(allow_fitted_test=True),
        seed=1,
    )
    prepared.write(run)
    write_baseline_run(run / "baselines" / "tfidf", "tfidf", prepared, seed=1, run_options={"task": "sentiment"})
    assert (run / "baselines" / "tfidf" / NAME).stat().st_size > 0
    test = prepared.splits["t"].examples
    assert answer_later(run, "later", test) == ["tfidf"]
    before, after = (
        read_predictions(run / "baselines" / "tfidf" / "predictions" / f"{name}.jsonl", prepared.card)
        for name in ("t", "later")
    )
    assert before == after and len(after) == 20


def test_a_file_that_is_none_or_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"no tensors")
    with pytest.raises(Refused, match="not what a baseline keeps"):
        read_kept(path)
    keep(path, Kept({}, ["a", "b c"], {"labels": ["x"]}))
    assert read_kept(path) == Kept({}, ["a", "b c"], {"labels": ["x"]})
    path.write_bytes(path.read_bytes().replace(b"baselines 1", b"baselines 9"))
    with pytest.raises(Refused, match=r"of another format than heldout\.baselines 1"):
        read_kept(path)


def test_without_gensim_static_says_how_to_get_it_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "find_spec", lambda name: None)
    with pytest.raises(
        Refused, match=r"^static: learns its word vectors with gensim; pip install 'heldout\[embeddings\]'$"
    ):
        BASELINES["static"].fit(examples(60), examples(20), CARD, 3, BaselineOptions())


@pytest.mark.parametrize(
    ("texts", "passes", "read"),
    [(100, 10, 100), (400, 5, 400), (3_000, 1, 1_500)],
)
def test_the_vectors_of_train_are_read_for_about_as_many_words_whatever_its_size(
    texts: int, passes: int, read: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int | None, int]] = []

    def train(sentences: Sentences, options: VectorOptions, say: object) -> Vectors:
        seen.append((options.epochs, sum(1 for _ in sentences)))
        return Vectors((), static.np.zeros((0, 1), static.np.float32))

    monkeypatch.setattr(static, "train_gensim", train)
    monkeypatch.setattr(static, "READ", 20_000)
    static.own_vectors([Example(str(k), {"text": "a " * 10}, None) for k in range(texts)], seed=1)
    assert seen == [(passes, read)]


def test_of_too_many_pairs_whole_ones_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()

    def train(sentences: Sentences, options: VectorOptions, say: object) -> Vectors:
        seen.update(word for sentence in sentences for word in sentence)
        return Vectors((), static.np.zeros((0, 1), static.np.float32))

    monkeypatch.setattr(static, "train_gensim", train)
    monkeypatch.setattr(static, "READ", 100)
    pair = {"premise": "dog " * 5, "hypothesis": "animal " * 5}
    static.own_vectors([Example(str(k), pair, None) for k in range(20)], seed=1)
    assert seen == {"dog", "animal"}


@pytest.mark.parametrize(
    ("arrays", "about"),
    [
        ({"coefficients": np.full((1, 2), np.nan), "intercepts": np.zeros(1)}, {"labels": ["negative", "positive"]}),
        ({"intercepts": np.zeros(1), "idf": np.ones(2)}, {"labels": ["negative", "positive"]}),
        ({"coefficients": np.zeros((1, 2)), "intercepts": np.zeros(1), "idf": np.ones(5)}, {"labels": ["x", "y"]}),
    ],
)
def test_what_no_such_baseline_keeps_is_refused_with_its_file(arrays: Any, about: Any, tmp_path: Path) -> None:
    keep(tmp_path / NAME, Kept(arrays, ["dull", "bright"], about))
    again = BASELINES["tfidf"].again
    assert again is not None
    with pytest.raises(Refused, match=rf"{NAME}: .*fit it again"):
        _learnt(tmp_path / NAME, again, CARD)
