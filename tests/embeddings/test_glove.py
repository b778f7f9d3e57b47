"""GloVe against slow references and the lesson's gradients."""

import math
from collections import Counter as Tally
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heldout.embeddings import cooccurrence
from heldout.embeddings.cooccurrence import ENTRY, count, deal, parts, read_part
from heldout.embeddings.glove import State, start, step, train_glove
from heldout.embeddings.options import VectorOptions
from heldout.embeddings.text import Sentences
from heldout.errors import Failed, Refused
from heldout.lessons import glove as lesson

CORPUS = [
    ["steam", "is", "hot", "and", "gas", "is", "hot"],
    ["ice", "is", "solid", "and", "cold"],
    ["hot", "hot", "steam"],
    ["the", "unseen", "stands", "between", "ice", "and", "cold"],
]
INDEX = {word: row for row, word in enumerate(("is", "hot", "and", "ice", "cold", "steam", "gas", "solid"))}


def slow_counts(corpus: list[list[str]], index: dict[str, int], window: int) -> dict[tuple[int, int], float]:
    """X_ij as it is defined: 1/distance for every ordered pair of places in one sentence, unknown words taken out."""
    found: dict[tuple[int, int], float] = Tally()  # type: ignore[assignment]
    for sentence in corpus:
        rows = [index[word] for word in sentence if word in index]
        for a in range(len(rows)):
            for b in range(len(rows)):
                if a != b and abs(a - b) <= window:
                    found[rows[a], rows[b]] += 1 / abs(a - b)
    return dict(found)


def table(folder: Path) -> dict[tuple[int, int], float]:
    entries = np.concatenate([read_part(path) for path in parts(folder)])
    found = {(int(i), int(j)): float(x) for i, j, x in entries}
    assert len(found) == len(entries)
    return found


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    corpus=st.lists(st.lists(st.sampled_from([*INDEX, "other"]), max_size=12), min_size=1, max_size=12),
    window=st.integers(1, 6),
    limit=st.sampled_from([1, 3, 10, 10_000]),
    block=st.sampled_from([1, 7, 10_000]),
)
def test_co_occurrences_are_the_definitions_whatever_the_memory_allowed(
    tmp_path_factory: pytest.TempPathFactory, corpus: list[list[str]], window: int, limit: int, block: int
) -> None:
    folder, before = tmp_path_factory.mktemp("pairs"), cooccurrence.BLOCK
    cooccurrence.BLOCK = block
    try:
        counter = count(corpus, INDEX, window, folder, limit)
    finally:
        cooccurrence.BLOCK = before
    expected = slow_counts(corpus, INDEX, window)
    if not expected:
        assert not counter.held and not counter.shards
        return
    deal(counter, len(INDEX), folder / "table", 1)
    found = table(folder / "table")
    assert found.keys() == expected.keys()
    assert all(math.isclose(found[pair], expected[pair], abs_tol=1e-12) for pair in expected)
    assert not list(folder.glob("shard*"))


def test_counts_beyond_the_memory_go_to_disk_and_pairs_are_dealt_to_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cooccurrence, "BLOCK", 1)
    monkeypatch.setattr(cooccurrence, "PART", 10)
    counter = count(CORPUS, INDEX, 5, tmp_path, 5)
    assert len(counter.shards) >= 2
    assert deal(counter, len(INDEX), tmp_path / "table", 1) >= 3
    assert len(parts(tmp_path / "table")) >= 3
    expected = slow_counts(CORPUS, INDEX, 5)
    found = table(tmp_path / "table")
    assert found.keys() == expected.keys() and len(expected) > 30
    assert all(math.isclose(found[pair], expected[pair]) for pair in expected)


def slow_train(entries: Any, state: State, batch: int, epochs: int, rate: float) -> list[float]:
    """AdaGrad number by number, in Python's floats; the summed weighted error of each epoch."""
    v, u, vs, us = (array.astype(float).tolist() for array in vars(state).values())
    d, totals = len(v[0]) - 1, []
    for _ in range(epochs):
        total = 0.0
        for at in range(0, len(entries), batch):
            by_v: dict[tuple[int, int], float] = Tally()  # type: ignore[assignment]
            by_u: dict[tuple[int, int], float] = Tally()  # type: ignore[assignment]
            for i, j, x in entries[at : at + batch].tolist():
                error = sum(v[i][k] * u[j][k] for k in range(d)) + v[i][d] + u[j][d] - math.log(x)
                weighted = min(1.0, (x / 100) ** 0.75) * error
                total += weighted * error
                for k in range(d + 1):
                    by_v[i, k] += weighted * (u[j][k] if k < d else 1)
                    by_u[j, k] += weighted * (v[i][k] if k < d else 1)
            for rows, sums, by in ((v, vs, by_v), (u, us, by_u)):
                for (row, k), g in by.items():
                    sums[row][k] += g * g
                    rows[row][k] -= rate * g / math.sqrt(sums[row][k])
        totals.append(total)
    state.v[:], state.u[:] = v, u
    return totals


def toy_entries() -> Any:
    pairs = slow_counts(CORPUS * 9, INDEX, 5)
    entries = np.array([(i, j, x) for (i, j), x in pairs.items()], ENTRY)
    return np.random.default_rng(5).permutation(entries)


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_training_is_the_slow_references_to_a_millionth(batch: int) -> None:
    entries, options = toy_entries(), VectorOptions(kind="glove", batch=batch)
    assert len(entries) > 30
    ours, theirs = start(len(INDEX), 5, 1), start(len(INDEX), 5, 1)
    losses = slow_train(entries, theirs, batch, 20, 0.05)
    found = [
        sum(step(ours, entries[at : at + batch], options) for at in range(0, len(entries), batch)) for _ in range(20)
    ]
    assert np.abs(ours.v - theirs.v).max() < 1e-6
    assert np.abs(ours.u - theirs.u).max() < 1e-6
    assert np.allclose(found, losses, rtol=1e-5)
    assert losses[-1] < 0.9 * losses[0]


def test_one_step_on_all_pairs_is_half_the_lessons_gradient_under_adagrad() -> None:
    begun = lesson.start(26)
    i, j = np.nonzero(lesson.X)
    entries = np.array(list(zip(i, j, lesson.X[i, j], strict=True)), ENTRY)
    wide = [np.column_stack([rows, bias]) for rows, bias in ((begun.v, begun.b), (begun.u, begun.c))]
    ones = np.ones_like(wide[0])
    state: Any = State(wide[0].copy(), wide[1].copy(), ones.copy(), ones.copy())  # type: ignore[arg-type]
    total = step(state, entries, VectorOptions(kind="glove", x_max=5))
    assert total == pytest.approx(lesson.loss(lesson.X, begun, 5), rel=1e-12)
    gradient = lesson.gradients(lesson.X, begun, 5)
    for after, before, by_rows, by_bias in (
        (state.v, wide[0], gradient.v, gradient.b),
        (state.u, wide[1], gradient.u, gradient.c),
    ):
        half = np.column_stack([by_rows, by_bias]) / 2
        assert np.allclose(after, before - 0.05 * half / np.sqrt(1 + half**2), atol=1e-12)


def corpus_file(folder: Path) -> Sentences:
    (folder / "sentences").write_text("".join(" ".join(sentence) + "\n" for sentence in CORPUS * 9))
    return Sentences(folder / "sentences")


def quiet(message: str) -> None:
    pass


def test_a_run_that_was_stopped_ends_as_one_that_was_not(tmp_path: Path) -> None:
    sentences = corpus_file(tmp_path)
    whole, facts = train_glove(sentences, VectorOptions(kind="glove", size=6, epochs=4), tmp_path / "a", quiet)
    half = VectorOptions(kind="glove", size=6, epochs=2)
    train_glove(sentences, half, tmp_path / "b", quiet)
    said: list[str] = []
    resumed, again = train_glove(
        sentences, VectorOptions(kind="glove", size=6, epochs=4), tmp_path / "b", said.append, resume=True
    )
    assert np.array_equal(whole.rows, resumed.rows)
    assert facts["loss_a_pair"] == again["loss_a_pair"] and len(facts["loss_a_pair"]) == 4
    assert [line.split(",")[0] for line in said[1:]] == ["glove: epoch 3 of 4", "glove: epoch 4 of 4"]
    other, _ = train_glove(sentences, VectorOptions(kind="glove", size=6, epochs=4, seed=2), tmp_path / "c", quiet)
    assert not np.allclose(whole.rows, other.rows)


def test_words_stand_by_count_and_a_vector_is_the_sum_of_both_sides(tmp_path: Path) -> None:
    options = VectorOptions(kind="glove", size=3, epochs=1)
    vectors, _ = train_glove(corpus_file(tmp_path), options, tmp_path / "a", quiet)
    assert vectors.counts is not None
    assert vectors.counts.tolist() == sorted(vectors.counts.tolist(), reverse=True)
    assert vectors.words[0] == "hot" or vectors.counts[0] == vectors.counts[vectors.index["hot"]]
    from safetensors.numpy import load_file

    state = load_file(tmp_path / "a" / "state.safetensors")
    assert np.array_equal(vectors.rows, state["v"][:, :-1] + state["u"][:, :-1])


def test_what_cannot_be_trained_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no word occurs 10000 times"):
        train_glove(corpus_file(tmp_path), VectorOptions(kind="glove", min_count=10_000), tmp_path / "a", quiet)
    (tmp_path / "sentences").write_text("one\n" * 9)
    with pytest.raises(Refused, match="no two words"):
        train_glove(Sentences(tmp_path / "sentences"), VectorOptions(kind="glove"), tmp_path / "b", quiet)
    with pytest.raises(Failed, match="lower --learning-rate 1e\\+30"), np.errstate(all="ignore"):
        options = VectorOptions(kind="glove", learning_rate=1e30, epochs=30)
        train_glove(corpus_file(tmp_path), options, tmp_path / "c", quiet)
