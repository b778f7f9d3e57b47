"""The page of a comparison, in the report's frame: verdict, differences by slice, all metrics, answers that turned."""

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.eval.comparison.words import THINGS, answer_of, methods, shown, verdict
from heldout.eval.metrics import find
from heldout.eval.report import render
from heldout.eval.report.charts import Scale, axis, scale, whisker
from heldout.eval.report.marks import ESCAPED, WHOLE, plain
from heldout.eval.report.page import Page
from heldout.eval.report.pieces import Beside, Block, Facts, Group, Line, Lines, Member, Picture, Piece, Prose, Section
from heldout.eval.report.tables import Cell, HtmlTable, Row, slice_name
from heldout.eval.report.tabs import Built
from heldout.eval.report.wording import (
    PER_CENT,
    bounded,
    count,
    difference_interval,
    listed,
    measure,
    percent,
    signed_amount,
    title,
)
from heldout.eval.statistics import FEW

#: The texts of examples share so many bytes of the page.
TEXT_BYTES = 3_000_000
#: Both ways that answers turn, as headings.
WAYS = {"right_to_wrong": "{reference} right, {other} wrong", "wrong_to_right": "{reference} wrong, {other} right"}
Found = Mapping[str, Any]


def build(found: Found, *, text: bool = True) -> str:
    """The comparison as one HTML page that loads nothing; ``text=False`` leaves example texts out."""
    others = [name for name in found["systems"] if name != found["reference"]]
    tabs = {
        ("overview", "Verdict"): [Section("", (*_overview(found), *_sentences(found)))],
        ("slices", "Slices"): [Section("", (*_forests(found), *_tables(found)), _slices_note(found))],
        ("metrics", "All metrics"): [Section("", tuple(_metrics(found)))],
        ("turned", "Answers that turned"): [Section("", tuple(_turned(found, text=text)), _turned_note(text))],
        ("methods", "Methods"): [Section("", (Prose(tuple(methods(found))), *_facts(found)))],
    }
    return render(
        Page(
            title=f"{listed(others)} against {found['reference']}",
            card=f"{found['card']}, version {found['version']}",
            intro=f"On {listed(list(found['tests']))}; a difference is a system’s value minus {found['reference']}’s.",
            banners=[*found["notes"], *(f"{note}" for test in found["tests"].values() for note in test["notes"])],
            tabs=[Built(*names, tuple(sections)) for names, sections in tabs.items() if sections[0].pieces],
        )
    )


def _pairs(found: Found) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(data set, system, pair) of everything that was compared."""
    for data, test in found["tests"].items():
        for other, pair in test["pairs"].items():
            yield data, other, pair


def _sentences(found: Found) -> list[Piece]:
    return [
        Group(f"{other} on {data}", (Prose(tuple(verdict(found, data, other))),)) for data, other, _ in _pairs(found)
    ]


def _main(found: Found, block: Mapping[str, Any]) -> str:
    """The metric to read of a block: the one that its slice names, else the main one, else the first it has."""
    for name in (block.get("read"), found["metric"]):
        if name in block["metrics"]:
            return str(name)
    return str(next(iter(block["metrics"])))


def _overview(found: Found) -> list[Piece]:
    """The main metric on the whole of each data set."""
    groups = {
        data: [_line(f"{other} ", pair, _main(found, pair), adjusted=False) for other, pair in test["pairs"].items()]
        for data, test in found["tests"].items()
    }
    notes = {data: f"n = {count(test['n'])} {THINGS[found['kind']][1]}" for data, test in found["tests"].items()}
    metrics = {_main(found, pair) for _, _, pair in _pairs(found)}
    return _picture(found, metrics.pop(), groups, notes) if len(metrics) == 1 else []


def _forests(found: Found) -> list[Piece]:
    """Of each system a forest plot: the whole and the slices of every data set, around a line at 0."""
    pieces: list[Piece] = []
    for other in [name for name in found["systems"] if name != found["reference"]]:
        groups: dict[str, dict[str, list[tuple[str, Mapping[str, Any], bool]]]] = {}
        for data, name, pair in _pairs(found):
            if name != other:
                continue
            for key, block in {"": pair, **pair["slices"]}.items():
                line = _line(slice_name(key) if key else "all", block, _main(found, block), adjusted=bool(key))
                groups.setdefault(_main(found, block), {}).setdefault(data, []).append(line)
        drawn = [piece for metric, of in groups.items() for piece in _picture(found, metric, of, {})]
        pieces += [Group(f"{other} against {found['reference']}", tuple(drawn))] if drawn else []
    return pieces


def _line(name: str, block: Mapping[str, Any], metric: str, *, adjusted: bool) -> tuple[str, Mapping[str, Any], bool]:
    return name, block["metrics"][metric], adjusted


def _picture(
    found: Found,
    metric: str,
    groups: Mapping[str, list[tuple[str, Mapping[str, Any], bool]]],
    notes: Mapping[str, str],
) -> list[Piece]:
    entries = [entry for rows in groups.values() for _, entry, _ in rows if entry["value"] is not None]
    if not entries:
        return []
    span = scale([*(bound for entry in entries for bound in bounded(entry) if bound is not None), 0.0])
    lines = [
        Lines(data, notes.get(data, ""), tuple(_row(metric, row, span) for row in rows if row[1]["value"] is not None))
        for data, rows in groups.items()
    ]
    better = "right" if find(metric).higher_is_better else "left"
    unit = "points" if metric in PER_CENT else find(metric).unit
    said = (
        f"Difference in {title(metric)} from {found['reference']}, in {unit}, with 95% intervals; {better} of the line "
        "is better. A star: p below 0.05, of slices after Holm’s correction."
    )
    ticks = [signed_amount(metric, tick) if tick else "0" for tick in span.ticks]
    return [Picture(tuple(group for group in lines if group.rows), axis(span, ticks), said, f"differences in {metric}")]


def _row(metric: str, row: tuple[str, Mapping[str, Any], bool], span: Scale) -> Line:
    name, entry, adjusted = row
    starred = shown(entry, adjusted=adjusted)
    reach = difference_interval(metric, entry["low"], entry["high"])
    value = signed_amount(metric, entry["value"])
    track = whisker(bounded(entry), span, "model" if starred else "baseline", f"{name}: {value} ({reach})", zero=True)
    badges = ("few",) if entry["n"] < FEW else ()
    return Line(name, track, f"{value}{' *' if starred else ''}", reach, badges=badges)


def _slices_note(found: Found) -> str:
    return (
        f"Each slice of both systems, on the same {THINGS[found['kind']][1]}. Among many slices some differ by chance: "
        "Holm’s p counts how many were looked at. “Could show” is the smallest difference that so many examples would "
        "have shown 8 times in 10: where none was shown, a smaller one may be there."
    )


def _tables(found: Found) -> list[Piece]:
    return [
        Group(f"The numbers: {other} on {data}", (Block("", _slice_table(found, other, pair)),), folded=True)
        for data, other, pair in _pairs(found)
        if pair["slices"]
    ]


def _slice_table(found: Found, other: str, pair: Mapping[str, Any]) -> HtmlTable:
    rows = []
    for key, block in {"": pair, **pair["slices"]}.items():
        metric = _main(found, block)
        entry = block["metrics"][metric]
        few = ("few",) if entry["n"] < FEW else ()
        name = f"{slice_name(key)}{'' if metric == _main(found, pair) else f' ({title(metric)})'}" if key else "all"
        mcnemar = block.get("mcnemar")
        only = f"{count(mcnemar['only_reference'])} / {count(mcnemar['only_other'])}" if mcnemar else "–"
        cells = (Cell(count(block.get("n", entry["n"])), block.get("about", "")), *_cells(metric, entry))
        holm = Cell(_p(entry.get("p_holm"))) if key else Cell("")
        rows.append(Row(name, (*cells, holm, _could(metric, entry), Cell(only, _mcnemar(mcnemar))), few, whole=not key))
    heads = ("slice", "n", found["reference"], other, "difference", "p", "Holm’s p", "could show")
    return HtmlTable((*heads, "only one right (exact McNemar p)"), tuple(rows))


def _mcnemar(block: Mapping[str, Any] | None) -> str:
    return f"p {_p(block['p'])}" if block else ""


def _cells(metric: str, entry: Mapping[str, Any]) -> tuple[Cell, ...]:
    """Both values (of seeds with their sd), the difference with its interval, p."""
    if entry["value"] is None:
        return Cell("–"), Cell("–"), Cell("–", entry["method"]), Cell("–")
    sides = (
        Cell(measure(metric, entry[side]), _sd(metric, entry.get(f"{side}_seeds"))) for side in ("reference", "other")
    )
    difference = Cell(signed_amount(metric, entry["value"]), difference_interval(metric, entry["low"], entry["high"]))
    return *sides, difference, Cell(_p(entry.get("p")))


def _sd(metric: str, seeds: Mapping[str, Any] | None) -> str:
    if not seeds or seeds["sd"] is None:
        return ""
    sd = percent(seeds["sd"]) if metric in PER_CENT else f"{seeds['sd']:.3f}"
    return f"mean of {len(seeds['by_seed'])} seeds, sd {sd}"


def _p(p: float | None) -> str:
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _could(metric: str, entry: Mapping[str, Any]) -> Cell:
    if "could_show" not in entry:
        return Cell("–")
    value = entry["could_show"]["value"]
    return Cell("nothing" if value is None else signed_amount(metric, value).replace("+", "±"))


def _metrics(found: Found) -> Iterator[Piece]:
    """Every metric on the whole of each data set."""
    for data, other, pair in _pairs(found):
        rows = [
            Row(title(metric), (*_cells(metric, entry), _could(metric, entry)))
            for metric, entry in pair["metrics"].items()
        ]
        heads = ("metric", found["reference"], other, "difference", "p", "could show")
        yield Block(f"{other} on {data}", HtmlTable(heads, tuple(rows)))


def _turned_note(text: bool) -> str:
    left_out = "" if text else " The texts were left out by --no-text."
    return f"Examples are spread evenly over each data set; heldout compare --examples N keeps more.{left_out}"


def _turned(found: Found, *, text: bool) -> Iterator[Piece]:
    """The examples that one side has right and the other wrong."""
    churns = [(data, other, pair["churn"]) for data, other, pair in _pairs(found) if "churn" in pair]
    kept = sum(len(churn[way]["examples"]) for _, _, churn in churns for way in WAYS)
    room = min(TEXT_BYTES // max(1, kept), WHOLE * ESCAPED) if text else 0
    for data, other, churn in churns:
        for way, words in WAYS.items():
            cards = [_card(found, other, example, room) for example in churn[way]["examples"]]
            heading = words.format(reference=found["reference"], other=other)
            name = f"{heading} on {data}: {count(len(cards))} of {count(churn[way]['n'])}"
            if cards:
                yield Group(name, tuple(cards), folded=True)


def _card(found: Found, other: str, example: Mapping[str, Any], room: int) -> Beside:
    said = [
        f"{name}: {_answer(found, example, side)}"
        for name, side in ((found["reference"], "reference"), (other, "other"))
    ]
    fields = tuple(plain(name, value, room // max(1, len(example["text"]))) for name, value in example["text"].items())
    members = (Member("", fields),) if room and fields else ()
    return Beside(f"{listed(said)}", members, f"{example['id'][:200]} · gold {_answer(found, example, 'gold')}")


def _answer(found: Found, example: Mapping[str, Any], side: str, most: int = 300) -> str:
    words = answer_of(found["kind"], example[side], example["text"])
    return words if len(words) <= most else words[: most - 1] + "…"


def _facts(found: Found) -> list[Piece]:
    entries = [
        *(
            (f"gold of {data}", f"{count(test['n'])} examples, {test['gold_hash']}")
            for data, test in found["tests"].items()
        ),
        *((f"seeds of {name}", listed(side["seeds"])) for name, side in found["systems"].items() if side["seeds"]),
        ("replicates and swaps", f"{count(found['replicates'])}, seed {found['seed']}"),
    ]
    return [Facts(entries, "Records")]
