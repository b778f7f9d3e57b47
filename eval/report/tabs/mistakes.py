"""The tab of mistakes: texts that were answered wrongly, with filters by system, set, slice and more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from heldout.eval.report.inputs import Inputs
from heldout.eval.report.kinds import view_of, words_of
from heldout.eval.report.mistakes import Mistake, Mistakes, Slicer, most_confident
from heldout.eval.report.pieces import Section
from heldout.eval.report.tables import slice_name
from heldout.eval.report.tabs import Report, Tab
from heldout.eval.report.wording import count
from heldout.eval.slices import Slice, chosen
from heldout.records import Example, Prediction


@dataclass(frozen=True)
class Filter:
    """A choice over the list: its name, its label, its options, and which of them is chosen at first (None: all)."""

    name: str
    label: str
    options: tuple[str, ...]
    chosen: int | None = None


@dataclass(frozen=True)
class Listed:
    """The mistakes, each with the numbers of the options that it is under: {filter: "0 3"}."""

    template: ClassVar[str] = "mistakes.html.j2"
    shown: tuple[tuple[Mistake, Mapping[str, str]], ...]
    filters: tuple[Filter, ...]
    marked: bool


def _sections(report: Report) -> list[Section] | None:
    inputs = report.inputs
    if inputs.card.kind == "lm":
        return None
    wrong = most_confident(inputs, _slicer(inputs), text=report.text, limit=report.shown)
    note = _note(inputs, wrong) + ("" if report.text else " The texts were left out by --no-text.")
    return [Section("", (_listed(inputs, wrong),) if wrong.shown else (), note)]


def _slicer(inputs: Inputs) -> Slicer:
    slices = [found for found in chosen(inputs.card) if isinstance(found, Slice)]

    def slices_of(example: Example, prediction: Prediction) -> list[str]:
        values = [(s.name, s.value(example, prediction)) for s in slices]
        return [slice_name(f"{name}={value}") for name, value in values if value is not None]

    return slices_of


def _listed(inputs: Inputs, wrong: Mistakes) -> Listed:
    names = (("system", "System"), ("data", "Test set"), *view_of(inputs).filters, ("slice", "Slice"))
    keys = [_keys(mistake) for mistake in wrong.shown]
    options = {name: _options(inputs, name, keys) for name, _ in names}
    places = {name: {option: str(k) for k, option in enumerate(found)} for name, found in options.items()}
    shown = tuple(
        (m, {name: " ".join(places[name][value] for value in values) for name, values in of.items()})
        for m, of in zip(wrong.shown, keys, strict=True)
    )
    filters = tuple(Filter(name, label, tuple(options[name]), 0 if name == "system" else None) for name, label in names)
    return Listed(shown, filters, _marked(wrong))


def _marked(wrong: Mistakes) -> bool:
    return any(isinstance(p.text, Markup) for m in wrong.shown for field in m.body.fields for p in field.parts)


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


TAB = Tab("Mistakes", 50, _sections)
