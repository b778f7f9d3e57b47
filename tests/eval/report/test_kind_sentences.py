"""Sentences of single kinds with hand-made numbers: nothing is called a result that is none."""

import pytest

from heldout.eval.report import kind_sentences, sentences
from heldout.eval.report.kind_sentences import Moved


@pytest.mark.parametrize(
    ("difference", "judged"),
    [
        ((0.02, 0.01, 0.03), "(better, change 1.0 to 3.0)"),
        ((-0.02, -0.03, -0.01), "(worse, change −3.0 to −1.0)"),
        ((0.01, -0.01, 0.03), "(no more than chance could give, change −1.0 to 3.0)"),
        ((0.0, 0.0, 0.0), "(no change)"),
        ((0.01, None, None), "(too few questions to tell)"),
    ],
)
def test_what_a_threshold_changes_is_called_what_it_is(difference, judged):
    told = Moved(0.6, 0.62, difference).told("f1")
    assert told == f"from 60.0% to 62.0% {judged}"


def test_the_best_threshold_of_the_set_is_said_to_be_chosen_on_it():
    moved, dev = Moved(0.6, 0.62, (0.02, 0.01, 0.03)), {"split": "dev", "n": 1500}
    said = kind_sentences.threshold(-1.5, dev, "news", "f1", moved, 0.64)
    assert said == (
        "A null threshold of −1.50, fitted on dev (1,500 questions), takes the F1 on news from 60.0% to 62.0% (better, "
        "change 1.0 to 3.0); the best one for news itself would give 64.0%, which is chosen on the test set."
    )
    assert kind_sentences.threshold(-1.5, dev, "news", "f1", moved, None).endswith("change 1.0 to 3.0).")


def test_a_lenient_reading_that_gives_the_same_says_so():
    assert kind_sentences.lenient(0.424, 0.417).endswith("its F1 is 41.7%.")
    assert kind_sentences.lenient(0.424, 0.4241).endswith("its F1 is the same.")


def test_few_entities_that_train_had_are_called_few():
    said = kind_sentences.unseen("news", ((0.3, 0.2, 0.4), 1000), ((0.7, 0.5, 0.9), 29))
    assert said.endswith("of the 29 (few) others 70.0% (95% interval 50.0–90.0).")
    assert "(few)" not in kind_sentences.unseen("news", ((0.3, 0.2, 0.4), 10), ((0.7, 0.5, 0.9), 30))


def test_collapsed_labels_are_counted():
    collapse = {"neutral": "non-entailment", "contradiction": "non-entailment"}
    said = kind_sentences.collapsed(["hans", "rte"], collapse, 3)
    assert said.startswith("On hans and rte neutral and contradiction count as one, non-entailment: 2 labels instead")


def test_an_artefact_check_has_the_majority_beside_it_where_there_is_one():
    said = kind_sentences.artefact("tf-idf", "snli", "accuracy", 0.62, 0.34)
    assert "has an accuracy of 62.0% on snli (always the commonest label: 34.0%)" in said
    assert "has a macro F1 of 62.0% on snli; that" in kind_sentences.artefact("x", "snli", "macro_f1", 0.62, None)
    assert "an MCC of 0.400" in kind_sentences.artefact("x", "snli", "mcc", 0.4, None)


def test_of_many_sets_the_worst_are_told_and_the_range_of_the_others():
    changes = {f"set{k}": (k / 100, k / 100 - 0.005, k / 100 + 0.005) for k in range(-1, 6)}
    said = sentences.drops("home", changes, "accuracy")
    assert said == (
        "From home to set5 it loses 5.0 points (interval 4.5 to 5.5); to set4 it loses 4.0 points (interval 3.5 to "
        "4.5); to set3 it loses 3.0 points (interval 2.5 to 3.5); on the other 4 its change lies between a loss of 2.0 "
        "points and a gain of 1.0 point. The worst domain is set5."
    )
    five = sentences.drops("home", dict(list(changes.items())[:5]), "accuracy")
    assert "on the other" not in five and "set-1" in five


def test_of_many_sets_a_temperature_tells_the_first_and_counts_the_others():
    better, chance = (0.05, 0.03, (-0.02, -0.03, -0.01)), (0.05, 0.05, (0.0, -0.01, 0.01))
    changes = {f"s{k}": sentences.Change(*(better if k < 5 else chance)) for k in range(7)}
    said = sentences.temperature(1.5, "dev", 500, changes, "pairs")
    assert said == (
        "A temperature of 1.50, fitted on dev (500 pairs), takes the ECE on s0 from 0.050 to 0.030 (better, change "
        "−0.030 to −0.010); elsewhere better on 4, no more than chance could give on 2."
    )
