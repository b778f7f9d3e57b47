import math
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.eval.fits import HIGHEST, LOWEST, fit_temperature
from heldout.eval.metrics import find
from heldout.eval.run_scores import score_run
from heldout.eval.score import score
from heldout.eval.tabulate import tabulate
from heldout.fits import apply, read_fit, soften
from heldout.records import Card, Example, Prediction, content_hash
from heldout.runs import write_json, write_lines

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


def test_a_fit_says_what_it_was_fitted_on() -> None:
    gold, predictions = made(1, n=20)
    fit = fit_temperature(CARD, gold, predictions, "dev")
    assert fit.kind == "temperature"
    assert fit.fitted_on == {"split": "dev", "hash": content_hash(gold), "n": 20}
    assert fit == fit_temperature(CARD, gold, predictions, "dev")


@pytest.mark.parametrize("spoilt", ["gold", "predictions"])
def test_c3_nothing_of_a_test_set_reaches_the_fit_that_is_applied_to_it(tmp_path: Path, spoilt: str) -> None:
    """The run is scored again with other gold, or other predictions, on test: dev's temperature stays what it was."""
    write_json(tmp_path / "card.json", CARD.to_json())
    sets = {"dev": made(3, n=60), "films": made(4, n=60)}
    other = made(5, n=60, sharpness=0.3)
    fits, effects = [], []
    for gold, predictions in (sets["films"], (other[0], sets["films"][1]) if spoilt == "gold" else other):
        for name, data in {"dev": sets["dev"], "films": (gold, predictions)}.items():
            for kind, rows in zip(("gold", "predictions"), data, strict=True):
                write_lines(tmp_path / kind / f"{name}.jsonl", (row.to_json() for row in rows))
        effects.append(score_run(tmp_path, replicates=50)["films"]["variants"]["temperature"]["metrics"])
        fits.append(read_fit(tmp_path / "fits" / "temperature.json"))
    assert fits[0] == fits[1] == fit_temperature(CARD, *sets["dev"], "dev")
    assert effects[0] != effects[1]
    assert fit_temperature(CARD, gold, predictions, "films").parameters != fits[0].parameters


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


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
@pytest.mark.parametrize("answer", ["no", "yes"])
def test_c4_tied_scores_give_no_accuracy_but_that_of_the_answers_given(order: list[int], answer: str) -> None:
    """Scores [.5, .5] on labels [1, 0] in either order: a cut between rows would give 1.0 in one of them.

    The same of a null threshold: tests/eval/test_null_threshold.py.
    """
    card = Card("toy", "1", "label", ("no", "yes"), ("accuracy", "macro_f1", "ece_mass"))
    gold = [Example("a", {}, "yes"), Example("b", {}, "no")]
    tied = [Prediction(example.id, answer, [0.5, 0.5]) for example in gold]
    fit = fit_temperature(card, gold, tied, "dev")
    rows = [gold[k] for k in order], [tied[k] for k in order]
    row = score(card, *rows, data="pair", fits=[fit], replicates=50)
    for metrics in (row["metrics"], row["variants"]["temperature"]["metrics"]):
        assert metrics["accuracy"]["value"] == 0.5
        assert metrics["macro_f1"]["value"] == pytest.approx(1 / 3)
        # Equal confidences share a bin, whatever the order: half right, half sure.
        assert metrics["ece_mass"]["value"] == 0
