"""The tab of slices: a forest plot of all of them, and the numbers of every system on every part of every test set."""

from heldout.eval import own_slices
from heldout.eval.report.inputs import Inputs
from heldout.eval.report.kinds import words_of
from heldout.eval.report.pictures import forest
from heldout.eval.report.pieces import Block, Group, Section
from heldout.eval.report.tables import metrics_table, slice_table
from heldout.eval.report.tabs import Report, Tab
from heldout.eval.report.verdict import fitted_things
from heldout.eval.report.wording import listed, opening, title
from heldout.eval.run_data import DEV


def _sections(report: Report) -> list[Section]:
    inputs, best = report.inputs, report.found.best.name if report.found.best else ""
    picture = forest(inputs, report.found)
    sets = Section("The numbers of every system", tuple(_sets(report, best)), _note(inputs, best))
    return [*([Section("", (picture,))] if picture else []), sets]


def _note(inputs: Inputs, best: str) -> str:
    many = words_of(inputs).many
    words = f"{opening(title(inputs.metric))} with its 95% interval below; n counts the {many} of a slice"
    words += f"{_entities(inputs)}."
    lift = f" Lift is {inputs.main.name} minus {best}, the baseline that is best on dev, on the same {many}."
    own = "".join(f" Slice {name}: {text}." for name, text in own_slices.of_card(inputs.card).items())
    return words + (lift if best else "") + own


def _entities(inputs: Inputs) -> str:
    """That some slices are of entities, where the scores hold such."""
    parts = (part for scores in inputs.main.scores.values() for part in scores.get("slices", {}).values())
    said = dict.fromkeys(part["about"] for part in parts if part.get("about"))
    return f", or its {listed(list(said))} where it says so" if said else ""


def _sets(report: Report, best: str) -> list[Group]:
    """One group a set, the first one open; what was fitted on a set stands as a badge beside its name."""
    inputs = report.inputs
    lifts = {(d, key): lift.difference for (other, d, key), lift in report.found.lifts.items() if other == best}
    data = {test.name: test for test in inputs.tests} | ({DEV: inputs.main.dev} if inputs.main.dev else {})
    names = [test.name for test in inputs.tests if any(test.name in s.scores for s in inputs.systems)]
    names += [DEV] if any(DEV in system.scores for system in inputs.systems) else []
    groups = []
    for name in names:
        things = fitted_things(inputs.main, data[name]) if name in data else []
        badges = ("fitted on: " + listed(things) if things else "used for choices",) if name == DEV or things else ()
        slices = Block("", slice_table(inputs, name, lifts, best), caption=f"{title(inputs.metric)} on {name} by slice")
        metrics = Block("All metrics", metrics_table(inputs, name), caption=f"all metrics on {name}")
        groups.append(Group(name, (slices, metrics), folded=True, badges=badges))
    return groups


TAB = Tab("Slices", 10, _sections)
