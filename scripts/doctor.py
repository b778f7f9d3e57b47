"""Check a run before its numbers are believed: batching, padding, saving, offsets, overlap, metrics and more.

    heldout doctor runs/imdb                                 on the run's own first test set
    heldout doctor runs/imdb --data yelp=yelp.csv --limit 200 --column text=review
    heldout doctor runs/imdb --only padding --only labels

Each check passes, fails with its figure and what to do, or is not applicable. The findings are kept in
RUN/checks.json, which ``heldout report`` shows. Exit status 0 where none fails, 1 where one does.
"""

from __future__ import annotations

import json as jsons
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.data.prepare import load, parse_tests
from heldout.data.sources import SourceOptions
from heldout.data.splits import limited
from heldout.errors import Refused
from heldout.eval.run_data import names_of
from heldout.options import option, positional
from heldout.records import Example, goldless, read_card, read_gold
from heldout.runs import holding, read_json, task_options, write_json
from heldout.tasks import load_task
from heldout.train.progress import say

if TYPE_CHECKING:
    from heldout.checks.doctor import Patient

MARKS = {"pass": "pass", "fail": "FAIL", "not applicable": "n/a"}


@dataclass(frozen=True)
class Options(SourceOptions):
    """What ``heldout doctor`` takes."""

    folder: str = positional("the run folder whose model/ is checked", metavar="RUN")
    data: str = option("", "a set of the run, or another to answer (default: its first test)", metavar="NAME[=SOURCE]")
    limit: int | None = option(64, "answer N examples, a sample stratified by label", metavar="N")
    only: tuple[str, ...] = option((), "one check, by the name of its file; may be given again", metavar="CHECK")
    json: bool = option(False, "print the findings as JSON")


def run(options: Options) -> int:
    """Examine the run, write RUN/checks.json, print it; 1 where a check fails."""
    from heldout.checks.doctor import chosen, examine

    folder = Path(options.folder)
    chosen(options.only)
    patient = admit(folder, options)
    rows = examine(patient, options.only, lambda title: None if options.json else say(f"checking {title}"))
    report = {
        "date": datetime.now(UTC).date().isoformat(),
        "data": patient.data,
        "n": len(patient.examples),
        "device": patient.system.accelerator.device.type,
        "checks": rows,
    }
    with holding(folder):
        write_json(folder / "checks.json", _beside_others(folder / "checks.json", report))
    print(jsons.dumps(report, indent=2, ensure_ascii=False) if options.json else show(report, folder))
    return int(any(row["outcome"] == "fail" for row in rows))


def admit(folder: Path, options: Options) -> Patient:
    """The run's system in fp32 with the examples to answer; Refused where the folder is no run with a model."""
    from heldout.checks.doctor import Patient
    from heldout.train.precision import make_accelerator
    from heldout.train.system import load_system
    from heldout.train.untrusted import Source

    if not (folder / "model").is_dir():
        seeds = sorted(path.parent.name for path in folder.glob("seed-*/model"))
        which = (
            f"; check one of {', '.join(seeds)}" if seeds else "; give a run folder that heldout finetune has finished"
        )
        raise Refused(f"{folder}: holds no model/{which}")
    card, made = read_card(folder / "card.json"), task_options(folder)
    task = load_task(made["task"], card)
    name, examples, kept = _examples(folder, options)
    source = Source(str(folder / "model"), bool(made.get("trust_remote_code")))
    system = load_system(task, source, task.head(card), made, make_accelerator("fp32"))
    return Patient(folder, card, task, system, made, name, examples, kept)


def _examples(folder: Path, options: Options) -> tuple[str, Sequence[Example], bool]:
    """The set's name, a sample of its examples, and whether the run holds it with predictions."""
    if "=" in options.data:
        ((name, source),) = parse_tests([options.data], "--data").items()
        card, task = read_card(folder / "card.json"), task_options(folder)["task"]
        labels = [*card.labels, *card.collapse.values()]
        return name, load(task, source, options, name=name, labels=labels, limit=options.limit).examples, False
    sets = names_of(folder)
    name = options.data or sets[0]
    if name not in sets:
        raise Refused(f"--data {name}: the run has {', '.join(sets)}; for another set write {name}=SOURCE")
    gold = read_gold(folder / "gold" / f"{name}.jsonl", read_card(folder / "card.json"))
    if goldless(gold):
        raise Refused(f"--data {name}: has no gold; the checks need a set that has")
    kept = (folder / "predictions" / f"{name}.jsonl").exists()
    return name, limited(gold, options.limit, seed=0) if options.limit else gold, kept


def _beside_others(path: Path, report: Mapping[str, Any]) -> dict[str, Any]:
    """The report with the rows of an earlier one for the checks that were not asked for this time."""
    from heldout.checks.doctor import all_checks

    before = {row["name"]: row for row in read_json(path)["checks"]} if path.exists() else {}
    rows = before | {row["name"]: row for row in report["checks"]}
    return {**report, "checks": [rows[name] for name in all_checks() if name in rows]}


def show(report: Mapping[str, Any], folder: Path) -> str:
    """A line for each check with its figure, and below one that fails what to do."""
    rows = report["checks"]
    width = max(len(row["title"]) for row in rows)
    lines = [f"{folder}, {report['n']} examples of {report['data']}, fp32 on {report['device']}", ""]
    for row in rows:
        tolerated = f" (tolerated: {row['tolerance']})" if row["tolerance"] and row["outcome"] == "fail" else ""
        lines.append(f"{MARKS[row['outcome']]:<4}  {row['title']:<{width}}  {row['figure']}{tolerated}")
        if row["advice"]:
            lines.append(f"      {'':<{width}}  do: {row['advice']}")
    counts = {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in MARKS}
    lines += ["", ", ".join(f"{n} {outcome}" for outcome, n in counts.items())]
    return "\n".join(lines)
