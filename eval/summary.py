"""The last lines of a command that scored several systems: one table, systems by test sets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.eval.columns import aligned
from heldout.runs import read_json


def summary(folders: Sequence[Path], tests: Sequence[str]) -> str:
    """Main metric with its interval, and ECE where there are scores, of every run folder on every test set."""
    scores = {
        folder: {name: path for name in tests if (path := folder / "scores" / f"{name}.json").exists()}
        for folder in folders
    }
    rows = [
        [folder.name, name, *_cells(read_json(path))]
        for folder, found in scores.items()
        for name, path in found.items()
    ]
    head = ["system", "test set", "n", "metric", "value", "95% interval", "ECE", "ECE after temperature"]
    return "\n".join(aligned([head, *rows]))


def _cells(scores: Mapping[str, Any]) -> list[str]:
    main, entry = next(iter(scores["metrics"].items()))
    after = scores.get("variants", {}).get("temperature", {}).get("metrics", {})
    interval = f"{entry['low']:.3f} to {entry['high']:.3f}" if entry.get("low") is not None else ""
    return [
        str(scores["n"]),
        main,
        _number(entry),
        interval,
        _number(scores["metrics"].get("ece")),
        _number(after.get("ece")),
    ]


def _number(entry: Mapping[str, Any] | None) -> str:
    if entry is None:
        return ""
    return f"{entry['value']:.3f}" if entry["value"] is not None else str(entry.get("note", ""))
