import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.eval.fits import HIGHEST, LOWEST, fit_temperature
from heldout.eval.metrics import find
from heldout.eval.table import tabulate
from heldout.fits import apply, soften
from heldout.records import Card, Example, Prediction, content_hash

LABELS = ("bad", "mixed", "good")
CARD = Card("toy", "1", "label", LABELS, ("accuracy",))


def made(seed: int, n: int = 200, sharpness: float = 3.0) -> tuple[list[Example], list[Prediction]]:
    rng = np.random.default_rng(seed)
    gold, predictions = [], []
    for i in range(n):
        label = int(rng.integers(3))
        logits = sharpness * (rng.normal(size=3) + np.eye(3)[label])
        weights = np.exp(logits - logits.max())
        scores = [float(p) for p in weights / weights.sum()]
        gold.append(Example(str(i), {"text": f"Text {i}."}, LABELS[label]))
        predictions.append(Prediction(str(i), LABELS[int(np.argmax(scores))], scores))
    return gold, predictions


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 3.0])
def test_the_temperature_is_where_a_general_minimiser_finds_it(sharpness: float) -> None:
    gold, predictions = made(0, sharpness=sharpness)
    index = [LABELS.index(example.gold) for example in gold]

    def loss(temperature: float) -> float:
        return -sum(math.log(soften(p.scores, temperature)[y]) for p, y in zip(predictions, index, strict=True))

    expected = scipy.optimize.minimize_scalar(loss, bounds=(LOWEST, HIGHEST), method="bounded", options={"xatol": 1e-7})
    fitted = fit_temperature(CARD, gold, predictions, "dev").parameters["temperature"]
    assert fitted == pytest.approx(expected.x, rel=1e-4)


@given(st.integers(0, 1000), st.floats(0.2, 5))
@settings(max_examples=25, deadline=None)
def test_a_temperature_keeps_the_likeliest_label_and_never_raises_the_loss_where_fitted(
    seed: int, sharp: float
) -> None:
    gold, predictions = made(seed, n=30, sharpness=sharp)
    fit = fit_temperature(CARD, gold, predictions, "dev")
    after = apply(fit, predictions)
    for before, now in zip(predictions, after, strict=True):
        assert now.answer == before.answer
        assert sum(now.scores) == pytest.approx(1)
        assert now.scores[LABELS.index(before.answer)] == max(now.scores)
    losses = [find("nll").of(tabulate(CARD, gold, rows)) for rows in (predictions, after)]
    assert losses[1] <= losses[0] + 1e-6


def test_c3_a_fit_says_what_it_was_fitted_on() -> None:
    gold, predictions = made(1, n=20)
    fit = fit_temperature(CARD, gold, predictions, "dev")
    assert fit.kind == "temperature"
    assert fit.fitted_on == {"split": "dev", "hash": content_hash(gold), "n": 20}
    assert fit == fit_temperature(CARD, gold, predictions, "dev")


def test_a_dev_split_without_a_mistake_ends_at_the_border_and_one_of_noise_at_the_other() -> None:
    gold = [Example(str(i), {"text": "Fine."}, "good") for i in range(4)]
    right = [Prediction(str(i), "good", [0.1, 0.1, 0.8]) for i in range(4)]
    wrong = [Prediction(str(i), "bad", [0.8, 0.1, 0.1]) for i in range(4)]
    assert fit_temperature(CARD, gold, right, "dev").parameters["temperature"] == LOWEST
    assert fit_temperature(CARD, gold, wrong, "dev").parameters["temperature"] == HIGHEST


def test_probabilities_of_0_and_1_can_be_fitted() -> None:
    gold = [Example("a", {}, "good"), Example("b", {}, "bad")]
    predictions = [Prediction("a", "good", [0.0, 0.0, 1.0]), Prediction("b", "good", [0.0, 0.0, 1.0])]
    assert LOWEST <= fit_temperature(CARD, gold, predictions, "dev").parameters["temperature"] <= HIGHEST


def test_dev_predictions_without_scores_are_refused() -> None:
    gold, predictions = made(2, n=3)
    with pytest.raises(Refused, match=r"dev: 1 of 3 predictions have no scores, the first is id '1'"):
        fit_temperature(CARD, gold, [predictions[0], Prediction("1", "good"), predictions[2]], "dev")


def test_c4_tied_scores_cannot_be_cut_apart_into_a_perfect_accuracy() -> None:
    # Scores [.5, .5] on labels [1, 0]: no threshold separates them; only the answers given count.
    card = Card("toy", "1", "label", ("no", "yes"), ("accuracy",))
    gold = [Example("a", {}, "yes"), Example("b", {}, "no")]
    tied = [Prediction("a", "yes", [0.5, 0.5]), Prediction("b", "yes", [0.5, 0.5])]
    fit = fit_temperature(card, gold, tied, "dev")
    for predictions in (tied, apply(fit, tied)):
        assert find("accuracy").of(tabulate(card, gold, predictions)) == 0.5
