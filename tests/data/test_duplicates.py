import json
import re
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.data import duplicates, shingles
from heldout.data.duplicates import connect, counted, find, fold, matches, repeats
from heldout.data.shingles import near_pairs

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), max_size=14).map(" ".join)


def triples(text):
    words = re.findall(r"\w+", text)
    return {tuple(words[n : n + 3]) for n in range(len(words) - 2)}


def jaccard(a, b):
    a, b = triples(a), triples(b)
    return len(a & b) / len(a | b) if a or b else 0.0


@settings(deadline=None, max_examples=300)
@given(st.lists(WORDS, max_size=12), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_near_pairs_are_those_of_comparing_everything_with_everything(texts, threshold):
    oracle = [(i, j) for i, j in combinations(range(len(texts)), 2) if jaccard(texts[i], texts[j]) >= threshold]
    assert [tuple(pair) for pair in near_pairs(texts, threshold).tolist()] == oracle


@pytest.mark.parametrize(("n", "crowd"), [(1, 1000), (60, 1000), (60, 20)])
def test_a_crowd_made_from_one_template_is_one_cluster_with_or_without_the_bound(monkeypatch, n, crowd):
    monkeypatch.setattr(shingles, "CROWD", crowd)
    monkeypatch.setattr(shingles, "HEADS", 3)
    monkeypatch.setattr(shingles, "CHUNK", 7)
    texts = [f"the very same words about thing number {number} and no more to say of it at all" for number in range(n)]
    assert len(set(find(texts).cluster.tolist())) == 1
    assert len(near_pairs(texts)) == (n * (n - 1) // 2 if n <= crowd else 3 * n - 6)


@pytest.mark.parametrize(
    "other",
    [
        "A FINE film, & more",
        "a fine  film,\n&\tmore ",
        "A fine<br />film, &amp; more",
        "<p>A <b>fine</b> film, & more</p>",
    ],
)
def test_case_white_space_and_markup_are_folded(other):
    assert fold(other) == fold("A fine film, & more")


def test_a_smaller_sign_that_is_no_tag_is_kept():
    assert fold("1 < 2 and 3 > 2") == "1 < 2 and 3 > 2"


@given(st.text())
def test_folding_twice_is_folding_once_but_for_what_unfolding_reveals(text):
    folded = fold(text)
    assert folded == " ".join(folded.split())
    assert fold(text.upper().lower()) == fold(text.upper().lower().casefold())


@given(st.integers(1, 9), st.data())
def test_components_are_those_of_walking_the_graph(n, data):
    pairs = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    reach = np.eye(n, dtype=bool)
    for a, b in pairs:
        reach[a, b] = reach[b, a] = True
    for _ in range(n):
        reach = reach @ reach
    assert connect(n, pairs) == [int(np.flatnonzero(row)[0]) for row in reach]


FILM = "a slow film about a lighthouse and the two men who keep it lit all winter long"
NEARLY = "a slow film about a lighthouse and the two men who keep it lit all summer long"
OTHER = "nothing here is like anything said above"


def test_exact_and_near_are_counted_once_each():
    similar = find([FILM, OTHER, FILM, NEARLY, NEARLY])
    assert repeats(similar, range(5)) == {"exact_duplicates": 2, "near_duplicates": 1}
    assert repeats(similar, [0, 1]) == {"exact_duplicates": 0, "near_duplicates": 0}


def test_matches_across_prefer_exact_over_near():
    similar = find([FILM, NEARLY, OTHER, FILM])
    assert matches(similar, [3, 1, 2], [0]) == ["exact", "near", None]
    assert matches(similar, [0], [1, 3]) == ["exact"]
    assert matches(similar, [0, 1], []) == [None, None]
    assert matches(similar, [], [0]) == []
    assert counted(["exact", None, "near", None]) == {"exact": 1, "near": 1}


@pytest.mark.data
def test_the_known_duplicates_of_imdb_are_found_within_a_minute(real_data):
    import gzip

    texts, start = [], time.process_time()
    for split in ("train", "test"):
        with gzip.open(real_data / "imdb" / f"{split}.jsonl.gz", "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["text"] for line in lines]
    similar = find([fold(text) for text in texts])
    assert len(texts) == 50_000
    # The data's README: 418 exact duplicates, byte for byte, and 123 texts in both halves; four more are equal but for
    # case and white space.
    assert len(texts) - len(set(texts)) == 418
    counts = repeats(similar, range(50_000))
    assert counts["exact_duplicates"] == 422
    both = set(similar.same[:25_000].tolist()) & set(similar.same[25_000:].tolist())
    assert len(both) == 123
    assert 40 <= len(similar.pairs) <= 60
    assert time.process_time() - start < 60


def test_near_pairs_of_many_texts_are_kept_and_those_of_others_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path))
    monkeypatch.setattr(duplicates, "KEPT_FROM", 4)
    texts = ["one two three four five", "one two three four six", "a b c", "a b\nc d", "quite another text here"]
    first = duplicates.kept_pairs(texts)
    assert first.tolist() == near_pairs(texts).tolist() == [[0, 1], [2, 3]]
    with monkeypatch.context() as patch:
        patch.setattr(duplicates, "near_pairs", None)
        assert duplicates.kept_pairs(texts).tolist() == [[0, 1], [2, 3]]
    assert duplicates.kept_pairs(texts[::-1]).tolist() == [[1, 2], [3, 4]]
    assert len([path for path in tmp_path.glob("near/*") if path.is_dir()]) == 2
    monkeypatch.setenv("HELDOUT_CACHE", "off")
    assert duplicates.kept_pairs(texts).tolist() == [[0, 1], [2, 3]]
