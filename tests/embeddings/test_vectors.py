"""Tables of vectors and their files, against gensim's own reader, writer and hash."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heldout.embeddings.files import read_vectors, write_vectors
from heldout.embeddings.vectors import Grams, Vectors, bucket, ngrams, unit
from heldout.errors import Refused
from heldout.lessons import fasttext

KINDS = [".txt", ".bin", ".safetensors"]
WORD = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=8)


def table(*words: str, size: int = 4, counts: bool = True) -> Vectors:
    rows = np.random.default_rng(len(words)).normal(size=(len(words), size)).astype(np.float32)
    return Vectors(words, rows, np.arange(len(words), 0, -1) if counts else None)


def same(one: Vectors, other: Vectors) -> bool:
    return one.words == other.words and np.array_equal(one.rows, other.rows)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(WORD, min_size=1, max_size=6, unique=True), kind=st.sampled_from(KINDS))
def test_vectors_are_read_as_they_were_written_in_every_format(tmp_path: Path, words: list[str], kind: str) -> None:
    written = table(*words)
    write_vectors(written, tmp_path / f"v{kind}")
    read = read_vectors(tmp_path / f"v{kind}")
    assert same(written, read)
    if kind == ".safetensors":
        assert read.counts is not None and read.counts.tolist() == list(range(len(words), 0, -1))


@pytest.mark.parametrize("kind", [".txt", ".bin"])
def test_gensim_reads_ours_and_we_read_gensims(tmp_path: Path, kind: str) -> None:
    from gensim.models import KeyedVectors

    ours = table("tree", "Bäume", "樹", "don't", size=7)
    write_vectors(ours, tmp_path / f"ours{kind}")
    theirs = KeyedVectors.load_word2vec_format(str(tmp_path / f"ours{kind}"), binary=kind == ".bin")
    assert tuple(theirs.index_to_key) == ours.words
    assert np.array_equal(theirs.vectors, ours.rows)
    theirs.save_word2vec_format(str(tmp_path / f"theirs{kind}"), binary=kind == ".bin")
    assert same(read_vectors(tmp_path / f"theirs{kind}"), ours)


def test_a_text_file_without_its_first_line_is_read_as_gloves_are(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("the 0.5 1\nof -1 2e-1\n")
    found = read_vectors(tmp_path / "v.txt")
    assert found.words == ("the", "of")
    assert found.rows.tolist() == [[0.5, 1.0], [-1.0, np.float32(0.2)]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.txt", b"2 2\nthe 1 2\nof 1\n", "line 3: 1 numbers after"),
        ("v.txt", b"the 1 x\n", "line 1: not a word and its numbers"),
        ("v.txt", b"a 1\na 2\n", "'a' stands in it twice"),
        ("v.txt", b"a 1 nan\n", "row of 'a' holds no finite numbers"),
        ("v.txt", b"", "holds no vectors"),
        ("v.bin", b"2 2\na \0\0\0\0\0\0\0\0b \0\0", "ends or breaks at word 2 of 2"),
        ("v.bin", b"many words", "does not begin with the numbers"),
        ("v.safetensors", b"no", "not the vectors of heldout embed train"),
        ("v.model", b"\x80\x04.", "a pickle could run any code"),
        ("v.txt.gz", b"a 1", "cannot be read"),
    ],
)
def test_a_broken_file_is_refused_in_one_line_that_names_it(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Refused, match=message) as refused:
        read_vectors(tmp_path / name)
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_and_a_folder_without_vectors_are_refused(tmp_path: Path) -> None:
    write_vectors(table("a", "b"), tmp_path / "vectors.bin")
    with pytest.raises(Refused, match=r"did you mean vectors\.bin"):
        read_vectors(tmp_path / "vector.bin")
    with pytest.raises(Refused, match=r"holds no vectors.safetensors"):
        read_vectors(tmp_path)


def test_ngrams_are_those_of_the_lesson_and_their_hash_is_gensims() -> None:
    from gensim.models.fasttext import ft_hash_bytes

    grams = Grams(np.zeros((10, 2), np.float32), 3, 6)
    words = ["where", "banana", "é", "Ünïcode", "日本語"]
    for word in words:
        assert list(ngrams(word, grams)) == fasttext.ngrams(word)
    found = [gram for word in words for gram in ngrams(word, grams)]
    assert len(found) > 40
    assert [bucket(gram, 1000) for gram in found] == [ft_hash_bytes(gram.encode()) % 1000 for gram in found]


def test_a_word_is_found_as_it_is_written_then_in_lower_case() -> None:
    vectors = table("paris", "Rome")
    assert (vectors.find("Paris"), vectors.find("paris"), vectors.find("Rome")) == (0, 0, 1)
    assert vectors.find("rome") is None
    assert vectors.vector("rome") is None


def test_a_row_of_zeros_has_no_direction_and_stays_one() -> None:
    assert unit(np.array([[0, 0], [3, 4]], np.float32)).tolist() == [[0, 0], [np.float32(0.6), np.float32(0.8)]]
