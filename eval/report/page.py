"""What stands on the page: the parts that the template lays out, gathered from the inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from heldout.eval.report.calibration import Calibration, calibration
from heldout.eval.report.comparisons import Comparisons
from heldout.eval.report.coverage import coverage_table, overlap_note, overlap_table, splits_table
from heldout.eval.report.inputs import Inputs
from heldout.eval.report.kinds import view_of, words_of
from heldout.eval.report.mistakes import Mistake, Mistakes
from heldout.eval.report.pictures import Picture, lift_picture, overview
from heldout.eval.report.provenance import methods, provenance, records
from heldout.eval.report.tables import HtmlTable, metrics_table, slice_table
from heldout.eval.report.verdict import banners, fitted_things, verdict
from heldout.eval.report.view import Section
from heldout.eval.report.wording import count, listed, opening, title
from heldout.eval.score import DEV


@dataclass(frozen=True)
class Set:
    """One scored set: its tables, and what was fitted on it."""

    name: str
    badges: tuple[str, ...]
    folded: bool
    slices: HtmlTable
    metrics: HtmlTable


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
    sections: Sequence[Section]
    calibration: Calibration
    mistakes: Mapping[str, Any]
    splits: HtmlTable
    overlap: HtmlTable
    overlap_note: str
    coverage: HtmlTable
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
        sections=view_of(inputs).sections(inputs),
        calibration=calibration(inputs),
        mistakes=_mistakes(inputs, wrong, text=text),
        splits=splits_table(inputs),
        overlap=overlap_table(inputs),
        overlap_note=overlap_note(inputs),
        coverage=coverage_table(inputs),
        provenance=provenance(inputs),
        records=[{"name": system.name, "entries": records(system)} for system in inputs.systems],
        methods=methods(inputs, found),
    )


def _intro(inputs: Inputs) -> str:
    splits = inputs.main.ledger.splits
    parts, many = [], words_of(inputs).many
    if "train" in splits:
        parts.append(f"trained on {count(splits['train'].get('n', 0))} {many} of {splits['train'].get('source', '?')}")
    if DEV in splits:
        parts.append(f"choices made on {count(splits[DEV].get('n', 0))} dev {many}")
    beside = [system.name for system in inputs.systems[1:]]
    parts.append(f"beside it {listed(beside)}" if beside else "nothing beside it")
    return f"{opening('; '.join(parts))}."


def _slices_note(inputs: Inputs, best: str) -> str:
    many = words_of(inputs).many
    words = f"{opening(title(inputs.metric))} with its 95% interval below; n counts the {many} of a slice"
    words += f"{_entities(inputs)}."
    lift = f" Lift is {inputs.main.name} minus {best}, the baseline that is best on dev, on the same {many}."
    return words + (lift if best else "")


def _entities(inputs: Inputs) -> str:
    """That some slices are of entities, where the scores hold such."""
    parts = (part for scores in inputs.main.scores.values() for part in scores.get("slices", {}).values())
    said = dict.fromkeys(part["about"] for part in parts if part.get("about"))
    return f", or its {listed(list(said))} where it says so" if said else ""


def _sets(inputs: Inputs, found: Comparisons, best: str) -> list[Set]:
    lifts = {(d, key): lift.difference for (other, d, key), lift in found.lifts.items() if other == best}
    data = {test.name: test for test in inputs.tests} | ({DEV: inputs.main.dev} if inputs.main.dev else {})
    names = [data.name for data in inputs.tests if any(data.name in s.scores for s in inputs.systems)]
    names += [DEV] if any(DEV in system.scores for system in inputs.systems) else []
    sets = []
    for name in names:
        things = fitted_things(inputs.main, data[name]) if name in data else []
        badges = ("fitted on: " + listed(things) if things else "used for choices",) if name == DEV or things else ()
        sets.append(Set(name, badges, name == DEV, slice_table(inputs, name, lifts, best), metrics_table(inputs, name)))
    return sets


def _mistakes(inputs: Inputs, wrong: Mistakes, *, text: bool) -> Mapping[str, Any]:
    """The mistakes with the numbers that their filters go by: of each filter the options that a mistake is under."""
    view = view_of(inputs)
    filters = (("system", "System"), ("data", "Test set"), *view.filters, ("slice", "Slice"))
    keys = [_keys(mistake) for mistake in wrong.shown]
    options = {name: _options(inputs, name, keys) for name, _ in filters}
    places = {name: {option: str(k) for k, option in enumerate(found)} for name, found in options.items()}
    shown = [
        (m, {name: " ".join(places[name][value] for value in values) for name, values in of.items()})
        for m, of in zip(wrong.shown, keys, strict=True)
    ]
    return {
        "note": _note(inputs, wrong) + ("" if text else " The texts were left out by --no-text."),
        "marked": any(isinstance(p.text, Markup) for m in wrong.shown for field in m.body.fields for p in field.parts),
        "shown": shown,
        "filters": [(name, words, options[name], 0 if name == "system" else None) for name, words in filters],
    }


def _keys(mistake: Mistake) -> dict[str, Sequence[str]]:
    keys: dict[str, Sequence[str]] = {"system": (mistake.system,), "data": (mistake.data,), "slice": mistake.slices}
    return keys | dict(mistake.body.keys)


def _options(inputs: Inputs, name: str, keys: Sequence[Mapping[str, Sequence[str]]]) -> list[str]:
    """What a filter offers: the labels of the card first, slices sorted, the others as they come."""
    first = inputs.card.labels if name == "gold" else ()
    found = dict.fromkeys([*first, *(value for of in keys for value in of[name])])
    return sorted(found) if name in ("slice", "type", "fate") else list(found)


def _note(inputs: Inputs, wrong: Mistakes) -> str:
    if not wrong.total:
        return "No answer is wrong."
    things = "answers are wrong" if inputs.card.kind == "label" else f"{words_of(inputs).many} are not answered exactly"
    return (
        f"Over all systems and test sets {count(wrong.total)} {things}. Here are {count(len(wrong.shown))} of "
        f"them, {view_of(inputs).order or _order(wrong)}, an equal share for each system and set; "
        f"{count(wrong.left_out)} are left out."
    )


def _order(wrong: Mistakes) -> str:
    """Which mistakes are shown: the surest, and the first where nothing says how sure they were."""
    sure = [mistake.confidence is not None for mistake in wrong.shown]
    if not any(sure):
        return "the first of each set, since no scores say how sure they were"
    return "those given with the most confidence" + ("" if all(sure) else ", or the first where there are no scores")
