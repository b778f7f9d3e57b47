"""A report of NLI: pairs side by side, what the hypothesis alone gives, sets with fewer labels."""

import re
from html import unescape

from heldout.eval.report.comparisons import compare
from heldout.eval.report.mistakes import most_confident
from heldout.eval.report.verdict import verdict


def test_the_verdict_tells_what_needs_no_premise(inputs):
    read = inputs["pairs"]
    together = " ".join(verdict(read, compare(read, 60)))
    scores = {s.name: s.scores["rain"]["metrics"] for s in read.systems}
    blind, majority = (f"{100 * scores[s]['accuracy']['value']:.1f}%" for s in ("hypothesis-only", "majority"))
    assert (
        f"Artefact check: hypothesis-only never sees the premise and has an accuracy of {blind} on rain (always the "
        f"commonest label: {majority})" in together
    )
    right = sum(e.gold == p.answer for e, p in zip(read.tests[0].examples, read.main.predictions["rain"], strict=True))
    assert together.startswith(f"judge answers {right} of 90 rain pairs right (")
    consistent = 100 * scores["judge"]["pair_consistency"]["value"]
    assert f"Of the 45 contrast pairs of rain it answers {consistent:.1f}% (" in together
    assert "On heuristics neutral and contradiction count as one, non-entailment: 2 labels instead of 3" in together
    assert (
        "On pairs with a negation in the hypothesis alone it reaches " in together and "on those with none" in together
    )


def test_the_other_member_of_a_contrast_pair_stands_beside_a_mistake(inputs):
    read = inputs["pairs"]
    found = most_confident(read, lambda *_: [])
    answers = {s.name: {p.id: p.answer for p in s.predictions["rain"]} for s in read.systems}
    golds = {example.id: example.gold for example in read.tests[0].examples}
    of_pairs = [m for m in found.shown if m.data == "rain"]
    assert len(of_pairs) > 60
    for mistake in of_pairs:
        number = int(mistake.id[1:])
        other = f"p{number + 1 if number % 2 == 0 else number - 1}"
        (member,) = mistake.body.beside
        judged = "rightly" if answers[mistake.system][other] == golds[other] else "wrongly"
        assert member.heading == (
            f"The same pair's other member: {judged} answered {answers[mistake.system][other]}; gold is {golds[other]}"
        )
        assert [field.name for field in member.fields] == ["premise", "hypothesis"]
    assert not any(m.body.beside for m in found.shown if m.data == "heuristics")


def test_a_label_that_is_counted_as_another_says_so(inputs):
    found = most_confident(inputs["pairs"], lambda *_: [])
    heads = {m.body.heading for m in found.shown if m.data == "heuristics" and "gold is entailment" in m.body.heading}
    assert heads and all("(counted as non-entailment)" in head for head in heads)


def test_both_texts_of_a_pair_have_their_names(pages):
    page = unescape(pages["pairs"])
    cards = page.split('<article class="mistake"')[1:]
    assert len(cards) > 100
    for card in cards:
        assert len(re.findall(r'<p class="note">premise</p>', card)) == len(re.findall("hypothesis</p>", card)) > 0
