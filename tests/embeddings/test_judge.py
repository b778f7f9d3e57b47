"""The judgement of vectors against gensim, scipy, scikit-learn, the lessons and slow counting."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.embeddings import neighbours
from heldout.embeddings.analogies import analogies, answers, read_questions
from heldout.embeddings.neighbours import cosine, crowding, groups, nearest
from heldout.embeddings.pca import draw, project
from heldout.embeddings.similarity import read_pairs, similarity, spearman
from heldout.embeddings.stability import found_in, shared
from heldout.embeddings.vectors import Vectors
from heldout.errors import Refused
from heldout.lessons import analogy
from heldout.lessons import crowding as lesson


def table(n: int, seed: int = 0, size: int = 6) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(n, size)).astype(np.float32)
    return Vectors(tuple(f"w{k}" for k in range(n)), rows, np.arange(n, 0, -1))


def gensims(vectors: Vectors):
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(vectors.rows.shape[1])
    keyed.add_vectors(list(vectors.words), vectors.rows)
    return keyed


def test_neighbours_are_gensims() -> None:
    vectors = table(50)
    keyed = gensims(vectors)
    for word in ("w0", "w31", "w49"):
        ours, theirs = nearest(vectors, word, 7), keyed.most_similar(word, topn=7)
        assert [name for name, _ in ours] == [name for name, _ in theirs]
        assert np.allclose([c for _, c in ours], [c for _, c in theirs], atol=1e-6)
    assert len(nearest(table(3), "w0", 10)) == 2


def test_random_pairs_are_all_pairs_of_the_frequent_words_where_they_are_few() -> None:
    vectors = table(40)
    found = crowding(vectors, 21)
    cosines = [cosine(vectors, f"w{a}", f"w{b}") for a in range(20) for b in range(a + 1, 20)]
    assert (found.words, found.pairs) == (20, 190)
    assert found.mean == pytest.approx(np.mean(cosines), abs=1e-6)
    assert found.p90 == pytest.approx(np.percentile(cosines, 90), abs=1e-6)


def test_a_sample_of_many_pairs_is_close_to_all_and_holds_no_word_with_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = Vectors(tuple("abcd"), np.eye(4, dtype=np.float32), np.array([9, 9, 9, 9]))
    monkeypatch.setattr(neighbours, "ALL_PAIRS_OF", 3)
    monkeypatch.setattr(neighbours, "DRAWN", 5000)
    found = crowding(vectors, 1)
    assert (found.pairs, found.mean, found.p90) == (5000, 0.0, 0.0)
    big = table(300)
    monkeypatch.setattr(neighbours, "ALL_PAIRS_OF", 1000)
    whole = crowding(big, 1)
    monkeypatch.setattr(neighbours, "ALL_PAIRS_OF", 3)
    monkeypatch.setattr(neighbours, "DRAWN", 200_000)
    assert crowding(big, 1).p90 == pytest.approx(whole.p90, abs=0.01)


def test_the_lessons_offset_crowds_vectors_and_the_picture_does_not_show_it() -> None:
    rows = (lesson.CROSS + lesson.OFFSET).astype(np.float32)
    vectors = Vectors(tuple("abcd"), rows, np.ones(4, np.int64))
    assert cosine(vectors, "a", "c") == pytest.approx(lesson.opposite(100), abs=1e-6)
    assert crowding(vectors, 1).mean > 0.99
    assert project(vectors, "abcd").explained == pytest.approx(lesson.explained(lesson.CROSS)[:2], abs=1e-5)


def test_a_small_corpus_is_judged_by_the_most_frequent_words_it_has() -> None:
    found = crowding(table(30), 100)
    assert (found.words, found.min_count) == (20, 11)
    with pytest.raises(Refused, match="of one word"):
        crowding(table(1), 1)
    with pytest.raises(Refused, match="'nobody' has no vector"):
        nearest(table(5), "nobody")


def test_means_within_a_group_leave_a_word_with_itself_out() -> None:
    vectors = table(6)
    found = groups(vectors, {"x": ["w0", "w1", "w2"], "y": ["w3", "w4"]})
    pairs = {("x", "x"): [(0, 1), (0, 2), (1, 2)], ("x", "y"): [(a, b) for a in (0, 1, 2) for b in (3, 4)]}
    pairs |= {("y", "y"): [(3, 4)]}
    assert {(a, b) for a, b, _ in found} == set(pairs)
    for a, b, mean in found:
        assert mean == pytest.approx(np.mean([cosine(vectors, f"w{i}", f"w{j}") for i, j in pairs[a, b]]), abs=1e-6)
    with pytest.raises(Refused, match="has one word"):
        groups(vectors, {"x": ["w0"]})


def test_analogies_are_answered_as_gensim_and_the_definition_answer_them() -> None:
    vectors = table(60, size=4)
    keyed, generator = gensims(vectors), np.random.default_rng(1)
    asked = np.array([generator.choice(60, 3, replace=False) for _ in range(40)])
    add, mul = answers(vectors, asked)
    for (a, b, c), by_add, by_mul in zip(asked, add, mul, strict=True):
        positive, negative = [f"w{b}", f"w{c}"], [f"w{a}"]
        assert keyed.most_similar(positive, negative, topn=1)[0][0] == f"w{by_add}"
        others = [d for d in range(60) if d not in (a, b, c)]
        scale = {d: [(cosine(vectors, f"w{d}", f"w{k}") + 1) / 2 for k in (a, b, c)] for d in others}
        assert max(others, key=lambda d: scale[d][1] * scale[d][2] / (scale[d][0] + 0.001)) == by_mul
    assert any(add != mul)


def test_the_lessons_analogy_is_answered(tmp_path: Path) -> None:
    others = np.random.default_rng(0).normal(size=(50, 4))
    rows = np.array([*analogy.VECTORS.values(), *others], np.float32)
    vectors = Vectors((*analogy.VECTORS, *(f"w{k}" for k in range(50))), rows)
    (tmp_path / "q.txt").write_text(": royal\nMan king woman queen\nman king woman nobody\n: none\nx y z v\n")
    royal, none = analogies(vectors, read_questions(tmp_path / "q.txt"))
    assert (royal.questions, royal.asked, royal.add, royal.mul) == (2, 1, 1, 1)
    assert (none.questions, none.asked) == (1, 0)
    (tmp_path / "q.txt").write_text("man king woman\n")
    with pytest.raises(Refused, match="line 1: 3 words"):
        read_questions(tmp_path / "q.txt")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=12))
def test_spearman_is_scipys_ties_and_all(pairs: list[tuple[int, int]]) -> None:
    from scipy.stats import spearmanr

    a, b = np.array(pairs, float).T
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert np.isnan(spearman(a, b))
    else:
        assert spearman(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)


def test_a_similarity_sets_interval_holds_its_value_and_unknown_pairs_are_counted(tmp_path: Path) -> None:
    vectors, generator = table(40, size=3), np.random.default_rng(0)
    pairs = [(f"W{a}", f"w{b}") for a, b in (generator.choice(40, 2, replace=False) for _ in range(60))]
    rated = [(a, b, cosine(vectors, a, b) + generator.normal() / 4) for a, b in pairs]
    rows = "".join(f"{a}\t{b}\t{value}\n" for a, b, value in rated)
    (tmp_path / "set.tsv").write_text(f"# made up\n{rows}w0\tnobody\t3\n")
    found = similarity(vectors, "set", read_pairs(tmp_path / "set.tsv"))
    assert (found.pairs, found.compared) == (61, 60)
    assert found.rho is not None and found.low is not None and found.high is not None
    assert 0.5 < found.low < found.rho < found.high < 1
    assert similarity(vectors, "set", read_pairs(tmp_path / "set.tsv")[:5]).rho is None
    (tmp_path / "set.tsv").write_text("a\tb\n")
    with pytest.raises(Refused, match="line 1: must be two words and a number"):
        read_pairs(tmp_path / "set.tsv")


def test_the_projection_is_scikit_learns_up_to_sign() -> None:
    from sklearn.decomposition import PCA

    vectors = table(14)
    found = project(vectors, vectors.words)
    pca = PCA(2).fit(vectors.rows.astype(float))
    assert found.explained == pytest.approx(pca.explained_variance_ratio_, abs=1e-9)
    assert np.allclose(abs(found.points), abs(pca.transform(vectors.rows.astype(float))), atol=1e-6)
    with pytest.raises(Refused, match="give three or more"):
        project(vectors, ["w0", "w1", "w0"])


def test_a_picture_says_how_much_it_shows_and_is_the_same_every_time(tmp_path: Path) -> None:
    vectors = table(14)
    for name in ("a.svg", "b.svg"):
        groups_ = {"first": vectors.words[:5], "second": vectors.words[5:8]}
        draw(project(vectors, vectors.words[:8]), groups_, crowding(vectors, 1), tmp_path / name)
    drawn = (tmp_path / "a.svg").read_text()
    assert drawn == (tmp_path / "b.svg").read_text()
    assert f"{sum(project(vectors, vectors.words[:8]).explained):.1%} of the variance shown" in drawn
    assert all(word in drawn for word in (*vectors.words[:8], "first", "second"))
    with pytest.raises(Refused, match="must end in one of"):
        draw(project(vectors, vectors.words), {}, crowding(vectors, 1), tmp_path / "a.gif")


def test_stability_is_the_share_of_neighbours_that_both_find() -> None:
    one, other = table(30, seed=1), table(25, seed=2)
    share, words = shared(one, other, top=4, words=12)
    kept = Vectors(one.words[:25], one.rows[:25])
    slow = [
        len({w for w, _ in nearest(kept, f"w{k}", 4)} & {w for w, _ in nearest(other, f"w{k}", 4)}) / 4
        for k in range(12)
    ]
    assert (share, words) == (pytest.approx(np.mean(slow)), 12)
    assert shared(one, one, top=4) == (1.0, 30)
    first = nearest(one, "w3", 1)[0][0]
    assert found_in({"same": one, "small": table(2)}, "w3", first, 1) == 1
    assert found_in({"small": table(2)}, "w3", first, 1) is None


@pytest.mark.data
def test_the_real_sets_are_read_whole(real_data: Path) -> None:
    folder = real_data / "word_eval_gensim"
    sections = read_questions(folder / "questions-words.txt")
    assert (len(sections), sum(map(len, sections.values()))) == (14, 19_544)
    assert (len(read_pairs(folder / "wordsim353.tsv")), len(read_pairs(folder / "simlex999.txt"))) == (353, 999)


def test_the_account_is_json_and_says_what_stands_in_it(tmp_path: Path) -> None:
    from heldout.embeddings.judge import JudgeOptions, judge, show

    vectors = table(120)
    options = JudgeOptions(word=("w5",), pair=("w1,w2",), group=("g=w1,w2,w3",), frequent=10, top=3)
    account = judge(vectors, options, {"seed=2": table(120, seed=2)}, None)
    text = show(json.loads(json.dumps(account)), vectors)
    assert "w5 (115):" in text and "g among each other" in text and "seed=2" in text
    assert text.count("of 1 runs") == 3
    for wrong in (JudgeOptions(pair=("w1",)), JudgeOptions(group=("g",)), JudgeOptions(passages=("w1",))):
        with pytest.raises(Refused):
            judge(vectors, wrong, {}, None)
