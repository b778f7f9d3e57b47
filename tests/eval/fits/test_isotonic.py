"""Isotonic calibration against scikit-learn; what was fitted on noise looks good on the noise it was fitted on (K8)."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from heldout.errors import Refused
from heldout.eval.fits.isotonic import fit_isotonic, pooled
from heldout.eval.score import score
from heldout.eval.tabulate import tabulate
from heldout.fits import Fit, along, apply, read_fit, write_fit
from heldout.records import Card, Example, Prediction, content_hash
from heldout.runs import write_json

TWO = Card("toy", "1", "label", ("no", "yes"), ("accuracy", "nll", "ece"))
THREE = Card("toy", "1", "label", ("a", "b", "c"), ("accuracy", "nll", "ece"))
Data = tuple[list[Example], list[Prediction]]


def noise(seed: int, n: int) -> Data:
    """Scores that know nothing of gold."""
    rng = np.random.default_rng(seed)
    gold = [Example(f"{seed}-{i}", {"text": f"Text {seed} {i}."}, TWO.labels[rng.integers(2)]) for i in range(n)]
    said = [
        Prediction(one.id, TWO.labels[int(p > 0.5)], [1 - p, p]) for one, p in zip(gold, rng.random(n), strict=True)
    ]
    return gold, said


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.4, 0.5, 0.9]) | st.floats(0, 1), st.booleans()), min_size=2))
@settings(max_examples=100, deadline=None)
def test_the_line_is_scikit_learns_with_the_rule_of_succession_at_its_ends(rows: list[tuple[float, bool]]) -> None:
    # scikit-learn counts confidences nearer than its own epsilon as one.
    p, event = np.round([a for a, _ in rows], 6), np.array([float(b) for _, b in rows])
    least = 1 / (len(rows) + 2)
    theirs = IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip").fit(p, event)
    x, y = pooled(p, event)
    asked = np.linspace(0, 1, 101)
    ours = [along(x.tolist(), y.tolist(), float(q)) for q in asked]
    assert ours == pytest.approx(theirs.predict(asked).tolist(), abs=1e-6)
    assert all(a < b for a, b in pairwise(x))
    assert all(a <= b for a, b in pairwise(y))


def test_five_answers_by_hand() -> None:
    # 1 before 0 at 0.2 and 0.3 is pooled to 1/2; the ends are held at 1/7 and 6/7.
    x, y = pooled(np.array([0.1, 0.2, 0.3, 0.6, 0.8]), np.array([0.0, 1, 0, 1, 1]))
    assert x.tolist() == [0.1, 0.2, 0.3, 0.6, 0.8]
    assert y.tolist() == pytest.approx([1 / 7, 1 / 2, 1 / 2, 6 / 7, 6 / 7])
    assert along(x.tolist(), y.tolist(), 0.45) == pytest.approx((1 / 2 + 6 / 7) / 2)


def test_k8_k9_noise_looks_calibrated_where_it_was_fitted_and_the_fit_names_the_split() -> None:
    """Pure noise, fitted and scored on the same data against fitted on other data: in-sample ECE is far below."""
    inside, outside = [], []
    for seed in range(5):
        dev, test = noise(2 * seed, 200), noise(2 * seed + 1, 200)
        fit = fit_isotonic(TWO, *dev, "dev")
        assert fit is not None
        assert fit.fitted_on == {"split": "dev", "hash": content_hash(dev[0]), "n": 200}
        rows = [
            score(TWO, *data, data="any", fits=[fit], replicates=20)["variants"]["isotonic"] for data in (dev, test)
        ]
        assert [row["in_sample"] for row in rows] == [True, False]
        assert rows[1]["fitted_on"]["split"] == "dev"
        inside.append(rows[0]["metrics"]["ece_positive"]["value"])
        outside.append(rows[1]["metrics"]["ece_positive"]["value"])
    assert np.mean(inside) < 0.01
    assert np.mean(outside) > 5 * np.mean(inside)
    assert min(outside) > max(inside)


def three(seed: int, n: int = 300) -> Data:
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet([1, 1, 1], n)
    gold = [
        Example(str(i), {"text": f"T {i}"}, THREE.labels[rng.choice(3, p=p**2 / (p**2).sum())])
        for i, p in enumerate(scores)
    ]
    return gold, [Prediction(str(i), THREE.labels[int(p.argmax())], p.tolist()) for i, p in enumerate(scores)]


def test_of_three_labels_each_has_its_line_and_the_results_sum_to_one() -> None:
    gold, said = three(0)
    fit = fit_isotonic(THREE, gold, said, "dev")
    assert fit is not None and len(fit.parameters["x"]) == 3
    after = apply(fit, said)
    raw = []
    for k in range(3):
        p, event = np.array([s.scores[k] for s in said]), np.array([g.gold == THREE.labels[k] for g in gold])
        least = 1 / 302
        raw.append(IsotonicRegression(y_min=least, y_max=1 - least).fit(p, event).predict(p))
    expected = np.stack(raw, axis=1)
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.array([a.scores for a in after]) == pytest.approx(expected, abs=1e-6)
    assert [a.answer for a in after] == [s.answer for s in said]


def test_of_spans_it_is_the_probability_of_the_best_span() -> None:
    card = Card("toy", "2.0", "span", (), ("f1", "em", "ece"))
    gold = [
        Example(str(i), {"question": "?", "context": "a b"}, [{"text": "a", "start": 0}] if i % 2 else [])
        for i in range(8)
    ]
    best = [{"text": "a", "start": 0, "end": 1, "p": 0.1 * (i + 1)} for i in range(8)]
    said = [Prediction(str(i), "a", {"null_score": 0.0, "best": best[i], "nbest": [best[i]]}) for i in range(8)]
    fit = fit_isotonic(card, gold, said, "dev")
    assert fit is not None
    after = apply(fit, said)
    events = tabulate(card, gold, said).events
    assert [a.scores["best"]["p"] for a in after] == pytest.approx(
        IsotonicRegression(y_min=0.1, y_max=0.9).fit(events.confidence, events.event).predict(events.confidence),
        abs=1e-6,
    )
    assert [(a.answer, a.scores["null_score"], a.scores["nbest"]) for a in after] == [
        (s.answer, 0.0, s.scores["nbest"]) for s in said
    ]
    row = score(card, gold, said, data="toy", fits=[fit], replicates=20)
    assert row["variants"]["isotonic"]["metrics"]["ece"]["value"] < row["metrics"]["ece"]["value"]


def test_nothing_is_fitted_on_gold_of_collapsed_labels() -> None:
    card = Card("toy", "1", "label", ("a", "b", "c"), ("accuracy",), collapse={"b": "rest", "c": "rest"})
    gold, said = three(1, 6)
    other = [Example(one.id, one.text, "rest" if one.gold != "a" else "a") for one in gold]
    assert fit_isotonic(card, [*other[:5], Example("5", {}, "rest")], said, "dev") is None


def test_a_fit_comes_back_from_its_file_and_a_foreign_one_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    fit = fit_isotonic(THREE, *three(2, 20), "dev")
    assert fit is not None
    write_fit(tmp_path / "isotonic.json", fit)
    assert read_fit(tmp_path / "isotonic.json") == fit
    good = {"x": [[0.1, 0.2]], "y": [[0.3, 0.4]]}
    bad = [
        {},
        {"x": 1, "y": 2},
        {"x": [], "y": []},
        {"x": [[]], "y": [[]]},
        {**good, "y": [[0.3]]},
        {**good, "x": [[0.2, 0.2]]},
        {**good, "y": [[0.4, 0.3]]},
        {**good, "y": [[0.0, 0.3]]},
        {**good, "y": [[0.3, 1.1]]},
        {**good, "x": [["a", 0.2]]},
        {**good, "x": [[float("nan"), 0.2]]},
        {**good, "x": [[True, 2]]},
    ]
    for parameters in bad:
        write_json(tmp_path / "bad.json", {"kind": "isotonic", "parameters": parameters, "fitted_on": {}})
        with pytest.raises(Refused, match=r"bad.json: an isotonic fit needs .*; remove the file or fit again"):
            read_fit(tmp_path / "bad.json")


def test_a_fit_of_other_labels_than_the_scores_is_refused() -> None:
    fit = Fit("isotonic", {"x": [[0.1]] * 3, "y": [[0.2]] * 3}, {})
    with pytest.raises(Refused, match="id 'a' has 2 scores, the isotonic fit is of 3 labels"):
        apply(fit, [Prediction("a", "yes", [0.4, 0.6])])
    with pytest.raises(Refused, match="id 'a' has no scores; an isotonic needs scores"):
        apply(fit, [Prediction("a", "yes")])
