"""The tab of weak spots: where the main system is worse than elsewhere, found on one half and judged on the other."""

from collections.abc import Mapping
from typing import Any

from heldout.eval.report.fresh import read_object
from heldout.eval.report.inputs import DataSet
from heldout.eval.report.pieces import Block, Group, Piece, Prose, Section
from heldout.eval.report.tables import Cell, HtmlTable, Row
from heldout.eval.report.tabs import Report, Tab
from heldout.eval.report.wording import bounds, count, percent, signed_amount
from heldout.eval.weak_spots import FOLDER, weak_spots
from heldout.eval.weak_spots.words import chance

#: What a share is told in: points.
SHARE = "accuracy"
NOTE = (
    "A shallow tree over features of text and gold named these slices on one half of each set; the numbers are those "
    "of the other half, which had no part in the search. Confirmed: p below 0.05 after Holm over all that were named, "
    "each group kept whole. What is not confirmed may be chance."
)


def _sections(report: Report) -> list[Section] | None:
    if report.inputs.card.kind == "lm":
        return None
    sets = [data for data in report.inputs.tests if data.name in report.inputs.main.predictions]
    return [Section("", tuple(_set(report, data) for data in sets), NOTE)] if sets else None


def _found(report: Report, data: DataSet) -> Mapping[str, Any]:
    """What heldout weak-spots kept of these very records, else found anew: on 25,000 reviews that takes 10 s."""
    main = report.inputs.main
    kept = read_object(main.folder / FOLDER / f"{data.name}.json")
    if kept and kept.get("inputs_hash") == main.scores.get(data.name, {}).get("inputs_hash"):
        return kept
    report.say(f"looking for weak spots of {main.name} on {data.name}")
    return weak_spots(report.inputs.card, data.examples, report.inputs.table(main, data))


def _set(report: Report, data: DataSet) -> Group:
    found = _found(report, data)
    wrong = f"{percent(found['wrong'])} of {count(found['n'])} {found['of']} are answered wrong."
    if not found["spots"]:
        return Group(data.name, (Prose((f"{wrong} No weak spot: nothing cuts them into better and worse.",)),))
    rows = tuple(_row(spot) for spot in found["spots"])
    heads = ("weak spot", "n", "wrong", "elsewhere", "more, points", "p (Holm)", "such as")
    table = Block("", HtmlTable(heads, rows), caption=f"weak spots on {data.name}")
    usable = [f"--slice NAME='{spot['slice']}'" for spot in found["spots"] if spot["slice"] and spot["confirmed"]]
    more: list[Piece] = [Prose((f"As slices of your own: {'; '.join(usable)}",))] if usable else []
    return Group(data.name, (Prose((wrong,)), table, *more))


def _row(spot: Mapping[str, Any]) -> Row:
    gap = spot["difference"]
    told = Cell("–", spot["note"]) if "note" in spot else Cell(signed_amount(SHARE, gap["value"]), _interval(gap))
    cells = (Cell(count(spot["n"])), Cell(percent(spot["wrong"])), Cell(percent(spot["elsewhere"])), told)
    ids = Cell(", ".join(spot["examples"][:2]) or "–", long=True)
    badge = "confirmed" if spot["confirmed"] else "not confirmed"
    return Row(
        spot["where"], (*cells, Cell(chance(spot["p_holm"]).removeprefix("p ").removeprefix("= ")), ids), (badge,)
    )


def _interval(gap: Mapping[str, Any]) -> str:
    return bounds(gap["low"], gap["high"]).replace("–", " to ")


TAB = Tab("Weak spots", 27, _sections)
