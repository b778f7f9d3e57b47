"""What gensim trains for us is what gensim trains alone; the seeds' War and Peace to the last digit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heldout.data.streams import Seen
from heldout.embeddings.neighbours import cosine, crowding
from heldout.embeddings.options import CHANGED, VectorOptions, varied
from heldout.embeddings.text import Sentences, TextOptions, write_sentences
from heldout.embeddings.vectors import Vectors
from heldout.embeddings.word2vec import train_gensim
from heldout.errors import Refused
from heldout.lessons import war_and_peace

PLACES = ["river", "hill", "mill", "harbour", "bridge"]
WORDS = ["a", "a", "the", "the", "on", "with", "and", "near", "boat", "sail", "lamp", *PLACES]
#: What our small runs are for gensim.
GENSIM = {"vector_size": 8, "epochs": 2, "min_count": 1, "seed": 1, "workers": 1}


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> Sentences:
    generator = np.random.default_rng(3)
    path = tmp_path_factory.mktemp("corpus") / "sentences.txt"
    path.write_text("".join(" ".join(generator.choice(WORDS, 9)) + "\n" for _ in range(60)))
    return Sentences(path)


def train(sentences: Sentences, **changed: Any) -> Vectors:
    return train_gensim(sentences, VectorOptions(**{"size": 8, "epochs": 2, "min_count": 1, **changed}), lambda m: None)


@pytest.mark.parametrize(
    ("changed", "given"),
    [
        ({"kind": "cbow"}, {"sg": 0}),
        ({"kind": "skipgram"}, {"sg": 1}),
        ({"kind": "skipgram", "softmax": "hierarchical"}, {"sg": 1, "hs": 1, "negative": 0}),
        ({"kind": "cbow", "shrink_windows": False, "window": 3}, {"sg": 0, "shrink_windows": False, "window": 3}),
        ({"kind": "skipgram", "subsample": 0.0, "exponent": 0.5}, {"sg": 1, "sample": 0, "ns_exponent": 0.5}),
        ({"kind": "cbow", "learning_rate": 0.1, "last_learning_rate": 0.05}, {"alpha": 0.1, "min_alpha": 0.05}),
        ({"kind": "skipgram", "negative": 2, "seed": 9}, {"sg": 1, "negative": 2, "seed": 9}),
    ],
)
def test_an_option_is_gensims_and_changes_what_is_trained(
    sentences: Sentences, changed: dict[str, Any], given: dict[str, Any]
) -> None:
    from gensim.models import Word2Vec

    ours = train(sentences, **changed)
    theirs = Word2Vec(
        list(sentences), **{"vector_size": 8, "epochs": 2, "min_count": 1, "seed": 1, "workers": 1, **given}
    )
    assert ours.words == tuple(theirs.wv.index_to_key)
    assert np.array_equal(ours.rows, theirs.wv.vectors)
    assert ours.counts is not None
    assert dict(zip(ours.words, ours.counts.tolist(), strict=True)) == dict(sentences.counts())
    plain = Word2Vec(list(sentences), **{**GENSIM, "sg": given.get("sg", 0)})
    assert len(given) == 1 or not np.array_equal(ours.rows, plain.wv.vectors)


def test_our_defaults_are_those_the_seeds_state_of_gensim() -> None:
    options, stated = VectorOptions(), war_and_peace.DEFAULTS
    ours = (options.negative, options.passes, options.window, options.exponent, options.subsample, options.rate)
    assert ours == tuple(stated[k] for k in ("negative", "epochs", "window", "ns_exponent", "sample", "alpha"))
    assert (options.last_learning_rate, int(options.shrink_windows), options.size) == (
        stated["min_alpha"],
        stated["shrink_windows"],
        stated["vector_size"],
    )


def test_an_unseen_word_gets_fasttexts_vector_from_its_ngrams(sentences: Sentences) -> None:
    from gensim.models import FastText

    ours = train(sentences, kind="fasttext", buckets=500)
    theirs = FastText(list(sentences), vector_size=8, epochs=2, min_count=1, seed=1, workers=1, sg=1, bucket=500)
    assert np.array_equal(ours.rows, theirs.wv.vectors)
    for word in ("rivers", "sailing", "o"):
        found = ours.vector(word)
        assert word not in ours.index and found is not None
        assert np.allclose(found, theirs.wv[word], atol=1e-7)
    assert train(sentences).vector("rivers") is None


def test_a_corpus_without_frequent_words_is_refused(sentences: Sentences) -> None:
    with pytest.raises(Refused, match="no word occurs 10000 times"):
        train(sentences, min_count=10_000)


def test_further_runs_differ_in_what_they_name_alone() -> None:
    found = varied(VectorOptions(), ["seed=7", "min-count=2"])
    assert list(found) == ["seed=7", "min-count=2"]
    assert (found["seed=7"], found["min-count=2"]) == (VectorOptions(seed=7), VectorOptions(min_count=2))
    for wrong in ("sed=7", "seed", "seed=x", "kind=cbow"):
        with pytest.raises(Refused, match=f"--again {wrong}: write one of {CHANGED[0]}"):
            varied(VectorOptions(), [wrong])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"size": 0}, "--size 0: must be 1"),
        ({"longest": 2}, "--longest 2: is below"),
        ({"negative": 0}, "--softmax hierarchical"),
        ({"subsample": -1.0}, "--subsample -1.0: must not"),
        ({"x_max": 0.0}, "--x-max 0.0: must be above"),
    ],
)
def test_options_that_mean_nothing_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        VectorOptions(**changed)


@pytest.mark.data
def test_war_and_peace_gives_the_seeds_table_to_the_last_digit(real_data: Path, tmp_path: Path) -> None:
    source = str(real_data / "war_and_peace" / "warpeace.txt")
    sentences = write_sentences([source], TextOptions(words="listing"), tmp_path / "s", Seen())
    first = next(iter(sentences))[0]
    assert first.startswith("\ufeff") and len(first) > 1
    vectors = train_gensim(sentences, VectorOptions(kind="cbow", min_count=1, seed=42), lambda m: None)
    stated = war_and_peace.STATED
    assert vectors.counts is not None
    assert {word: int(vectors.counts[vectors.index[word]]) for word in stated["counts"]} == stated["counts"]
    for pair, expected in stated["cosines"].items():
        assert round(cosine(vectors, *pair.split("-")), 3) == expected
    assert round(cosine(vectors, "soldier", "battle"), 3) == stated["soldier_battle"]
    assert round(cosine(vectors, "soldier", "ballroom"), 3) == stated["soldier_ballroom"]
    crowded = crowding(vectors, 50)
    assert (round(crowded.mean, 2), round(crowded.p90, 2)) == (stated["random_pairs_mean"], stated["random_pairs_p90"])
    assert (crowded.words, crowded.pairs) == (1201, 1201 * 1200 // 2)


def test_the_seeds_counts_are_those_of_the_shared_values(real_data: Path) -> None:
    shared = json.loads((real_data.parent / "seed_values.json").read_text())
    entries = {entry["id"]: entry["expected"] for entry in shared["entries"]}
    assert entries["ch.warpeace.table"]["counts"]["value"] == war_and_peace.STATED["counts"]


def test_glove_makes_more_passes_unless_told() -> None:
    assert VectorOptions(kind="glove").passes == 25
    assert VectorOptions(kind="glove", epochs=3).passes == VectorOptions(epochs=3).passes == 3
    with pytest.raises(Refused, match="--epochs 0: must be 1"):
        VectorOptions(epochs=0)
