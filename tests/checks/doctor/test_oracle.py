"""The slow oracle against scikit-learn, seqeval and SQuAD's rules, and eval against it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.checks.doctor._oracle import ORACLE, entities, plain
from heldout.eval.metrics import find
from heldout.eval.tabulate import tabulate
from heldout.records import Card, Example, Prediction

LABELS = ("a", "b", "c")
LABEL = Card("x", "1", "label", LABELS, ("accuracy",))
TAGS = ("O", "B-p", "I-p", "B-q", "I-q")
TAG = Card("x", "1", "tags", TAGS, ("entity_f1",))


def made(golds, answers):
    gold = [Example(str(n), {"words": ["w"] * len(g)} if isinstance(g, list) else {}, g) for n, g in enumerate(golds)]
    return gold, [Prediction(str(n), answer) for n, answer in enumerate(answers)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=30))
def test_labels_as_scikit_learn_scores_them(rows):
    from sklearn.metrics import accuracy_score, f1_score

    golds, answers = zip(*rows, strict=True)
    gold, predictions = made(golds, answers)
    slow = plain(LABEL, gold, predictions)
    present = sorted(set(golds))
    assert slow["accuracy"] == pytest.approx(accuracy_score(golds, answers))
    assert slow["macro_f1"] == pytest.approx(f1_score(golds, answers, labels=present, average="macro", zero_division=0))
    for name, value in slow.items():
        assert find(name).of(tabulate(LABEL, gold, predictions)) == pytest.approx(value, abs=1e-12)


def valid(tags):
    """Tags in which every I- goes on with something of its type."""
    kept = []
    for tag in tags:
        before = kept[-1] if kept else "O"
        kept.append(tag if tag[0] != "I" or before[2:] == tag[2:] else "O")
    return kept


SENTENCES = st.lists(st.lists(st.tuples(*[st.sampled_from(TAGS)] * 2), min_size=1, max_size=8), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(SENTENCES)
def test_entities_as_seqeval_reads_them_strictly(sentences):
    seqeval = pytest.importorskip("seqeval.metrics")
    from seqeval.scheme import IOB2

    golds = [valid([tag for tag, _ in sentence]) for sentence in sentences]
    answers = [[tag for _, tag in sentence] for sentence in sentences]
    gold, predictions = made(golds, answers)
    slow = plain(TAG, gold, predictions)["entity_f1"]
    if any(tag != "O" for sentence in golds for tag in sentence):
        theirs = seqeval.f1_score(golds, answers, mode="strict", scheme=IOB2, zero_division=0)
        assert slow == pytest.approx(theirs)
        assert find("entity_f1").of(tabulate(TAG, gold, predictions)) == pytest.approx(slow, abs=1e-12)


def test_entities_are_read_off_by_hand():
    assert entities(["B-p", "I-p", "I-q", "B-p", "B-q", "I-q"]) == [(0, 2, "p"), (3, 4, "p"), (4, 6, "q")]
    assert entities(["I-p", "O"]) == []


TEXTS = st.text(st.sampled_from("aAtThen .,'-é\u00a0 1"), max_size=14)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["1.1", "2.0"]), st.lists(st.tuples(st.lists(TEXTS, max_size=3), TEXTS), min_size=1, max_size=5))
def test_answers_as_eval_judges_them(version, rows):
    card = Card("qa", version, "span", (), ("em", "f1"))
    if version == "1.1":
        rows = [(golds or ["x"], answer) for golds, answer in rows]
    golds = [[{"text": text, "start": 0} for text in texts] for texts, _ in rows]
    gold, predictions = made(golds, [answer for _, answer in rows])
    gold = [Example(example.id, {"context": ""}, example.gold) for example in gold]
    for name, slow in plain(card, gold, predictions).items():
        assert find(name).of(tabulate(card, gold, predictions)) == pytest.approx(slow, abs=1e-12)


def test_the_oracle_knows_a_metric_of_every_kind_that_has_answers():
    assert {kind: sorted(metrics) for kind, metrics in ORACLE.items()} == {
        "label": ["accuracy", "macro_f1"],
        "tags": ["entity_f1"],
        "span": ["em", "f1"],
    }


def test_a_doubled_or_unknown_id_is_an_error():
    gold, predictions = made(["a", "b"], ["a", "b"])
    with pytest.raises(KeyError):
        plain(LABEL, gold, predictions[:1])
    with pytest.raises(KeyError):
        plain(LABEL, gold, [*predictions, Prediction("9", "a")])
