"""Each sentence of the verdict with hand-made numbers: a loss is called a loss, and chance is called chance."""

import pytest

from heldout.eval.report import sentences

CHANCE = "no more than chance could give"


def test_the_lead_says_how_many_are_right_with_the_interval():
    said = sentences.answered("MiniLM", "imdb", 868, 1000, 0.846, 0.888)
    assert said == "MiniLM answers 868 of 1,000 imdb texts right (86.8%, 95% interval 84.6–88.8)."


def test_the_lead_does_without_an_interval_where_there_is_none():
    assert sentences.answered("m", "x", 1, 1, None, None) == "m answers 1 of 1 x texts right (100.0%)."


def test_another_main_metric_is_named():
    said = sentences.measured("m", "sst", "macro_f1", (0.512, 0.49, 0.53), 2210)
    assert said == "On the 2,210 sst texts the macro F1 of m is 51.2% (95% interval 49.0–53.0)."
    assert "needs scores" in sentences.measured("m", "sst", "nll", (None, None, None), 10)


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        ((0.016, 0.003, 0.029), "It beats the best baseline, tf-idf (85.2%), by 1.6 points (interval 0.3 to 2.9)."),
        ((-0.02, -0.03, -0.01), "It does worse than the best baseline, tf-idf (85.2%), by 2.0 points"),
        ((0.016, -0.009, 0.041), "It is 1.6 points better than the best baseline, tf-idf (85.2%)"),
        ((-0.005, -0.02, 0.01), "It is 0.5 points worse than the best baseline, tf-idf (85.2%)"),
        ((0.0, -0.02, 0.02), "It does exactly as well as the best baseline, tf-idf (85.2%)"),
        ((0.016, None, None), "It is 1.6 points better than the best baseline, tf-idf (85.2%); too few texts for an"),
        ((0.0, None, None), "It does exactly as well as the best baseline, tf-idf (85.2%); too few texts for an"),
        ((None, None, None), "No difference between it and the best baseline, tf-idf (85.2%) can be computed"),
    ],
)
def test_a_lift_is_called_what_it_is(difference, expected):
    assert sentences.lift("It", "the best baseline, tf-idf", 0.852, "accuracy", difference).startswith(expected)


@pytest.mark.parametrize("low", [-0.009, 0.0])
def test_a_lift_whose_interval_holds_zero_is_no_more_than_chance(low):
    said = sentences.lift("It", "the best baseline, tf-idf", 0.852, "accuracy", (0.016, low, 0.041))
    assert said.endswith(f" to 4.1, {CHANCE}.") and "beats" not in said


def test_a_metric_that_is_no_share_is_not_told_in_points():
    said = sentences.lift("It", "x", 0.41, "mcc", (0.1, 0.05, 0.15))
    assert said == "It beats x (0.410) by 0.100 (interval 0.050 to 0.150)."


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        ((-0.049, -0.08, -0.01), "it loses 4.9 points there (interval −8.0 to −1.0)."),
        ((0.03, 0.01, 0.05), "it gains 3.0 points there (interval 1.0 to 5.0)."),
        ((-0.01, -0.04, 0.02), f"a difference of 1.0 point (interval −4.0 to 2.0), {CHANCE}."),
        ((-0.01, None, None), "too few texts for an interval of the difference."),
    ],
)
def test_a_slice_is_set_against_the_rest(gap, expected):
    said = sentences.slice_gap("texts with a negated opinion", (0.821, 300), (0.87, 700), "accuracy", gap)
    assert said.startswith("On texts with a negated opinion it reaches 82.1% (n = 300), elsewhere 87.0% (n = 700)")
    assert said.endswith(expected)


def test_drops_name_every_domain_and_the_worst():
    changes = {"yelp": (0.02, 0.01, 0.03), "books": (0.1, 0.08, 0.12), "dvd": (-0.01, -0.03, 0.01)}
    assert sentences.drops("imdb", changes, "accuracy") == (
        "From imdb to yelp it loses 2.0 points (interval 1.0 to 3.0); to books it loses 10.0 points "
        "(interval 8.0 to 12.0); to dvd it gains 1.0 point (interval −1.0 to 3.0, no more than chance could give). "
        "The worst domain is books."
    )


def test_one_domain_is_not_called_the_worst_and_none_is_silent():
    assert "worst" not in sentences.drops("imdb", {"yelp": (0.02, 0.01, 0.03)}, "accuracy")
    assert sentences.drops("imdb", {}, "accuracy") == ""
    assert sentences.drops("imdb", {"yelp": (None, None, None)}, "accuracy") == ""
    assert "changes nothing" in sentences.drops("imdb", {"yelp": (0.0, -0.01, 0.01)}, "accuracy")
    assert "loses 20.0 points (too few texts" in sentences.drops("imdb", {"yelp": (0.2, None, None)}, "accuracy")
    two = {"yelp": (-0.02, -0.03, -0.01), "books": (-0.01, -0.03, -0.005)}
    assert "worst" not in sentences.drops("imdb", two, "accuracy")


@pytest.mark.parametrize("bounds", [(-0.01, 0.05), (0.0, 0.04), (None, None)])
def test_a_loss_that_may_be_chance_makes_no_worst_domain(bounds):
    changes = {"yelp": (0.01, -0.01, 0.03), "books": (0.02, *bounds)}
    said = sentences.drops("imdb", changes, "accuracy")
    assert "worst" not in said and said.endswith(". The lowest here is books, not told apart from imdb.")


def test_confidence_is_set_against_what_came_true():
    said = sentences.confident("imdb", 120, 102, 13 / 15, 14 / 15, 0.904)
    expected = "Of the 120 imdb answers given with 87% to 93% confidence (mean 90.4%), 102 were right (85.0%)."
    assert said == expected


def test_a_temperature_that_makes_a_domain_worse_says_so():
    changes = {
        "imdb": sentences.Change(0.054, 0.031, (-0.023, -0.03, -0.01)),
        "yelp": sentences.Change(0.04, 0.06, (0.02, 0.001, 0.03)),
        "books": sentences.Change(0.05, 0.04, (-0.01, -0.02, 0.01)),
        "dvd": sentences.Change(0.05, 0.01, (-0.04, None, None)),
    }
    assert sentences.temperature(1.62, "dev", 500, changes) == (
        "A temperature of 1.62, fitted on dev (500 texts), takes the ECE on imdb from 0.054 to 0.031 (better, change "
        "−0.030 to −0.010), on yelp from 0.040 to 0.060 (worse, change 0.001 to 0.030), on books from 0.050 to 0.040 "
        "(no more than chance could give, change −0.020 to 0.010) and on dvd from 0.050 to 0.010 (too few texts to "
        "tell)."
    )
    assert sentences.temperature(1.0, "dev", 5, {}) == ""
    assert str(sentences.Change(0.05, 0.05, (0, 0, 0))) == "from 0.050 to 0.050 (no change)"


def test_an_ece_that_perfect_calibration_would_show_is_called_chance():
    said = str(sentences.Change(0.013, 0.03, (0.017, 0.001, 0.02), chance=True))
    assert said == "from 0.013 to 0.030 (both no more than chance, change 0.001 to 0.020)"


def test_cut_texts_are_told_with_the_limit():
    assert (
        sentences.cut({"imdb": (300, 1000), "yelp": (0, 50)}, 256) == "300 of 1,000 imdb texts were cut at 256 tokens."
    )
    assert sentences.cut({"imdb": (0, 10)}, 256) == "No text was cut at 256 tokens."
    assert sentences.cut({"imdb": (1, 10)}, None) == "1 of 10 imdb texts were cut at the model's limit."
    assert sentences.cut({}, 256) == ""


def test_overlap_is_told_with_the_score_without_it():
    said = sentences.overlap("imdb", (1000, 12, 0), "accuracy", 0.865)
    assert said.endswith("also stand in train, word for word or nearly; without them its accuracy is 86.5%.")
    assert sentences.overlap("imdb", (10, 10, 0), "accuracy", None).endswith("nearly.")


def test_a_shared_premise_is_not_called_a_repeated_text():
    said = sentences.overlap("snli", (900, 0, 24), "accuracy", 0.5, "pairs")
    assert said == (
        "Of the 900 snli pairs 24 share a premise or a passage with train; without them its accuracy is 50.0%."
    )
    both = sentences.overlap("snli", (900, 2, 24), "accuracy", None, "pairs")
    assert both.startswith("Of the 900 snli pairs 2 also stand in train, word for word or nearly and 24 share")


def test_seeds_are_told_with_their_spread():
    said = sentences.seeds("imdb", "accuracy", [0.85, 0.87, 0.86], "about seed 1")
    assert said.startswith("Over 3 seeds the accuracy on imdb averages 86.0% (sd 1.0 point, 85.0% to 87.0%)")


def test_a_test_set_that_was_fitted_on_is_no_held_out_test():
    assert sentences.fitted_on("imdb", ["the temperature of m"]).startswith("imdb is no held-out test")
    assert "a and b were fitted" in sentences.fitted_on("imdb", ["a", "b"])
