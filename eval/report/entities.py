"""Kind tags in the report: entities by type, what became of them, which types are taken for which."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from heldout.eval.report import kind_sentences as sentences
from heldout.eval.report.entity_cards import cards
from heldout.eval.report.inputs import DataSet, Inputs
from heldout.eval.report.pieces import Block, Group, Section
from heldout.eval.report.sentences import measured
from heldout.eval.report.tables import Cell, HtmlTable, Row, metric_cell
from heldout.eval.report.view import View, Words
from heldout.eval.report.wording import bounded, count, percent, title
from heldout.eval.statistics import FEW
from heldout.eval.tags import TagTable

WORDS = Words("sentence", "sentences", "entities", "entities found", "were right", "sentences right in full: ")
#: Shown of every type, where the card has them.
BY_TYPE = ("entity_f1", "entity_precision", "entity_recall")
#: What becomes of an entity, as the extras of entity_f1 count it, in words.
FATES = {
    "exact": "exact",
    "wrong_type": "wrong type",
    "overlapping_in_gold": "gold with other borders",
    "missed": "missed",
    "overlapping_found": "found with other borders",
    "spurious": "spurious",
}
#: Steps of shade in the confusion.
SHADES = 4
NONE = "none"


def _sections(inputs: Inputs) -> list[Section]:
    groups = [_group(inputs, data) for data in inputs.tests if data.name in inputs.main.predictions]
    note = (
        "An entity is right where gold has one of the very same words and type (IOB2 read strictly). Precision is over "
        "the entities found, recall over gold's; intervals are at 95%. In the confusion an entity stands against the "
        "one of the other side that shares most words with it, whatever its borders."
    )
    opened = [Group(group.name, group.blocks, folded=k > 0) for k, group in enumerate(groups)]
    return [Section("Entities", tuple(opened), note)] if groups else []


def _group(inputs: Inputs, data: DataSet) -> Group:
    table = inputs.table(inputs.main, data)
    assert isinstance(table, TagTable)
    blocks = [Block("By type", _by_type(inputs, data, table)), _confusion(table)]
    fates = _fates(inputs, data)
    return Group(data.name, (*blocks, *([Block("What became of them", fates)] if fates.rows else [])))


def _by_type(inputs: Inputs, data: DataSet, table: TagTable) -> HtmlTable:
    """Counts of every type, with precision, recall and F1 where the scores hold them."""
    scores = inputs.main.scores.get(data.name, {})
    shown = [metric for metric in BY_TYPE if metric in scores.get("metrics", {})]
    parts = {kind: scores.get("slices", {}).get(f"entity_type={kind}", {}) for kind in table.types}
    gold, found, right = _counts(table)
    rows = [_type_row("all", scores, shown, (gold.sum(), found.sum(), right.sum()), whole=True)]
    rows += [
        _type_row(kind, parts[kind], shown, (gold[k], found[k], right[k]))
        for k, kind in enumerate(table.types)
        if gold[k] or found[k]
    ]
    return HtmlTable(("type", "gold", *(title(metric) for metric in shown), "found", "right"), tuple(rows))


def _counts(table: TagTable) -> tuple[Any, Any, Any]:
    """Gold entities, those found and those right of every type."""
    gold, found = table.strict
    sides = (gold.span[:, 2], found.span[:, 2], gold.span[gold.hit, 2])
    gold_n, found_n, right = (np.bincount(kinds, minlength=len(table.types)) for kinds in sides)
    return gold_n, found_n, right


def _type_row(
    name: str, scores: Mapping[str, Any], shown: Sequence[str], counts: Sequence[int], *, whole: bool = False
) -> Row:
    metrics = [metric_cell(metric, scores.get("metrics", {}).get(metric)) for metric in shown]
    few = ("few",) if 0 < counts[0] < FEW else ()
    gold, found, right = (Cell(count(n)) for n in counts)
    return Row(name, (gold, *metrics, found, right), few, whole=whole)


def _confusion(table: TagTable) -> Block:
    """Gold's types by those found, counted over entities that share words; shaded by the share of a row."""
    gold, found = table.strict
    size = len(table.types)
    counts = np.zeros((size + 1, size + 1), dtype=int)
    # The type of none is -1: the last row and column.
    np.add.at(counts, (gold.span[:, 2], gold.met[:, 2]), 1)
    alone = found.span[found.met[:, 0] < 0, 2]
    np.add.at(counts, (np.full(len(alone), -1), alone), 1)
    there = [k for k in range(size + 1) if counts[k].any() or counts[:, k].any() or k == size]
    rows = [_confusion_row((*table.types, f"{NONE} (spurious)")[k], counts[k][there], there.index(k)) for k in there]
    heads = [f"found {table.types[k]}" if k < size else f"{NONE} (missed)" for k in there]
    note = "Rows are gold's types, columns what was found there; the shade is the share of a row."
    return Block("Which is taken for which", HtmlTable(("gold", *heads), tuple(rows)), note)


def _confusion_row(name: str, counts: Any, own: int) -> Row:
    total, last = counts.sum(), len(counts) - 1
    cells = []
    for k, n in enumerate(counts):
        share = n / total if total else 0.0
        level = int(np.ceil(share * SHADES))
        side = "right" if k == own and k != last else "wrong"
        blank = k == last and own == last
        cells.append(
            Cell(
                "" if blank else count(n), shade=f"{side}-{level}" if level else "", note=percent(share, 0) if n else ""
            )
        )
    return Row(name, tuple(cells))


def _fates(inputs: Inputs, data: DataSet) -> HtmlTable:
    rows = []
    for system in inputs.systems:
        matches = (system.scores.get(data.name, {}).get("metrics", {}).get("entity_f1") or {}).get("matches")
        if matches:
            rows.append(Row(system.name, tuple(Cell(count(matches[fate])) for fate in FATES)))
    return HtmlTable(("system", *FATES.values()), tuple(rows))


def _lead(inputs: Inputs) -> Iterator[str]:
    """F1 with precision and recall; the lenient reading beside the strict one."""
    first, main = inputs.tests[0], inputs.main
    metrics = {name: bounded(entry) for name, entry in main.scores[first.name]["metrics"].items()}
    n = len(first.examples)
    said = measured(main.name, first.name, inputs.metric, metrics[inputs.metric], n, WORDS.many)
    if {"entity_precision", "entity_recall"} <= metrics.keys():
        said += sentences.precision_recall(metrics["entity_precision"], metrics["entity_recall"])
    yield said
    strict, lenient = (metrics.get(name, (None,))[0] for name in ("entity_f1", "entity_f1_lenient"))
    if strict is not None and lenient is not None:
        yield sentences.lenient(strict, lenient)


def _more(inputs: Inputs) -> Iterator[str]:
    """How entities go whose words train never had, against the others."""
    first = inputs.tests[0].name
    slices = inputs.main.scores.get(first, {}).get("slices", {})
    sides = []
    for key in ("unseen=not in train", "unseen=in train"):
        part = slices.get(key, {})
        recall = bounded(part.get("metrics", {}).get("entity_recall"))
        if recall[0] is not None:
            sides.append((recall, int(part["n"])))
    if len(sides) == 2:
        yield sentences.unseen(first, *sides)


VIEW = View(
    words=lambda inputs: WORDS,
    cards=cards,
    filters=(("type", "Entity type"), ("fate", "What went wrong")),
    trust="of the entities it finds with 80% confidence, 80% should be right (an entity's confidence is the mean "
    "probability of its tags).",
    lead=_lead,
    more=_more,
    sections=_sections,
    order="half of them by the confidence of their surest wrong entity, half that only miss some, by the confidence of "
    "the tags given there instead",
    clustered=True,
)
