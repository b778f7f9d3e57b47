from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.data.corpus import Document
from heldout.errors import Refused
from heldout.pretrain.split import _draw, split
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


class Made(NamedTuple):
    """What split asks of a corpus."""

    digests: np.ndarray
    domain: np.ndarray
    domains: tuple[str, ...]

    def __len__(self):
        return len(self.domain)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2)), min_size=1, max_size=120),
    st.sampled_from([0.01, 0.1, 0.5, 1.0]),
)
def test_those_held_out_are_the_first_of_their_domain_in_the_order_of_their_draws(documents, share):
    # Equal texts have equal draws: of those the earlier ones go first.
    digests, domain = (np.array(column, dtype=np.uint64) for column in zip(*documents, strict=True))
    corpus = Made(digests, domain, ("a", "b", "c"))
    wanted = {"dev": [], "test": []}
    for number in range(3):
        members = [row for row in range(len(digests)) if domain[row] == number]
        each = max(round(len(members) * share / 2), 2 if len(members) >= 20 else 0)
        ordered = sorted(members, key=lambda row: (_draw(int(digests[row]), 7), row))
        wanted["dev"] += ordered[:each]
        wanted["test"] += ordered[each : 2 * each]
    left = len(digests) - sum(map(len, wanted.values()))
    if left and all(wanted.values()):
        found = split(corpus, share, seed=7)
        assert {name: sorted(rows) for name, rows in wanted.items()} == {n: found[n].tolist() for n in wanted}
    else:
        with pytest.raises(Refused, match="leaves no document"):
            split(corpus, share, seed=7)


def test_a_corpus_too_small_to_hold_anything_out_is_refused_with_what_to_do(wordpiece, tmp_path):
    one = load(tmp_path, lambda: [Document("tales", "ada left. bo saw a film.")], wordpiece, "plain")
    with pytest.raises(Refused, match="leaves no document for dev of the 1"):
        split(one, 0.5, seed=1)
