"""What stands on the page: the parts that the template lays out, gathered from the inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.eval.report.calibration import Calibration, calibration
from heldout.eval.report.comparisons import Comparisons
from heldout.eval.report.coverage import coverage_table, overlap_table, splits_table
from heldout.eval.report.inputs import Inputs, System
from heldout.eval.report.mistakes import Mistake, Mistakes
from heldout.eval.report.pictures import Picture, lift_picture, overview
from heldout.eval.report.tables import Table, metrics_table, slice_table
from heldout.eval.report.verdict import banners, fitted_things, verdict
from heldout.eval.report.wording import count, listed, opening, sure, title
from heldout.eval.score import DEV


@dataclass(frozen=True)
class Set:
    """One scored set: its tables, and what was fitted on it."""

    name: str
    badges: tuple[str, ...]
    folded: bool
    slices: Table
    metrics: Table


@dataclass(frozen=True)
class Page:
    """Everything on the page, in words, tables and drawings."""

    title: str
    card: str
    intro: str
    metric: str
    banners: Sequence[str]
    verdict: Sequence[str]
    picture: Picture
    best: str
    lift: Picture | None
    slices_note: str
    sets: Sequence[Set]
    calibration: Calibration
    mistakes: Mapping[str, Any]
    splits: Table
    overlap: Table
    coverage: Table
    provenance: Sequence[tuple[str, str]]
    records: Sequence[Mapping[str, Any]]
    methods: Sequence[str]


def make_page(inputs: Inputs, found: Comparisons, wrong: Mistakes, *, text: bool) -> Page:
    """Gather the page."""
    best = found.best.name if found.best else ""
    return Page(
        title=f"{inputs.main.name} on {listed([data.name for data in inputs.tests])}",
        card=f"{inputs.card.name}, version {inputs.card.version}",
        intro=_intro(inputs),
        metric=title(inputs.metric),
        banners=banners(inputs),
        verdict=verdict(inputs, found),
        picture=overview(inputs, found.best),
        best=best,
        lift=lift_picture(inputs, found),
        slices_note=_slices_note(inputs, best),
        sets=_sets(inputs, found, best),
        calibration=calibration(inputs),
        mistakes=_mistakes(inputs, wrong, text=text),
        splits=splits_table(inputs),
        overlap=overlap_table(inputs),
        coverage=coverage_table(inputs),
        provenance=_provenance(inputs),
        records=[{"name": system.name, "entries": _records(system)} for system in inputs.systems],
        methods=_methods(inputs),
    )


def _intro(inputs: Inputs) -> str:
    splits = inputs.main.ledger.splits
    parts = []
    if "train" in splits:
        parts.append(f"trained on {count(splits['train'].get('n', 0))} texts of {splits['train'].get('source', '?')}")
    if DEV in splits:
        parts.append(f"choices made on {count(splits[DEV].get('n', 0))} dev texts")
    beside = [system.name for system in inputs.systems[1:]]
    parts.append(f"beside it {listed(beside)}" if beside else "nothing beside it")
    return f"{opening('; '.join(parts))}."


def _slices_note(inputs: Inputs, best: str) -> str:
    words = f"{opening(title(inputs.metric))} with its 95% interval below; n counts the texts of a slice."
    lift = f" Lift is {inputs.main.name} minus {best}, the baseline that is best on dev, on the same texts."
    return words + (lift if best else "")


def _sets(inputs: Inputs, found: Comparisons, best: str) -> list[Set]:
    lifts = {(d, key): lift.difference for (other, d, key), lift in found.lifts.items() if other == best}
    hashes = {data.name: data.hash for data in inputs.tests}
    names = [data.name for data in inputs.tests if any(data.name in s.scores for s in inputs.systems)]
    names += [DEV] if any(DEV in system.scores for system in inputs.systems) else []
    sets = []
    for name in names:
        things = fitted_things(inputs.main, hashes.get(name) or (inputs.main.dev.hash if inputs.main.dev else ""))
        badges = ("fitted on: " + listed(things) if things else "used for choices",) if name == DEV or things else ()
        sets.append(Set(name, badges, name == DEV, slice_table(inputs, name, lifts, best), metrics_table(inputs, name)))
    return sets


def _mistakes(inputs: Inputs, wrong: Mistakes, *, text: bool) -> Mapping[str, Any]:
    systems = list(dict.fromkeys(m.system for m in wrong.shown))
    data = list(dict.fromkeys(m.data for m in wrong.shown))
    labels = list(dict.fromkeys([*inputs.card.labels, *(m.gold for m in wrong.shown)]))
    slices = sorted({name for m in wrong.shown for name in m.slices})

    def keys(mistake: Mistake) -> Mapping[str, str]:
        words = "" if mistake.confidence is None else f" with {sure(mistake.confidence)} confidence"
        return {
            "system": str(systems.index(mistake.system)),
            "data": str(data.index(mistake.data)),
            "gold": str(labels.index(mistake.gold)),
            "slices": " ".join(str(slices.index(name)) for name in mistake.slices),
            "sure": words,
        }

    note = (
        f"Over all systems and test sets {count(wrong.total)} answers are wrong. Here are {count(len(wrong.shown))} of "
        "them, those given with the most confidence, an equal share for each system and set; "
        f"{count(wrong.left_out)} are left out."
    )
    if not wrong.total:
        note = "No answer is wrong."
    return {
        "note": note + ("" if text else " The texts were left out by --no-text."),
        "shown": [(mistake, keys(mistake)) for mistake in wrong.shown],
        "filters": [
            ("system", "System", systems, 0),
            ("data", "Test set", data, None),
            ("gold", "Gold label", labels, None),
            ("slice", "Slice", slices, None),
        ],
    }


def _provenance(inputs: Inputs) -> list[tuple[str, str]]:
    main, entries = inputs.main, [("card", f"{inputs.card.name} {inputs.card.version}")]
    entries += [("citation", inputs.card.citation)] if inputs.card.citation else []
    for name, fit in main.fits.items():
        values = ", ".join(f"{key} {value:g}" for key, value in fit.parameters.items())

        entries.append((f"fit: {name}", f"{values}; {_fitted(fit.fitted_on)}"))
    for name, entry in main.ledger.fitted.items():
        if name not in main.fits:
            entries.append((name.replace("_", " "), _fitted(entry)))
    entries += [("plan of steps", _short(main.ledger.plan))] if main.ledger.plan else []
    entries += [(f"gold of {data.name}", f"n = {len(data.examples)}, {_short(data.hash)}") for data in inputs.tests]
    return entries


def _fitted(on: Mapping[str, Any]) -> str:
    return f"fitted on {on.get('split')}, n = {on.get('n')}, {_short(on.get('hash'))}"


def _short(digest: Any) -> str:
    return f"hash {str(digest)[:16]}"


def _records(system: System) -> list[tuple[str, str]]:
    """A system's options and environment, flat, those without a value left out."""
    entries = [(str(key).replace("_", "-"), _said(value)) for key, value in system.options.items()]
    for key, value in system.environment.items():
        parts = value.items() if isinstance(value, Mapping) else [(key, value)]
        entries += [(str(name), _said(found)) for name, found in parts]
    return [(name, value) for name, value in entries if value]


def _said(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None or value is False else "yes" if value is True else str(value)


def _methods(inputs: Inputs) -> list[str]:
    """How each interval was made, as the scores say, and what the other words of the page mean."""
    first = inputs.tests[0].name
    made: dict[str, list[str]] = {}
    for name, entry in inputs.main.scores.get(first, {}).get("metrics", {}).items():
        if entry.get("method"):
            made.setdefault(str(entry["method"]), []).append(title(name))
    lines = [f"Intervals on {first}, {listed(names)}: {method}." for method, names in made.items()]
    return [
        *lines,
        "Lift: paired bootstrap, both systems on the same draws; McNemar's test is the exact two-sided binomial.",
        "Drops between test sets, and a slice against its rest: two independent bootstraps.",
        "No interval is corrected for how many of them stand on this page: of twenty, one misses by chance.",
    ]
