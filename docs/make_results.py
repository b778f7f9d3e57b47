"""Keep the scores of a run for docs/results.md, and write that page from what is kept.

    python docs/make_results.py keep RUN NAME   copies options, environment, ledger and scores into docs/results/NAME/
    python docs/make_results.py write           writes docs/results.md from docs/results/ and docs/results.template.md

The template holds words and {tables}; every figure of a table comes from a kept file, so the page cannot say a number
that no run gave (tests/test_results.py writes it again and compares).
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT = HERE / "results"
FILES = ("options.json", "environment.json", "ledger.json", "losses.jsonl", "card.json", "scores/*.json", "fits/*.json")
#: Shown in this order, whatever the order on disk.
BASELINES = ("majority", "lexicon", "tfidf")


def keep(run: Path, name: str) -> None:
    """Copy a run's small files, its seeds' and its baselines', as compact JSON without this machine's paths."""
    for folder in [run, *run.glob("seed-*"), *run.glob("baselines/*")]:
        for pattern in FILES:
            for path in folder.glob(pattern):
                target = KEPT / name / path.relative_to(run)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(_compact(path))


def _compact(path: Path) -> str:
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        tokens, seconds = sum(row["tokens"] for row in rows), sum(row["seconds"] for row in rows)
        return json.dumps({"steps": len(rows), "tokens": tokens, "seconds": round(seconds, 1)}) + "\n"
    value = json.loads(path.read_text())
    if path.name == "options.json":
        value.pop("out", None)
    if path.name == "options.json" and "model" in value:
        value["model"] = "/".join(Path(value["model"]).parts[-2:])
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def page() -> str:
    """The text of docs/results.md."""
    template = (HERE / "results.template.md").read_text()
    return re.sub(r"\{(\w+) ([\w./-]+)\}", lambda found: TABLES[found[1]](KEPT / found[2]), template)


def _systems(run: Path) -> Iterator[tuple[str, Path]]:
    seeds = sorted(run.glob("seed-*"))
    yield from ((folder.name, folder) for folder in seeds) if seeds else [("MiniLM", run)]
    yield from ((kind, run / "baselines" / kind) for kind in BASELINES if (run / "baselines" / kind).exists())


def _read(path: Path) -> Any:
    return json.loads(path.read_text())


def _tests(run: Path) -> list[str]:
    return [value.split("=", 1)[0] for value in _read(run / "options.json")["test"]]


def _shown(entry: dict[str, Any] | None) -> str:
    if entry is None or entry["value"] is None:
        return "–"
    return f"{entry['value']:.3f} ({entry['low']:.3f}–{entry['high']:.3f})"


def scores_table(run: Path) -> str:
    """Every system on every test set: accuracy, NLL, ECE, and ECE after temperature, with 95% intervals."""
    rows = ["| test set | n | system | accuracy | NLL | ECE | ECE after temperature |", "|---|---|---|---|---|---|---|"]
    for test in _tests(run):
        for name, folder in _systems(run):
            scores = _read(folder / "scores" / f"{test}.json")
            after = scores["variants"].get("temperature", {}).get("metrics", {})
            cells = [_shown(scores["metrics"].get(key)) for key in ("accuracy", "nll", "ece")]
            rows.append(f"| {test} | {scores['n']:,} | {name} | {' | '.join([*cells, _shown(after.get('ece'))])} |")
    return "\n".join(rows)


def means_table(run: Path) -> str:
    """The mean of the seeds and their range, for accuracy and ECE before and after temperature."""
    rows = [
        "| test set | mean accuracy (range) | mean ECE (range) | mean ECE after temperature (range) |",
        "|---|---|---|---|",
    ]
    for test in _tests(run):
        scores = [_read(folder / "scores" / f"{test}.json") for folder in sorted(run.glob("seed-*"))]
        columns = [
            [one["metrics"]["accuracy"]["value"] for one in scores],
            [one["metrics"]["ece"]["value"] for one in scores],
            [one["variants"]["temperature"]["metrics"]["ece"]["value"] for one in scores],
        ]
        cells = [f"{sum(values) / len(values):.4f} ({min(values):.4f}–{max(values):.4f})" for values in columns]
        rows.append(f"| {test} | {' | '.join(cells)} |")
    return "\n".join(rows)


def slices_table(run: Path) -> str:
    """Accuracy by slice on the first test set, the model beside its best-known baseline."""
    test = _tests(run)[0]
    systems = [(name, _read(folder / "scores" / f"{test}.json")) for name, folder in _systems(run)]
    rows = [f"| slice of {test} | n | {' | '.join(name for name, _ in systems)} |", f"|---|---|{'---|' * len(systems)}"]
    for key, part in systems[0][1]["slices"].items():
        cells = [_shown(scores["slices"].get(key, {}).get("metrics", {}).get("accuracy")) for _, scores in systems]
        rows.append(f"| {key} | {part['n']:,} | {' | '.join(cells)} |")
    return "\n".join(rows)


def about(run: Path) -> str:
    """What was trained on what, when, and where."""
    folder = next((path for _, path in _systems(run)), run)
    ledger, environment, losses = (_read(folder / name) for name in ("ledger.json", "environment.json", "losses.jsonl"))
    splits = ", ".join(f"{name} {split['n']:,}" for name, split in ledger["splits"].items())
    dropped = {
        f"{name}: {reason.replace('_', ' ')} {n:,}"
        for name, split in ledger["splits"].items()
        for reason, n in split["dropped"].items()
    }
    speed = losses["tokens"] / losses["seconds"]
    versions = environment["versions"]
    machine = f"{environment['processor']}, {environment['cpus']} cores"
    used = ", ".join(f"{name} {versions[name]}" for name in ("torch", "transformers", "accelerate"))
    minutes = losses["seconds"] / 60
    return "\n".join(
        [
            f"- Splits: {splits}.",
            f"- Dropped: {'; '.join(sorted(dropped)) or 'nothing'}.",
            f"- {losses['steps']:,} steps, {losses['tokens']:,} tokens in {minutes:.0f} min ({speed:,.0f} a second).",
            f"- {machine}; {used}; {environment['date']}.",
        ]
    )


TABLES: dict[str, Callable[[Path], str]] = {
    "scores": scores_table,
    "means": means_table,
    "slices": slices_table,
    "about": about,
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["keep"] and len(sys.argv) == 4:
        keep(Path(sys.argv[2]), sys.argv[3])
    elif sys.argv[1:] == ["write"]:
        (HERE / "results.md").write_text(page())
    else:
        sys.exit(__doc__)
