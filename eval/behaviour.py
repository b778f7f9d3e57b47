"""How a system behaves on a set of test cases, phenomenon by phenomenon, as columns of text for the terminal."""

from collections.abc import Mapping
from typing import Any

from heldout.eval.columns import aligned

#: The metrics of cases that are shown, those that a set has of them, with their headings.
SHOWN = {
    "twin_gap": "gap to twin",
    "both_right": "both right",
    "flip_rate": "flipped",
    "moved": "moved",
    "expectation_met": "as expected",
}
SLICES = ("role=", "phenomenon=")


def main_metric(scores: Mapping[str, Any]) -> str:
    """The name of the metric to show first: the card's main one; where there is no gold, what changes did."""
    metrics: Mapping[str, Mapping[str, Any]] = scores["metrics"]
    return next((name for name, entry in metrics.items() if entry.get("note") != "no gold"), next(iter(metrics)))


def behaviour(scores: Mapping[str, Any]) -> list[str]:
    """A line a phenomenon: n, the main metric with its interval, the gap to the unchanged twin, and so on."""
    there = {name: heading for name, heading in SHOWN.items() if name in scores["metrics"]}
    if not there:
        return []
    main = main_metric(scores)
    heads = [there.pop(main, main), "95% interval", *there.values()]
    rows = [["case", "n", *heads]]
    keys = [key for key in scores["slices"] if key.startswith(SLICES)]
    for name, part in [("all", scores), *((key.partition("=")[2], scores["slices"][key]) for key in keys)]:
        entry = part["metrics"][main]
        interval = "" if entry.get("low") is None else f"{entry['low']:.3f} to {entry['high']:.3f}"
        rows.append([name, str(part["n"]), _value(entry), interval, *(_value(part["metrics"][n]) for n in there)])
    return aligned(rows, right={1})


def _value(entry: Mapping[str, Any]) -> str:
    return "–" if entry["value"] is None else f"{entry['value']:.3f}"
