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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout.eval import metrics
from heldout.eval.differences import differences, discordant
from heldout.eval.run_data import read_data
from heldout.eval.statistics import Sampling, group_codes
from heldout.eval.tabulate import tabulate
from heldout.records import read_card

HERE = Path(__file__).parent
KEPT = HERE / "results"
FILES = ("options.json", "environment.json", "ledger.json", "losses.jsonl", "card.json", "scores/*.json", "fits/*.json")
#: What a table of scores shows, by the card's kind: the metric, its head, and the variant that it is of.
COLUMNS = {
    "label": (("accuracy", ""), ("nll", ""), ("ece", ""), ("ece", "temperature")),
    "tags": (
        ("entity_f1", ""),
        ("entity_precision", ""),
        ("entity_recall", ""),
        ("entity_f1_lenient", ""),
        ("ece", ""),
    ),
    "span": (("f1", ""), ("em", ""), ("has_ans_f1", ""), ("no_ans_acc", ""), ("ece", ""), ("f1", "null_threshold")),
    "lm": (("lm_nll", ""), ("lm_accuracy", ""), ("nsp_accuracy", "")),
}
#: What the pairs of a suite say.
PAIRS = {"both_right": "both of a pair right", "twin_gap": "gap to the twin", "flip_rate": "flips"}
HEADS = {
    **{"accuracy": "accuracy", "nll": "NLL", "ece": "ECE", "f1": "F1", "em": "EM", "has_ans_f1": "HasAns F1"},
    **{"no_ans_acc": "NoAns accuracy", "entity_f1": "F1", "entity_precision": "precision", "entity_recall": "recall"},
    **{"entity_f1_lenient": "lenient F1", "lm_nll": "loss a token", "lm_accuracy": "accuracy a token"},
    "nsp_accuracy": "NSP accuracy",
}


def keep(run: Path, name: str, sets: Sequence[str] = ()) -> None:
    """Copy a run's small files, its seeds' and its baselines', as compact JSON without this machine's paths."""
    states = sorted(run.glob("checkpoints/step-*/state.json"), key=lambda path: int(path.parent.name.split("-")[1]))
    if states:
        _write(KEPT / name / "evaluations.json", _read(states[-1])["evaluations"])
    for folder in [run, *run.glob("seed-*"), *run.glob("baselines/*")]:
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
    for test in _tests(run):
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
    return TABLES[found[1]](*(KEPT / name for name in found[2].split()))


def _systems(run: Path) -> Iterator[tuple[str, Path]]:
    seeds = sorted(run.glob("seed-*"))
    yield from ((folder.name, folder) for folder in seeds) if seeds else [(_name(run), run)]
    yield from ((folder.name, folder) for folder in sorted(run.glob("baselines/*")))


def _name(run: Path) -> str:
    """The name of a run's model: MiniLM, or that of the run which made it; of a pretraining its preset."""
    options = _read(run / "options.json")
    if "kind" in options:
        return str(options["kind"])
    model = options.get("model") or ""
    return "MiniLM" if "minilm" in model.lower() else Path(model).parent.name if model else options["preset"]


def _read(path: Path) -> Any:
    return json.loads(path.read_text())


def _tests(run: Path) -> list[str]:
    return [value.split("=", 1)[0] for value in _read(run / "options.json").get("test", ["test"])]


def _shown(entry: dict[str, Any] | None) -> str:
    if entry is None or entry["value"] is None:
        return "–"
    if entry["low"] is None:
        return f"{entry['value']:.3f}"
    return f"{entry['value']:.3f} ({entry['low']:.3f}–{entry['high']:.3f})"


def scores_table(run: Path) -> str:
    """Every system on every test set, with 95% intervals; columns in which nothing stands are left out."""
    found = [(t, name, _read(folder / "scores" / f"{t}.json")) for t in _tests(run) for name, folder in _systems(run)]
    columns = COLUMNS[_read(next(folder for _, folder in _systems(run)) / "card.json")["kind"]]
    columns = tuple(column for column in columns if any(_entry(scores, column) for _, _, scores in found))
    heads = [HEADS[key] + (f" after {variant.replace('_', ' ')}" if variant else "") for key, variant in columns]
    rows = [f"| test set | n | system | {' | '.join(heads)} |", "|---|---|---|" + "---|" * len(heads)]
    for test, name, scores in found:
        cells = [_shown(_entry(scores, column)) for column in columns]
        rows.append(f"| {test} | {scores['n']:,} | {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _entry(scores: dict[str, Any], column: tuple[str, str]) -> dict[str, Any] | None:
    """The entry of a column in a scores file, None where it has no such number."""
    key, variant = column
    part = scores["variants"].get(variant, {}) if variant else scores
    entry = part.get("metrics", {}).get(key)
    return entry if entry and entry["value"] is not None else None


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
    """The main metric by slice on the first test set, the model beside its baselines."""
    test = _tests(run)[0]
    main = _read(next(folder for _, folder in _systems(run)) / "card.json")["metrics"][0]
    systems = [(name, _read(folder / "scores" / f"{test}.json")) for name, folder in _systems(run)]
    rows = [f"| slice of {test} | n | {' | '.join(name for name, _ in systems)} |", f"|---|---|{'---|' * len(systems)}"]
    for key, part in systems[0][1]["slices"].items():
        cells = [_shown(scores["slices"].get(key, {}).get("metrics", {}).get(main)) for _, scores in systems]
        rows.append(f"| {key} | {part['n']:,} | {' | '.join(cells)} |")
    return "\n".join(rows)


def curve_table(run: Path) -> str:
    """The loss on dev while a model was pretrained."""
    found = _read(run / "evaluations.json")
    rows = ["| steps | loss a token on dev |", "|---|---|"]
    return "\n".join([*rows, *(f"| {row['step']:,} | {row['nll']:.3f} |" for row in found)])


def paired_table(run: Path) -> str:
    """What a run gains over another on the same texts."""
    kept = _read(run / "paired.json")
    rows = [
        f"| test set | n | gain in {kept['metric']} | only the first right | only the second | McNemar's exact p |",
        "|---|---|---|---|---|---|",
    ]
    for test, entry in kept["tests"].items():
        p = "< 0.001" if entry["p"] < 0.001 else f"{entry['p']:.3f}"
        cells = [_shown(entry), f"{entry['only_first']:,}", f"{entry['only_second']:,}", p]
        rows.append(f"| {test} | {entry['n'][0]:,} | {' | '.join(cells)} |")
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


def calibration_table(run: Path) -> str:
    """What a run's confidence is worth on each test set: errors before and after the fits, the surest 80%, sets."""
    heads = ["ECE", "without the bias of noise", "if calibrated", "after temperature", "after isotonic"]
    heads += ["accuracy of the surest 80%", "90% sets hold gold", "labels a set"]
    rows = [f"| test set | system | {' | '.join(heads)} |", "|---|---|" + "---|" * len(heads)]
    for test in _tests(run):
        for name, folder in _systems(run):
            scores = _read(folder / "scores" / f"{test}.json")
            ece, sets = scores["metrics"]["ece"], scores.get("conformal", {}).get("metrics", {})
            if ece["value"] is None:
                continue
            cells = [_shown(ece), f"{ece['debiased']:.3f}", f"{ece['expected_if_calibrated']['value']:.3f}"]
            cells += [_shown(_entry(scores, ("ece", kind))) for kind in ("temperature", "isotonic")]
            cells += [_shown(scores["metrics"].get("accuracy_at_80"))]
            cells += [_shown(sets.get(key)) for key in ("conformal_coverage", "conformal_size")]
            rows.append(f"| {test} | {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def phenomena_table(*runs: Path) -> str:
    """A suite by phenomenon: the main metric of every system of kept RUN/SETs, and what the first one's pairs say."""
    found = [
        (name, _read(folder / "scores" / f"{path.name}.json"))
        for path in runs
        for name, folder in _systems(path.parent)
        if (folder / "scores" / f"{path.name}.json").exists()
    ]
    main = _read(next(folder for _, folder in _systems(runs[0].parent)) / "card.json")["metrics"][0]
    first = found[0][1]["slices"]
    keys = [key for key in first if key.startswith(("phenomenon=", "role="))]
    extra = [name for name in PAIRS if any(_value(first[key], name) is not None for key in keys)]
    heads = [*(f"{name}: {HEADS.get(main, main)}" for name, _ in found), *(PAIRS[name] for name in extra)]
    rows = [f"| cases | n | {' | '.join(heads)} |", "|---|---|" + "---|" * len(heads)]
    for key in keys:
        cells = [_shown(scores["slices"].get(key, {}).get("metrics", {}).get(main)) for _, scores in found]
        cells += [_shown(first[key]["metrics"].get(name)) for name in extra]
        rows.append(f"| {key.split('=', 1)[1]} | {first[key]['n']:,} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _value(part: dict[str, Any], name: str) -> float | None:
    return part["metrics"].get(name, {}).get("value")


TABLES: dict[str, Callable[..., str]] = {
    "scores": scores_table,
    "means": means_table,
    "slices": slices_table,
    "about": about,
    "curve": curve_table,
    "paired": paired_table,
    "phenomena": phenomena_table,
    "calibration": calibration_table,
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["keep"] and len(sys.argv) >= 4:
        keep(Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
    elif sys.argv[1:2] == ["pair"] and len(sys.argv) == 5:
        pair(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
    elif sys.argv[1:] == ["write"]:
        (HERE / "results.md").write_text(page())
    else:
        sys.exit(__doc__)
