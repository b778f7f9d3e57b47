"""tf-idf + logistic regression against a pipeline that the test builds itself from scikit-learn."""

import random

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, log_loss
from sklearn.pipeline import make_pipeline

from heldout.baselines import BASELINES, BaselineOptions, Fitted
from heldout.baselines._logistic import GRID
from heldout.errors import Refused
from heldout.records import Card, Example

LABELS = ("negative", "positive", "mixed")
TOPICS = {"negative": "dull flat noise tired", "positive": "bright warm quick music", "mixed": "long odd slow brave"}
WORDS = "the film plot scene actor camera story ending script light sound city train river"
COMMON = WORDS.split()


def made_up(n: int, seed: int, labels: tuple[str, ...] = LABELS) -> list[Example]:
    """Texts whose words lean towards their label, one in five of them towards another: hard enough to be wrong on."""
    rng, rows = random.Random(seed), []
    for i in range(n):
        gold = rng.choice(labels)
        leaning = gold if rng.random() > 0.2 else rng.choice(labels)
        words = rng.choices(COMMON, k=12) + rng.choices(TOPICS[leaning].split(), k=2)
        rng.shuffle(words)
        rows.append(Example(f"{seed}-{i}", {"text": " ".join(words)}, gold))
    return rows


TRAIN, DEV, TEST = made_up(240, 1), made_up(80, 2), made_up(60, 3)


def card(*metrics: str, labels: tuple[str, ...] = LABELS) -> Card:
    return Card("films", "1", "label", labels, metrics)


def fitted(*metrics: str) -> Fitted:
    return BASELINES["tfidf"].fit(TRAIN, DEV, card(*metrics), 0, BaselineOptions())


def pipeline(c: float) -> "tuple[list[float], np.ndarray]":
    """Dev's [accuracy, macro F1, log loss] and test's probabilities, by scikit-learn alone, in sorted label order."""
    counts = CountVectorizer(ngram_range=(1, 2), min_df=2)
    model = make_pipeline(counts, TfidfTransformer(sublinear_tf=True), LogisticRegression(C=c, max_iter=1000))
    model.fit([e.text["text"] for e in TRAIN], [e.gold for e in TRAIN])
    gold, said = [e.gold for e in DEV], model.predict([e.text["text"] for e in DEV])
    loss = log_loss(gold, model.predict_proba([e.text["text"] for e in DEV]), labels=sorted(LABELS))
    scores = [accuracy_score(gold, said), f1_score(gold, said, average="macro"), loss]
    return scores, model.predict_proba([e.text["text"] for e in TEST])


@pytest.mark.parametrize(("metric", "key"), [("accuracy", 0), ("macro_f1", 1), ("nll", 2)])
def test_c_and_probabilities_are_those_of_a_pipeline_chosen_on_dev(metric: str, key: int) -> None:
    tried = {c: pipeline(c) for c in GRID}
    sign = -1 if metric == "nll" else 1
    best = max(GRID, key=lambda c: (round(sign * tried[c][0][key], 12), -tried[c][0][2]))
    ours = fitted(metric)
    assert ours.chosen_on_dev == {"C": best}
    said = ours.predict(TEST)
    order = [sorted(LABELS).index(label) for label in LABELS]
    np.testing.assert_allclose([p.scores for p in said], tried[best][1][:, order], atol=1e-12)
    assert [p.answer for p in said] == [LABELS[i] for i in tried[best][1][:, order].argmax(axis=1)]


def test_equal_accuracy_on_dev_is_decided_by_the_lowest_nll() -> None:
    """Dev texts that every C gets right: the least regularised is surest of them."""
    train = [Example(str(i), {"text": ("dull film", "bright film")[i % 2]}, LABELS[i % 2]) for i in range(20)]
    two = card("accuracy", labels=LABELS[:2])
    assert BASELINES["tfidf"].fit(train, train[:4], two, 0, BaselineOptions()).chosen_on_dev == {"C": max(GRID)}


def test_a_label_that_train_lacks_gets_no_probability() -> None:
    train = made_up(60, 4, LABELS[:2])
    said = BASELINES["tfidf"].fit(train, DEV, card("accuracy"), 0, BaselineOptions()).predict(TEST)
    assert all(p.scores[2] == 0 and p.answer != "mixed" for p in said)


def test_the_seed_changes_nothing() -> None:
    other = BASELINES["tfidf"].fit(TRAIN, DEV, card("accuracy"), 7, BaselineOptions())
    assert other.predict(TEST) == fitted("accuracy").predict(TEST)


def test_one_label_no_dev_or_no_shared_word_is_refused() -> None:
    one = [Example(str(i), {"text": "dull"}, "negative") for i in range(3)]
    apart = [Example("a", {"text": "dull"}, "negative"), Example("b", {"text": "bright"}, "positive")]
    for train, dev, says in ((one, DEV, "two labels"), (TRAIN, [], "a dev split"), (apart, DEV, "no word stands in 2")):
        with pytest.raises(Refused, match=says):
            BASELINES["tfidf"].fit(train, dev, card("accuracy"), 0, BaselineOptions())
