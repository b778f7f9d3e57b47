from heldout.baselines import BASELINES, BaselineOptions
from heldout.records import Card, Example, Prediction

CARD = Card("films", "1", "label", ("bad", "fair", "good"), ("accuracy",))


def said(*labels: str) -> Prediction:
    train = [Example(str(i), {"text": ""}, label) for i, label in enumerate(labels)]
    (prediction,) = BASELINES["majority"].fit(train, [], CARD, 0, BaselineOptions()).predict(train[:1])
    return prediction


def test_the_most_frequent_label_is_answered_with_the_shares_of_train() -> None:
    assert said("good", "bad", "good", "good") == Prediction("0", "good", [0.25, 0.0, 0.75])


def test_of_equally_frequent_labels_the_first_of_the_card_is_answered() -> None:
    assert said("good", "fair", "good", "fair") == Prediction("0", "fair", [0.0, 0.5, 0.5])
    assert said("good", "fair", "bad").answer == "bad"
