"""Lift, gaps and calibration against the statistics they are made of."""

from dataclasses import replace

import numpy as np
import pytest

from heldout.eval.report.calibration import answers_of, reliability_bins
from heldout.eval.report.comparisons import best_baseline, compare
from heldout.eval.report.pictures import p_value
from heldout.eval.report.verdict import verdict


def test_the_best_baseline_is_chosen_on_dev_not_on_test(read):
    best, _ = best_baseline(read)
    assert best.name == "tf-idf"
    lower = {name: dict(scores) for name, scores in best.scores.items()}
    lower["dev"]["metrics"] = {"accuracy": {"value": 0.01}}
    spoilt = [replace(s, scores=lower) if s.name == "tf-idf" else s for s in read.systems]
    assert best_baseline(replace(read, systems=tuple(spoilt)))[0].name == "majority"


def test_without_a_baseline_or_its_dev_predictions_the_verdict_says_why(read):
    alone = replace(read, systems=read.systems[:1])
    assert "no baseline was run beside it" in " ".join(verdict(alone, compare(alone, 50)))
    no_dev = [replace(s, scores={k: v for k, v in s.scores.items() if k != "dev"}) for s in read.systems]
    assert "no baseline has predictions on dev" in best_baseline(replace(read, systems=tuple(no_dev)))[1]


def test_a_lift_is_the_paired_difference_of_two_systems(read):
    found = compare(read, 300)
    lift = found.lifts["tf-idf", "imdb", ""]
    data, first, second = read.tests[0], read.main.predictions["imdb"], found.best.predictions["imdb"]
    right = [
        np.array([e.gold == p.answer for e, p in zip(data.examples, predictions, strict=True)], float)
        for predictions in (first, second)
    ]
    # The oracle: films drawn whole, the mean of the difference of hits over what was drawn.
    films = np.array([number // 3 for number in range(200)])
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(3000):
        rows = np.concatenate([np.flatnonzero(films == film) for film in rng.integers(0, 67, 67)])
        drawn.append((right[0] - right[1])[rows].mean())
    assert lift.difference[0] == pytest.approx((right[0] - right[1]).mean())
    assert lift.difference[1:] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.03)
    assert (lift.only_first, lift.only_second) == ((right[0] > right[1]).sum(), (right[0] < right[1]).sum())
    assert len(found.lifts) > 10 and not [key for _, _, key in found.lifts if key.startswith("truncated")]


def test_a_slice_lift_counts_the_examples_of_the_slice_alone(read):
    found = compare(read, 50)
    sides = [found.lifts["tf-idf", "imdb", f"negation={part}"] for part in ("in scope", "rest")]
    whole = found.lifts["tf-idf", "imdb", ""]
    assert sum(side.only_first for side in sides) == whole.only_first > 0
    assert sum(side.only_second for side in sides) == whole.only_second > 0


@pytest.mark.parametrize("few", [1, 2, 20, 29])
def test_a_slice_of_a_few_texts_is_never_said_to_lose(read, few):
    """A handful of negated texts, all wrong or all but one: whatever the bootstrap gives, the page says too few."""
    data, predictions = read.tests[0], read.main.predictions["imdb"]
    texts = ["It was not a good film." if k < few else "It was a fine film." for k in range(200)]
    examples = [replace(e, text={"text": t}, about={}) for e, t in zip(data.examples, texts, strict=True)]
    answers = [
        replace(p, answer=e.gold if (k > few and k % 9) or k == 3 else next(x for x in read.card.labels if x != e.gold))
        for k, (e, p) in enumerate(zip(examples, predictions, strict=True))
    ]
    main = replace(read.main, predictions={"imdb": tuple(answers)})
    alone = replace(read, tests=(replace(data, examples=tuple(examples)),), systems=(main,))
    gap = compare(alone, 200).gaps["negation=in scope", "negation=rest"]
    assert gap[0] < -0.5 and gap[1:] == (None, None)


def test_every_answer_is_in_one_bin_and_the_bins_give_the_ece(read):
    bins = reliability_bins(answers_of(read, read.tests[0]))
    assert sum(b.n for b in bins) == 200
    ece = sum(abs(b.right - b.confidence * b.n) for b in bins) / 200
    assert ece == pytest.approx(read.main.scores["imdb"]["metrics"]["ece"]["value"])


def test_a_p_value_is_never_shown_as_zero():
    assert (p_value(0.0131), p_value(1e-9)) == ("= 0.013", "< 0.001")
