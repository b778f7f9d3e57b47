"""Kind span in the report: exact match and F1, questions without an answer, and the threshold of the null score."""

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.eval.report import kind_sentences as sentences
from heldout.eval.report.inputs import Inputs, System
from heldout.eval.report.pieces import Block, Group, Section
from heldout.eval.report.sentences import measured
from heldout.eval.report.span_cards import cards
from heldout.eval.report.tables import Cell, HtmlTable, Row, metric_cell
from heldout.eval.report.view import View, Words
from heldout.eval.report.wording import bounded, measure, number, title
from heldout.eval.statistics import FEW

WORDS = Words("question", "questions", "best spans", "best spans", "matched gold exactly", "exact matches: ")
METRICS = ("f1", "em", "has_ans_f1", "has_ans_em", "no_ans_acc")
THRESHOLD = "null_threshold"


def _sections(inputs: Inputs) -> list[Section]:
    blocks = [Block("Every system", _systems(inputs))]
    thresholds = _thresholds(inputs)
    if thresholds.rows:
        note = (
            "Where the null score (no answer against the best span) is over the threshold, nothing is answered. The "
            "threshold is fitted on dev and applied to the test sets. What the best one of each set itself would have "
            "given is chosen on the answers it is scored on: it is no result, and stands here so that nobody takes "
            "such a figure of another report for one."
        )
        blocks.append(Block("The null threshold", thresholds, note))
    note = (
        "F1 is that of the words that answer and gold share, the best over a question's gold answers; exact match is "
        "the share of answers that equal one, both after SQuAD's normalisation."
    )
    return [Section("Answers", (Group("", tuple(blocks)),), note)]


def _systems(inputs: Inputs) -> HtmlTable:
    found = [(s, d.name, _metrics(s, d.name)) for d in inputs.tests for s in inputs.systems if d.name in s.scores]
    shown = [metric for metric in METRICS if any(metric in metrics for _, _, metrics in found)]
    rows = [
        Row(
            f"{system.name} on {data}",
            tuple(metric_cell(m, metrics.get(m)) for m in shown),
            whole=system is inputs.main,
        )
        for system, data, metrics in found
    ]
    return HtmlTable(("system and set", *(title(metric) for metric in shown)), tuple(rows))


def _metrics(system: System, data: str) -> Mapping[str, Any]:
    metrics: Mapping[str, Any] = system.scores.get(data, {}).get("metrics", {})
    return metrics


def _variant(inputs: Inputs, data: str) -> Mapping[str, Any]:
    variant: Mapping[str, Any] = inputs.main.scores.get(data, {}).get("variants", {}).get(THRESHOLD, {})
    return variant


def _thresholds(inputs: Inputs) -> HtmlTable:
    """F1 and exact match as answered, after the threshold of dev, and with the best on the set itself."""
    rows = []
    for data in inputs.tests:
        before, variant = _metrics(inputs.main, data.name), _variant(inputs, data.name)
        if not variant:
            continue
        best = variant.get("best_on_this", {})
        cells = [
            Cell(number(variant["parameters"][THRESHOLD]), "chosen on this set" if variant.get("in_sample") else ""),
            *(metric_cell(m, side.get(m)) for m in ("f1", "em") for side in (before, variant.get("metrics", {}))),
            Cell(number(best["parameters"][THRESHOLD]) if best else "–"),
            *(Cell(measure(m, best.get("metrics", {}).get(m))) for m in ("f1", "em")),
        ]
        rows.append(Row(data.name, tuple(cells)))
    sides = [f"{title(m)} {when}" for m in ("f1", "em") for when in ("as answered", "after it")]
    best = ("best threshold on the set itself", "F1 with that, no result", "exact match with that, no result")
    return HtmlTable(("set", "threshold of dev", *sides, *best), tuple(rows))


def _lead(inputs: Inputs) -> Iterator[str]:
    """F1 and exact match; questions with an answer and those without."""
    first, main, metric = inputs.tests[0], inputs.main, inputs.metric
    metrics = {name: bounded(entry) for name, entry in _metrics(main, first.name).items()}
    said = measured(main.name, first.name, metric, metrics[metric], len(first.examples), WORDS.many)
    exact = metrics.get("em", (None, None, None))
    yield said + (sentences.exact(exact) if metric != "em" and exact[0] is not None else "")
    parts = _metrics(main, first.name)
    if bounded(parts.get("has_ans_f1"))[0] is not None and bounded(parts.get("no_ans_acc"))[0] is not None:
        yield sentences.answerable(*((bounded(parts[m]), int(parts[m]["n"])) for m in ("has_ans_f1", "no_ans_acc")))


def _more(inputs: Inputs) -> Iterator[str]:
    """What the threshold changes on the first set, and what answering only the surest questions would give."""
    first = inputs.tests[0].name
    variant, metric = _variant(inputs, first), inputs.metric
    before = bounded(_metrics(inputs.main, first).get(metric))
    after = variant.get("metrics", {}).get(metric) or {}
    if before[0] is not None and bounded(after)[0] is not None:
        change = bounded(after.get("change") or {"value": 0.0, "low": 0.0, "high": 0.0})
        if variant["metrics"][metric]["n"] < FEW:
            change = (change[0], None, None)
        best = variant.get("best_on_this", {}).get("metrics", {}).get(metric)
        moved = sentences.Moved(before[0], after["value"], change)
        fitted_on = variant["fitted_on"]
        yield sentences.threshold(variant["parameters"][THRESHOLD], fitted_on, first, metric, moved, best)
    curve = (_metrics(inputs.main, first).get("aurc") or {}).get("curve")
    if curve:
        risks = dict(zip(curve["coverage"], curve["risk"], strict=True))
        yield sentences.selective(first, 0.5, risks[0.5], risks[1.0])


VIEW = View(
    words=lambda inputs: WORDS,
    cards=cards,
    filters=(("fate", "What went wrong"),),
    trust="of its best spans with 80% probability, 80% should match gold exactly (a question has a best span also "
    "where nothing was answered).",
    lead=_lead,
    more=_more,
    sections=_sections,
    order="wrong answers by the confidence of their span in turn with questions wrongly left unanswered, by their null "
    "score",
)
