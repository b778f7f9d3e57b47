import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.bio import strict, tags_of
from heldout.spans import best, log_total, pool

LOGIT = st.one_of(st.integers(-3, 3).map(float), st.floats(-20, 20, width=32))


@st.composite
def read(draw):
    """A passage of n tokens read in windows that may overlap, some tokens barred from beginning or ending an answer."""
    n, longest = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    windows = []
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, n - 1))
        size = draw(st.integers(1, n - at))
        sides = [draw(st.lists(LOGIT | st.just(-np.inf), min_size=size, max_size=size)) for _ in range(2)]
        windows.append((at, *map(np.array, sides)))
    return n, longest, windows


def brute(n, longest, windows):
    """Every span with its highest score, by looking at every pair of every window."""
    found = {}
    for at, start, end in windows:
        for i in range(len(start)):
            for j in range(i, len(start)):
                score = float(start[i]) + float(end[j])
                if j - i < longest and np.isfinite(score):
                    found[at + i, at + j] = max(found.get((at + i, at + j), -np.inf), score)
    return found


@settings(deadline=None)
@given(read(), st.integers(1, 60), st.floats(-30, 30))
def test_the_search_finds_what_a_double_loop_over_every_window_finds(passage, keep, null):
    n, longest, windows = passage
    expected = brute(n, longest, windows)
    table = pool(windows, tokens=n, longest=longest)
    ranked = sorted(expected.items(), key=lambda item: (-item[1], item[0]))[:keep]
    assert best(table, keep) == [(i, j, score) for (i, j), score in ranked]
    total = np.log(sum(np.exp(score) for score in expected.values()) + np.exp(null))
    assert log_total(table, null) == pytest.approx(total, abs=1e-9)


@settings(deadline=None)
@given(read())
def test_probabilities_of_all_spans_and_the_null_sum_to_one(passage):
    n, longest, windows = passage
    table = pool(windows, tokens=n, longest=longest)
    total = log_total(table, 0.5)
    spans = best(table, table.size)
    assert sum(np.exp(score - total) for *_, score in spans) + np.exp(0.5 - total) == pytest.approx(1, abs=1e-9)


def test_a_span_that_two_windows_hold_counts_once_with_its_higher_score():
    windows = [(0, np.array([1.0, 2.0]), np.array([1.0, 2.0])), (1, np.array([5.0, 0.0]), np.array([-1.0, 0.0]))]
    table = pool(windows, tokens=3, longest=2)
    assert best(table, 9) == [(1, 2, 5.0), (1, 1, 4.0), (0, 1, 3.0), (0, 0, 2.0), (2, 2, 0.0)]


def test_enormous_logits_neither_overflow_nor_lose_the_rest():
    table = pool([(0, np.array([5000.0, -5000.0]), np.array([5000.0, 5000.0]))], tokens=2, longest=2)
    assert log_total(table, -9000.0) == pytest.approx(10000 + np.log(2), abs=1e-9)


def test_where_nothing_may_begin_there_is_no_span_and_the_null_takes_all():
    table = pool([(0, np.full(3, -np.inf), np.zeros(3))], tokens=3, longest=2)
    assert best(table, 20) == []
    assert log_total(table, 1.25) == 1.25
    assert best(pool([], tokens=0, longest=4), 20) == []
    assert log_total(pool([], tokens=0, longest=4), 1.25) == 1.25


def log_softmax(scores):
    scores = np.array(scores, float)
    return scores - np.log(np.exp(scores).sum())


class TestExercise236:
    """The seeds' exercise 23.6: tokens are counted from 1 there, and the product of probabilities is maximised."""

    words = ("Apple", "was", "founded", "by", "Steve", "Jobs", "in", "1976")
    start = log_softmax((1, 1, 1, 1, 5, 3, 1, 1))
    end = log_softmax((1, 1, 1, 1, 3, 4, 1, 5))

    def found(self, longest, keep=1):
        table = pool([(0, self.start, self.end)], tokens=8, longest=longest)
        return [(first + 1, last + 1, np.exp(score)) for first, last, score in best(table, keep)]

    def text(self, first, last):
        return " ".join(self.words[first - 1 : last])

    def test_the_two_argmaxes_are_5_and_8_and_make_a_span_that_is_too_long(self):
        assert (int(self.start.argmax()) + 1, int(self.end.argmax()) + 1) == (5, 8)
        assert self.found(longest=8) == [(5, 8, pytest.approx(0.5035544454410419, abs=1e-12))]
        assert self.text(5, 8) == "Steve Jobs in 1976"

    def test_at_most_three_tokens_give_steve_jobs(self):
        first, last, product = self.found(longest=3)[0]
        assert (first, last, self.text(first, last)) == (5, 6, "Steve Jobs")
        assert product == pytest.approx(0.18524732798824606, abs=1e-12)
        assert self.found(longest=8)[0][2] / product == pytest.approx(np.e, abs=1e-12)

    def test_it_has_21_valid_pairs_of_which_these_are_the_best_four(self):
        spans = self.found(longest=3, keep=100)
        assert len(spans) == 21
        assert [(first, last) for first, last, _ in spans[:4]] == [(5, 6), (5, 5), (6, 8), (6, 6)]
        assert spans[1][2] == pytest.approx(0.06814868349881886, abs=1e-12)
        assert spans[3][2] == pytest.approx(0.025070499602114975, abs=1e-12)

    @pytest.mark.parametrize("longest", range(1, 9))
    def test_the_limit_alone_decides_between_the_two(self, longest):
        expected = {1: (5, 5), 2: (5, 6), 3: (5, 6)}.get(longest, (5, 8))
        assert self.found(longest)[0][:2] == expected

    def test_its_tags_spell_its_three_entities(self):
        words = ["Steve", "Jobs", "founded", "Apple", "Inc", "in", "California"]
        tags = tags_of([(0, 2, "PER"), (3, 5, "ORG"), (6, 7, "LOC")], len(words))
        assert tags == ["B-PER", "I-PER", "O", "B-ORG", "I-ORG", "O", "B-LOC"]
        assert [" ".join(words[a:b]) for a, b, _ in strict(tags)] == ["Steve Jobs", "Apple Inc", "California"]
