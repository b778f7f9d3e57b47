import pytest

from heldout.train.label_names import matched, mismatch, nameless

LABELS = ("entailment", "neutral", "contradiction")


@pytest.mark.parametrize(
    ("own", "renamed", "found"),
    [
        (["contradiction", "entailment", "neutral"], {}, ["contradiction", "entailment", "neutral"]),
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], {}, ["contradiction", "neutral", "entailment"]),
        (["LABEL_0", "LABEL_1"], {"LABEL_1": "Neutral"}, ["LABEL_0", "neutral"]),
        (["neutral", "Neutral"], {}, ["neutral", "neutral"]),
    ],
)
def test_names_are_spelt_as_the_cards_in_the_models_own_order(own, renamed, found):
    assert matched(own, LABELS, renamed) == found


def test_labels_that_differ_in_case_alone_stay_apart():
    assert matched(["IT", "it"], ["it", "IT"]) == ["IT", "it"]


def test_labels_without_names_are_told_from_labels_with_other_names():
    assert nameless(["LABEL_0", "LABEL_10"])
    assert not nameless(["LABEL_0", "neutral"])
    assert "its labels have no names (LABEL_0, LABEL_1;" in str(mismatch("m", ["LABEL_0", "LABEL_1"], LABELS))
    assert "its labels are not the card's (pro, con;" in str(mismatch("m", ["pro", "con"], LABELS))
