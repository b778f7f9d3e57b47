"""A report of questions: the threshold and what it changes, the cards, the curve, and nothing of the texts where they
are left out.
"""

import re
from html import unescape

from heldout.eval.report import build
from heldout.eval.report.comparisons import compare
from heldout.eval.report.mistakes import most_confident
from heldout.eval.report.spans import VIEW
from heldout.eval.report.verdict import verdict


def rows_of(table):
    return {row.name: dict(zip(table.heads[1:], row.cells, strict=True)) for row in table.rows}


def test_the_threshold_of_dev_stands_beside_the_best_of_the_set_which_is_called_no_result(inputs):
    read = inputs["span"]
    (section,) = VIEW.sections(read)
    systems, threshold = section.pieces[0].blocks
    every = {f"{system} on {data}" for system in ("reader", "sliding-window") for data in ("mills", "barns")}
    assert set(rows_of(systems.table)) == every
    for name in ("mills", "barns"):
        scores = read.main.scores[name]
        variant = scores["variants"]["null_threshold"]
        row = rows_of(threshold.table)[name]
        assert row["threshold of dev"].value.replace("−", "-") == f"{variant['parameters']['null_threshold']:.2f}"
        assert row["F1 as answered"].value == f"{100 * scores['metrics']['f1']['value']:.1f}%"
        assert row["F1 after it"].value == f"{100 * variant['metrics']['f1']['value']:.1f}%"
        best = variant["best_on_this"]["metrics"]["f1"]
        assert row["F1 with that, no result"].value == f"{100 * best:.1f}%"
        assert best >= variant["metrics"]["f1"]["value"]
    assert "it is no result" in threshold.note


def test_the_verdict_tells_both_halves_of_the_questions_and_where_the_threshold_is_from(inputs):
    read = inputs["span"]
    together = " ".join(verdict(read, compare(read, 60)))
    metrics = read.main.scores["mills"]["metrics"]
    f1, em, no = (f"{100 * metrics[m]['value']:.1f}%" for m in ("f1", "em", "no_ans_acc"))
    assert together.startswith(f"On the 60 mills questions the F1 of reader is {f1} (95% interval ")
    assert f"Of its answers {em} (" in together
    assert "On the 40 questions that have an answer the F1 is " in together
    assert f"of the 20 that have none it leaves {no} (" in together
    best = read.main.scores["mills"]["variants"]["null_threshold"]["best_on_this"]["metrics"]["f1"]
    assert re.search(r"A null threshold of \S+, fitted on dev \(60 questions\), takes the F1 on mills from ", together)
    assert f"the best one for mills itself would give {100 * best:.1f}%, which is chosen on the test set." in together
    assert "temperature" not in together
    assert re.search(r"Of the \d+ mills best spans with \d+% to \d+% confidence .* matched gold exactly", together)
    curve = metrics["aurc"]["curve"]
    half = dict(zip(curve["coverage"], curve["risk"], strict=True))[0.5]
    assert f"Of the surest 50% of its best spans on mills {100 * half:.1f}% don't match gold exactly" in together


def test_the_calibration_is_of_best_spans_and_says_nothing_of_a_temperature(pages):
    page = unescape(pages["span"])
    part = page.split('id="calibration"')[1].split("</section>")[0]
    assert "of its best spans with 80% probability, 80% should match gold exactly" in part
    assert "60 best spans" in part and "temperature" not in part.lower()
    assert part.count('class="curves"') == 2 and part.count("<polyline") == 2 and "AURC 0." in part


def test_the_curve_is_drawn_through_the_points_of_the_scores(inputs, pages):
    curve = inputs["span"].main.scores["mills"]["metrics"]["aurc"]["curve"]
    points = re.search(r'<polyline class="curve model" points="([^"]+)"', pages["span"]).group(1)
    pairs = [tuple(map(float, point.split(","))) for point in points.split()]
    assert len(pairs) == len(curve["risk"]) == 20
    xs, ys = zip(*pairs, strict=True)
    assert list(xs) == sorted(xs) and xs[-1] == 38 + 330
    lowest = min(range(20), key=lambda k: curve["risk"][k])
    assert ys[lowest] == max(ys) and min(ys) >= 10


def test_a_card_marks_gold_and_the_answer_where_they_stand(inputs):
    found = most_confident(inputs["span"], lambda *_: [])
    cards = {(m.system, m.data, m.id): m for m in found.shown}
    assert len(cards) == found.total
    marked = [m for m in found.shown if m.body.fields and "<mark" in m.body.fields[1].parts[0].text]
    assert len(marked) > 60
    both = next(m for m in marked if m.body.keys["fate"] == ("shares no word with gold",) and m.system == "reader")
    text = both.body.fields[1].parts[0].text
    assert re.search(r'<mark class="gold">\w+ \w+</mark> <small class="label gold">gold</small>', text)
    assert re.search(r'<mark class="found">in 18\d\d</mark> <small class="label found">answer</small>', text)
    assert re.fullmatch(r"Answered “in 18\d\d” with 40.0% confidence; gold is “\w+ \w+” or “\w+”", both.body.heading)
    impossible = next(m for m in marked if m.body.keys["fate"] == ("answered though impossible",))
    assert impossible.body.heading.endswith("; gold has no answer") and "label gold" not in str(impossible.body.fields)


def test_a_question_left_unanswered_shows_the_span_that_was_not_given(inputs):
    found = most_confident(inputs["span"], lambda *_: [])
    silent = next(m for m in found.shown if m.body.keys["fate"] == ("left unanswered",))
    assert silent.body.heading.startswith("Gave no answer; gold is “") and silent.confidence is None
    assert '<small class="label found">best span, not given</small>' in str(silent.body.fields[1].parts[0].text)
    assert "best span’s probability" in silent.body.note and "null score" in silent.body.note


def test_a_long_passage_is_open_around_gold_and_answer(inputs):
    found = most_confident(inputs["span"], lambda *_: [])
    long = [m.body.fields[1] for m in found.shown if m.id == "q1"]
    assert long
    for field in long:
        opened = [part for part in field.parts if not part.folded]
        assert len(opened) == 1 and "label gold" in opened[0].text and field.lost > 10_000
        assert len(field.parts) == 3


def test_no_text_tells_no_question_no_passage_and_no_answer(folders):
    html = build([folders["span"]], text=False, replicates=60).split("<body>")[1].split("<script>")[0]
    assert "Gave an answer" in html and "gold has one" in html
    for word in ("mill,", "Moor", "Ada", "Who built", "in 18", "alert"):
        assert word not in html, word


def test_the_filters_offer_what_went_wrong_and_no_gold(pages):
    filters = re.findall(r'<label>([^<]+)<select name="(\w+)">', pages["span"])
    assert filters == [
        ("System", "system"),
        ("Test set", "data"),
        ("What went wrong", "fate"),
        ("Slice", "slice"),
    ]
