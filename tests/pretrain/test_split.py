import numpy as np
import pytest

from heldout.data.corpus import Document
from heldout.errors import Refused
from heldout.pretrain.split import split
from heldout.pretrain.store import load


def test_every_document_has_one_part_and_each_domain_its_share(corpus):
    parts = split(corpus, 0.4, seed=1)
    together = np.sort(np.concatenate(list(parts.values())))
    assert together.tolist() == list(range(len(corpus)))
    for name in ("dev", "test"):
        assert np.bincount(corpus.domain[parts[name]]).tolist() == [6, 6]


def test_the_seed_and_the_text_decide_and_not_the_order(corpus, stories, wordpiece, tmp_path):
    parts = split(corpus, 0.4, seed=1)
    turned = load(tmp_path, lambda: stories[::-1], wordpiece, "plain")
    again = split(turned, 0.4, seed=1)
    assert set(turned.digests[again["test"]].tolist()) == set(corpus.digests[parts["test"]].tolist())
    assert split(corpus, 0.4, seed=2)["test"].tolist() != parts["test"].tolist()


def test_a_corpus_too_small_to_hold_anything_out_is_refused_with_what_to_do(wordpiece, tmp_path):
    one = load(tmp_path, lambda: [Document("tales", "ada left. bo saw a film.")], wordpiece, "plain")
    with pytest.raises(Refused, match="leaves no document for dev of the 1"):
        split(one, 0.5, seed=1)
