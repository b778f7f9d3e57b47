"""The last lines of a command that scored several systems: one table, systems by test sets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.eval.behaviour import SHOWN, main_metric
from heldout.eval.columns import aligned
from heldout.eval.text import heading
from heldout.fits import KEEPS_ANSWERS
from heldout.runs import read_json


def summary(folders: Sequence[Path], tests: Sequence[str]) -> str:
    """Main metric with its interval, exact match, ECE and what fits make of them, of every run on every test set."""
    scores = {
        folder: {name: path for name in tests if (path := folder / "scores" / f"{name}.json").exists()}
        for folder in folders
    }
    rows = [
        {"system": folder.name, "test set": name, **_cells(read_json(path))}
        for folder, found in scores.items()
        for name, path in found.items()
    ]
    head = list(dict.fromkeys(column for row in rows for column in row))
    return "\n".join(aligned([head, *([row.get(column, "") for column in head] for row in rows)]))


def _cells(scores: Mapping[str, Any]) -> dict[str, str]:
    """The cells by their column."""
    main = main_metric(scores)
    entry = scores["metrics"][main]
    interval = f"{entry['low']:.3f} to {entry['high']:.3f}" if entry.get("low") is not None else ""
    cells = {"n": str(scores["n"]), "metric": main, "value": _number(entry), "95% interval": interval}
    beside = [name for name in ("em", "ece") if name in scores["metrics"] and name != main]
    cells |= {name.upper(): _number(scores["metrics"][name]) for name in beside if main not in SHOWN}
    for kind, variant in scores.get("variants", {}).items():
        shown, column = ("ece", "ECE") if kind in KEEPS_ANSWERS else (main, main)
        cells[f"{column} {heading(kind, variant)}"] = _number(variant["metrics"].get(shown))
    return cells


def _number(entry: Mapping[str, Any] | None) -> str:
    if entry is None:
        return ""
    return f"{entry['value']:.3f}" if entry["value"] is not None else str(entry.get("note", ""))
