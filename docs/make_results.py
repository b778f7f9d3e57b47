"""Keep the scores of a run for docs/results.md, and write that page from what is kept.

    python docs/make_results.py keep RUN NAME [SET …]   copies options, environment, ledger and scores (of all sets, or
                                                        these) into docs/results/NAME/
    python docs/make_results.py pair RUN OTHER NAME   keeps what RUN gains over OTHER, paired, in docs/results/NAME/
    python docs/make_results.py write           writes docs/results.md from docs/results/ and docs/results.template.md

The template holds words and {tables}; every figure of a table comes from a kept file, so the page cannot say a number
that no run gave (tests/test_results.py writes it again and compares).
"""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measure_tables
import numpy as np
import result_tables
from result_tables import PAIRS, read, tests

from heldout.eval import metrics
from heldout.eval.differences import differences, discordant
from heldout.eval.run_data import read_data
from heldout.eval.statistics import Sampling, group_codes
from heldout.eval.tabulate import tabulate
from heldout.records import read_card

HERE = Path(__file__).parent
KEPT = HERE / "results"
FILES = (
    *("options.json", "environment.json", "ledger.json", "losses.jsonl", "card.json", "scores/*.json", "fits/*.json"),
    *("cost.json", "compression.json", "distillation.json"),
)


def keep(run: Path, name: str, sets: Sequence[str] = ()) -> None:
    """Copy a run's small files, its seeds', controls' and baselines', as compact JSON without this machine's paths."""
    states = sorted(run.glob("checkpoints/step-*/state.json"), key=lambda path: int(path.parent.name.split("-")[1]))
    if states:
        _write(KEPT / name / "evaluations.json", read(states[-1])["evaluations"])
    for folder in [run, *run.glob("seed-*"), *run.glob("controls/*"), *run.glob("baselines/*")]:
        for pattern in FILES:
            for path in folder.glob(pattern):
                if path.parent.name == "scores" and sets and path.stem not in sets:
                    continue
                target = KEPT / name / path.relative_to(run)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(_compact(path))


def pair(run: Path, other: Path, name: str) -> None:
    """Keep the paired difference in the main metric between two runs on each of their test sets, with McNemar's p."""
    card = read_card(run / "card.json")
    metric, found = metrics.find(card.metrics[0]), {}
    for test in tests(run):
        (gold, ours), (_, theirs) = (read_data(folder, test, card) for folder in (run, other))
        tables = [tabulate(card, gold, predictions) for predictions in (ours, theirs)]
        rows = np.arange(len(gold))
        sides = ((tables[0], rows), (tables[1], rows))
        entry = differences({test: sides}, metric, Sampling(len(gold), group_codes(gold)))[test]
        found[test] = entry | dict(zip(("only_first", "only_second", "p"), discordant(*tables), strict=True))
    _write(KEPT / name / "paired.json", {"metric": metric.name, "tests": found})


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def _compact(path: Path) -> str:
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        tokens, seconds = sum(row["tokens"] for row in rows), sum(row["seconds"] for row in rows)
        return json.dumps({"steps": len(rows), "tokens": tokens, "seconds": round(seconds, 1)}) + "\n"
    value = json.loads(path.read_text())
    if path.parent.name == "scores":
        value = lean(value)
    if path.name == "options.json":
        value.pop("out", None)
    if path.name == "options.json" and value.get("model"):
        value["model"] = "/".join(Path(value["model"]).parts[-2:])
    if path.name == "cost.json":
        value["kept"] = {Path(folder).name: sets for folder, sets in value["kept"].items()}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def lean(scores: dict[str, Any]) -> dict[str, Any]:
    """Scores with the main metric and those of pairs alone in slices, none of variants: whole they are three times as
    large, and `heldout score RUN` makes them again.
    """
    wanted = {next(iter(scores["metrics"])), *PAIRS}
    slices = {
        key: part | {"metrics": {name: entry for name, entry in part["metrics"].items() if name in wanted}}
        for key, part in scores["slices"].items()
    }
    blocks = {name: {k: v for k, v in block.items() if k != "slices"} for name, block in scores["variants"].items()}
    conformal = {k: v for k, v in scores.get("conformal", {}).items() if k != "slices"}
    return scores | {"slices": slices, "variants": blocks} | ({"conformal": conformal} if conformal else {})


def page() -> str:
    """The text of docs/results.md."""
    template = (HERE / "results.template.md").read_text()
    return re.sub(r"\{(\w+)((?: [\w./-]+)+)\}", _table, template)


def _table(found: re.Match[str]) -> str:
    return {**result_tables.TABLES, **measure_tables.TABLES}[found[1]](*(KEPT / name for name in found[2].split()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["keep"] and len(sys.argv) >= 4:
        keep(Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
    elif sys.argv[1:2] == ["pair"] and len(sys.argv) == 5:
        pair(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
    elif sys.argv[1:] == ["write"]:
        (HERE / "results.md").write_text(page())
    else:
        sys.exit(__doc__)
