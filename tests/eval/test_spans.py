import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.eval.differences import differences, discordant, domain_drop
from heldout.eval.metrics import chosen, find, known
from heldout.eval.score import score
from heldout.eval.spans import SpanTable
from heldout.eval.statistics import Sampling
from heldout.eval.summary import summary
from heldout.eval.tabulate import tabulate
from heldout.eval.text import render
from heldout.records import Card, Example, Prediction
from heldout.runs import write_json

V1 = Card("squad", "1.1", "span", (), ("f1", "em", "ece", "ece_mass", "brier", "aurc"))
V2 = Card("squad", "2.0", "span", (), ("f1", "em", "ece", "ece_mass", "brier", "aurc"))
SPLIT = ["has_ans_em", "has_ans_f1", "no_ans_acc"]
#: What ECE brings along.
SURE = ("mce", "em_at_80", "em_at_90", "em_at_95")


def asked(name: str, *golds: str) -> Example:
    text = {"question": f"Which is {name}?", "context": " ".join(golds) or "Nothing of the kind."}
    return Example(name, text, [{"text": gold, "start": 0} for gold in golds], {"group": name[0]})


def said(name: str, answer: str, best: str = "", p: float | None = None) -> Prediction:
    span = {"text": best or answer, "start": 0, "end": len(best or answer), "p": p}
    return Prediction(name, answer, None if p is None else {"null_score": 0.0, "best": span})


GOLD = [asked("a1", "one", "one two"), asked("a2", "three"), asked("b1"), asked("b2")]
SAID = [said("a1", "two", p=0.6), said("a2", "", "three", 0.3), said("b1", "", "four", 0.2), said("b2", "the", p=0.9)]


def test_a_table_holds_both_scores_of_the_answer_and_whether_the_best_span_is_right() -> None:
    table = tabulate(V2, GOLD, SAID[::-1])
    assert isinstance(table, SpanTable)
    assert table.em.tolist() == [0, 0, 1, 1]
    assert table.f1.tolist() == pytest.approx([2 / 3, 0, 1, 1])
    assert table.answerable.tolist() == [True, True, False, False]
    # "the" leaves nothing of itself, as no answer does, but as a span it is not right.
    assert table.events.event.tolist() == [0, 1, 0, 0]
    assert table.events.confidence.tolist() == [0.6, 0.3, 0.2, 0.9]
    assert table.correct is table.em


def test_metrics_are_over_all_questions_over_those_with_an_answer_and_over_those_without() -> None:
    table = tabulate(V2, GOLD, SAID)
    values = {name: find(name).of(table) for name in ("em", "f1", *SPLIT)}
    assert values == pytest.approx(
        {"em": 0.5, "f1": (2 / 3 + 2) / 4, "has_ans_em": 0.0, "has_ans_f1": 1 / 3, "no_ans_acc": 1.0}
    )
    assert find("brier").of(table) == pytest.approx((0.36 + 0.49 + 0.04 + 0.81) / 4)
    assert find("ece").of(table) == pytest.approx((0.6 + 0.7 + 0.2 + 0.9) / 4)


def test_the_metrics_by_answerable_come_where_a_question_has_no_answer_and_only_there() -> None:
    names = [metric.name for metric in chosen(V2, tabulate(V2, GOLD, SAID))]
    assert names == ["f1", "em", *SPLIT, "ece", "ece_mass", *SURE, "brier", "aurc"]
    answered = [metric.name for metric in chosen(V2, tabulate(V2, GOLD[:2], SAID[:2]))]
    assert [name for name in answered if name not in SURE] == list(V2.metrics)
    alone = Card("squad", "2.0", "span", (), ("no_ans_acc", "em"))
    assert [m.name for m in chosen(alone, tabulate(alone, GOLD, SAID))] == ["no_ans_acc", "em", *SPLIT[:2]]


def test_metrics_of_labels_are_refused_on_a_card_of_spans_and_the_other_way_round() -> None:
    with pytest.raises(Refused, match="metric 'accuracy' is for label cards only"):
        chosen(Card("squad", "2.0", "span", (), ("accuracy",)), tabulate(V2, GOLD, SAID))
    of_spans = {name for name, metric in known().items() if "span" in metric.kinds}
    cases = {"both_right", "twin_gap", "flip_rate", "moved", "expectation_met"}
    assert of_spans - cases == {"em", "f1", *SPLIT, "ece", "ece_mass", "brier", "aurc", *SURE}


@pytest.mark.parametrize(("version", "f1"), [("1.1", 0.0), ("1", 0.0), ("2.0", 1.0), ("2", 1.0)])
def test_the_cards_version_says_whose_rules_judge(version: str, f1: float) -> None:
    card = Card("squad", version, "span", (), ("f1",))
    assert find("f1").of(tabulate(card, [asked("a1", "the")], [said("a1", "")])) == f1


def test_questions_without_an_answer_are_judged_by_the_rules_that_know_them_whatever_the_card_says() -> None:
    assert find("em").of(tabulate(V1, GOLD, SAID)) == find("em").of(tabulate(V2, GOLD, SAID))


def test_one_row_without_scores_leaves_none_and_whatever_needs_them_says_so() -> None:
    bare = [*SAID[:3], said("b2", "")]
    table = tabulate(V2, GOLD, bare)
    assert (table.scored, table.unscored) == (False, 1)
    with pytest.raises(Refused, match="1 of 4 predictions have no scores"):
        _ = table.events
    entries = score(V2, GOLD, bare, data="toy", replicates=50)["metrics"]
    assert {name for name, entry in entries.items() if entry["value"] is None} == {"ece", "ece_mass", "brier", "aurc"}
    assert entries["aurc"]["note"] == "needs scores: 1 of 4 predictions have none"
    assert entries["em"]["value"] == 0.5


def test_a_number_about_no_question_is_a_note_not_a_number() -> None:
    card = Card("squad", "2.0", "span", (), ("em", "no_ans_acc"))
    row = score(card, GOLD[:2], SAID[:2], data="toy", replicates=50)
    assert row["metrics"]["no_ans_acc"] == {"value": None, "note": "no impossible questions"}
    assert "no impossible questions" in render(row)
    sliced = score(V2, GOLD, SAID, data="toy", replicates=50)["slices"]
    assert sliced["answerable=no"]["metrics"]["has_ans_f1"]["note"] == "no answerable questions"
    assert sliced["answerable=yes"]["metrics"]["has_ans_f1"]["n"] == 2


def test_a_share_of_some_questions_has_wilsons_interval_of_those() -> None:
    gold = [Example(example.id, example.text, example.gold) for example in GOLD]
    entries = score(V2, gold, SAID, data="toy", replicates=50)["metrics"]
    assert {entries[name]["method"] for name in ("em", "has_ans_em", "no_ans_acc")} == {"Wilson 95%"}
    # Two of two: Wilson's lower bound at a share of 1 is n/(n + z²).
    assert entries["no_ans_acc"]["low"] == pytest.approx(2 / (2 + 1.959964**2), rel=1e-6)
    assert entries["no_ans_acc"]["high"] == pytest.approx(1.0)


def drawn(seed: int, n: int = 60, skill: float = 0.6) -> tuple[list[Example], list[Prediction]]:
    """Questions of 12 articles, a third without an answer, and a system that is right about as often as it says."""
    rng = np.random.default_rng(seed)
    gold, predictions = [], []
    for number in range(n):
        answers = [] if number % 3 == 0 else [{"text": f"word {number}", "start": 0}]
        p = float(rng.uniform(skill / 2, 1))
        right = rng.random() < p
        best = f"word {number}" if right else f"word {number} more" if rng.random() < 0.5 else "other"
        answer = "" if not answers and right else best
        gold.append(Example(f"{number}", {"question": "Who?", "context": "."}, answers, {"group": f"{number % 12}"}))
        span = {"text": best, "start": 0, "end": len(best), "p": p}
        predictions.append(Prediction(f"{number}", answer, {"null_score": float(rng.normal()), "best": span}))
    return gold, predictions


@given(st.integers(0, 200), st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_no_metric_of_spans_depends_on_order_and_all_stay_in_their_range(seed: int, random) -> None:  # type: ignore[no-untyped-def]
    gold, predictions = drawn(seed)
    random.shuffle(predictions)
    order = np.random.default_rng(seed).permutation(60)
    table = tabulate(V2, gold, predictions)
    names = [metric.name for metric in chosen(V2, table)]
    assert len(names) == 13
    for name in names:
        assert 0 <= find(name).of(table) <= 1
        assert find(name).of(table.take(order)) == pytest.approx(find(name).of(table), abs=1e-9), name


def test_a_replicate_in_which_nothing_was_drawn_is_no_value_of_any_metric() -> None:
    table = tabulate(V2, *drawn(0))
    for metric in chosen(V2, table):
        sums = metric.columns(table).sum(axis=0)
        values = metric.value(np.stack([np.zeros_like(sums), sums]).astype(np.float32))
        assert np.isnan(values[0]) and np.isfinite(values[1]), metric.name


def test_two_systems_are_paired_by_question_with_mcnemar_on_exact_match_and_whole_articles_for_f1() -> None:
    gold, first = drawn(1, skill=1.0)
    _, second = drawn(2, skill=0.2)
    tables = [tabulate(V2, gold, rows) for rows in (first, second)]
    only_first, only_second, p = discordant(*tables)
    hits = [[find("em").of(table.take(np.array([i]))) for i in range(60)] for table in tables]
    assert only_first == sum(a > b for a, b in zip(*hits, strict=True)) > only_second
    assert 0 < p < 1
    rows = np.arange(60)
    sampling = Sampling(60, np.arange(60) % 12, 200)
    found = differences({"f1": ((tables[0], rows), (tables[1], rows))}, find("f1"), sampling)["f1"]
    assert found["value"] == pytest.approx(find("f1").of(tables[0]) - find("f1").of(tables[1]))
    assert found["low"] <= found["value"] <= found["high"]
    assert "12 groups kept whole, the same draws for both sides" in found["method"]
    answerable = np.flatnonzero(tables[0].answerable)
    sides = ((tables[0], answerable), (tables[1], answerable))
    none = differences({"none": sides}, find("no_ans_acc"), sampling)["none"]
    assert (none["value"], none["n"], none["method"]) == (None, [0, 0], "a side has no impossible questions")


def test_a_drop_to_a_set_without_impossible_questions_leaves_out_what_is_about_them() -> None:
    first, other = drawn(3), drawn(4)
    answered = [i for i, example in enumerate(other[0]) if example.gold]
    other = [other[0][i] for i in answered], [other[1][i] for i in answered]
    found = domain_drop(V2, first, other, replicates=50)
    assert set(found) == {"f1", "em", "has_ans_em", "has_ans_f1", "ece", "ece_mass", "brier", "aurc", *SURE[1:]}
    assert found["has_ans_f1"]["n"] == [40, 40]


def test_a_run_of_spans_prints_its_main_metric_and_what_the_threshold_makes_of_it(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from heldout.eval.fits import fit_null_threshold

    fit = fit_null_threshold(V2, *drawn(5), "dev")
    assert fit is not None
    row = score(V2, *drawn(6), data="test", fits=[fit], replicates=50)
    lines = render(row).splitlines()
    assert any(line.split()[:5] == ["value", "95%", "interval", "after", "null"] for line in lines)
    assert next(line for line in lines if line.startswith("slice")).split()[2:] == [
        *("f1", "95%", "interval", "after", "null", "threshold")
    ]
    write_json(tmp_path / "run" / "scores" / "test.json", row)
    head, line = summary([tmp_path / "run"], ["test"]).splitlines()
    assert "EM" in head and "ECE" in head and "f1 after null threshold" in head
    assert f"{row['variants']['null_threshold']['metrics']['f1']['value']:.3f}" in line
