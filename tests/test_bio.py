import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB2, Entities

from heldout.bio import allowed, best_valid, lenient, split, strict, tags_of

LABELS = ["O", "B-X", "B-Y-z", "I-X", "I-Y-z"]
TAGS = st.lists(st.sampled_from(LABELS), max_size=12)


@given(TAGS)
def test_the_strict_reading_is_seqevals_strict_mode(tags):
    theirs = Entities([tags], scheme=IOB2).entities[0]
    assert strict(tags) == [(entity.start, entity.end, entity.tag) for entity in theirs]


@given(TAGS)
def test_the_lenient_reading_is_seqevals_default_and_conllevals(tags):
    # seqeval's ends are inclusive; ours are the word behind.
    assert lenient(tags) == [(start, end + 1, kind) for kind, start, end in get_entities(tags)]


def test_both_readings_differ_only_where_an_entity_begins_with_i():
    # FAULTS N2: the row's own example.
    assert strict(["I-X", "I-X"]) == []
    assert lenient(["I-X", "I-X"]) == [(0, 2, "X")] == strict(["B-X", "I-X"])


@given(TAGS)
def test_valid_tags_are_read_the_same_both_ways_and_spelt_back(tags):
    valid = tags_of(lenient(tags), len(tags))
    assert strict(valid) == lenient(valid) == lenient(tags)
    assert all(itertools.starmap(allowed, itertools.pairwise(["O", *valid])))


def test_every_sequence_of_four_tags_is_valid_where_no_tag_is_stray():
    found = 0
    for tags in itertools.product(LABELS, repeat=4):
        inside = {position for start, end, _ in strict(tags) for position in range(start, end)}
        stray = [n for n, tag in enumerate(tags) if tag != "O" and n not in inside]
        valid = all(itertools.starmap(allowed, itertools.pairwise(["O", *tags])))
        assert valid == (not stray)
        found += valid
    assert 0 < found < 5**4


@given(st.integers(1, 4), st.integers(0, 2**32 - 1), st.permutations(LABELS))
def test_the_best_valid_sequence_is_the_best_of_all_that_are_valid(words, seed, labels):
    scores = np.random.default_rng(seed).dirichlet(np.full(len(labels), 0.3), size=words)
    sequences = itertools.product(range(len(labels)), repeat=words)
    valid = [s for s in sequences if all(allowed(a, b) for a, b in itertools.pairwise(["O", *(labels[i] for i in s)]))]
    logs = np.log(np.maximum(scores, 1e-12))
    best = max(valid, key=lambda s: sum(logs[n, column] for n, column in enumerate(s)))
    assert best_valid(scores, labels) == [labels[column] for column in best]


def test_the_most_probable_tags_are_the_answer_where_they_are_valid():
    scores = [[0.1, 0.8, 0.0, 0.1, 0.0], [0.2, 0.1, 0.0, 0.7, 0.0]]
    assert best_valid(scores, LABELS) == ["B-X", "I-X"]


def test_scores_of_nought_and_one_leave_a_valid_answer():
    impossible = np.eye(5)[[3, 4, 3]]
    found = best_valid(impossible, LABELS)
    assert all(itertools.starmap(allowed, itertools.pairwise(["O", *found])))
    assert best_valid([], LABELS) == []


@pytest.mark.parametrize(("tag", "parts"), [("I-creative-work", ("I", "creative-work")), ("O", ("O", ""))])
def test_a_type_keeps_its_hyphens(tag, parts):
    assert split(tag) == parts
