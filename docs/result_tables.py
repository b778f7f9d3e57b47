"""The tables of docs/results.md, each a function of kept runs (docs/results/NAME) that gives Markdown."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from heldout.eval.behaviour import main_metric

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
PAIRS = {
    **{"both_right": "both of a pair right", "twin_gap": "gap to the twin", "flip_rate": "flips"},
    "moved": "moved as stated",
}
HEADS = {
    **{"accuracy": "accuracy", "nll": "NLL", "ece": "ECE", "f1": "F1", "em": "EM", "has_ans_f1": "HasAns F1"},
    **{"no_ans_acc": "NoAns accuracy", "entity_f1": "F1", "entity_precision": "precision", "entity_recall": "recall"},
    **{"entity_f1_lenient": "lenient F1", "lm_nll": "loss a token", "lm_accuracy": "accuracy a token"},
    "nsp_accuracy": "NSP accuracy",
}


def systems(run: Path) -> Iterator[tuple[str, Path]]:
    """The systems of a run with their folders: its seeds or itself, then its controls and baselines."""
    seeds = sorted(run.glob("seed-*"))
    yield from ((folder.name, folder) for folder in seeds) if seeds else [(_name(run), run)]
    yield from ((f"control {folder.name}", folder) for folder in sorted(run.glob("controls/*")))
    yield from ((folder.name, folder) for folder in sorted(run.glob("baselines/*")))


def _name(run: Path) -> str:
    """The name of a run's model: MiniLM, or that of the run which made it; of a pretraining its preset."""
    options = read(run / "options.json")
    if (run / "distillation.json").exists():
        return "student"
    if "kind" in options:
        return str(options["kind"])
    model = options.get("model") or ""
    return "MiniLM" if "minilm" in model.lower() else Path(model).parent.name if model else options["preset"]


def read(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text())


def tests(run: Path) -> list[str]:
    """The test sets of a run, as its options order them."""
    return [value.split("=", 1)[0] for value in read(run / "options.json").get("test", ["test"])]


def shown(entry: dict[str, Any] | None) -> str:
    """A figure with its interval."""
    if entry is None or entry["value"] is None:
        return "–"
    if entry["low"] is None:
        return f"{entry['value']:.3f}"
    return f"{entry['value']:.3f} ({entry['low']:.3f}–{entry['high']:.3f})"


def scores_table(run: Path) -> str:
    """Every system on every test set, with 95% intervals; columns in which nothing stands are left out."""
    found = [(t, name, read(folder / "scores" / f"{t}.json")) for t in tests(run) for name, folder in systems(run)]
    columns = COLUMNS[read(next(folder for _, folder in systems(run)) / "card.json")["kind"]]
    columns = tuple(column for column in columns if any(_entry(scores, column) for _, _, scores in found))
    heads = [HEADS[key] + (f" after {variant.replace('_', ' ')}" if variant else "") for key, variant in columns]
    rows = [f"| test set | n | system | {' | '.join(heads)} |", "|---|---|---|" + "---|" * len(heads)]
    for test, name, scores in found:
        cells = [shown(_entry(scores, column)) for column in columns]
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
    for test in tests(run):
        scores = [read(folder / "scores" / f"{test}.json") for folder in sorted(run.glob("seed-*"))]
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
    test = tests(run)[0]
    main = read(next(folder for _, folder in systems(run)) / "card.json")["metrics"][0]
    found = [(name, read(folder / "scores" / f"{test}.json")) for name, folder in systems(run)]
    rows = [f"| slice of {test} | n | {' | '.join(name for name, _ in found)} |", f"|---|---|{'---|' * len(found)}"]
    for key, part in found[0][1]["slices"].items():
        cells = [shown(scores["slices"].get(key, {}).get("metrics", {}).get(main)) for _, scores in found]
        rows.append(f"| {key} | {part['n']:,} | {' | '.join(cells)} |")
    return "\n".join(rows)


def curve_table(run: Path) -> str:
    """The loss on dev while a model was pretrained."""
    found = read(run / "evaluations.json")
    rows = ["| steps | loss a token on dev |", "|---|---|"]
    return "\n".join([*rows, *(f"| {row['step']:,} | {row['nll']:.3f} |" for row in found)])


def paired_table(run: Path) -> str:
    """What a run gains over another on the same texts."""
    kept = read(run / "paired.json")
    rows = [
        f"| test set | n | gain in {kept['metric']} | only the first right | only the second | McNemar's exact p |",
        "|---|---|---|---|---|---|",
    ]
    for test, entry in kept["tests"].items():
        p = "< 0.001" if entry["p"] < 0.001 else f"{entry['p']:.3f}"
        cells = [shown(entry), f"{entry['only_first']:,}", f"{entry['only_second']:,}", p]
        rows.append(f"| {test} | {entry['n'][0]:,} | {' | '.join(cells)} |")
    return "\n".join(rows)


def about(run: Path) -> str:
    """What was trained on what, when, and where."""
    folder = next((path for _, path in systems(run)), run)
    ledger, environment, losses = (read(folder / name) for name in ("ledger.json", "environment.json", "losses.jsonl"))
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
    for test in tests(run):
        for name, folder in systems(run):
            scores = read(folder / "scores" / f"{test}.json")
            ece, sets = scores["metrics"]["ece"], scores.get("conformal", {}).get("metrics", {})
            if ece["value"] is None:
                continue
            cells = [shown(ece), f"{ece['debiased']:.3f}", f"{ece['expected_if_calibrated']['value']:.3f}"]
            cells += [shown(_entry(scores, ("ece", kind))) for kind in ("temperature", "isotonic")]
            cells += [shown(scores["metrics"].get("accuracy_at_80"))]
            cells += [shown(sets.get(key)) for key in ("conformal_coverage", "conformal_size")]
            rows.append(f"| {test} | {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def phenomena_table(*runs: Path) -> str:
    """A suite by phenomenon: the main metric of every system of kept RUN/SETs, and what the first one's pairs say."""
    found = [
        (name, read(folder / "scores" / f"{path.name}.json"))
        for path in runs
        for name, folder in systems(path.parent)
        if (folder / "scores" / f"{path.name}.json").exists()
    ]
    main = main_metric(found[0][1])
    first = found[0][1]["slices"]
    keys = [key for key in first if key.startswith(("phenomenon=", "role="))]
    extra = [name for name in PAIRS if name != main and any(_value(first[key], name) is not None for key in keys)]
    head = (HEADS | PAIRS).get(main, main)
    heads = [*(f"{name}: {head}" for name, _ in found), *(PAIRS[name] for name in extra)]
    rows = [f"| cases | n | {' | '.join(heads)} |", "|---|---|" + "---|" * len(heads)]
    for key in keys:
        cells = [shown(scores["slices"].get(key, {}).get("metrics", {}).get(main)) for _, scores in found]
        cells += [shown(first[key]["metrics"].get(name)) for name in extra]
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
