"""What follows from confidence, set by set: what fits do to it, how many are right of the surest, what the Brier score
is made of, what errors cost, how often conformal sets hold gold. Sections of the tab of calibration.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from heldout.eval.fits.conformal import CONFORMAL
from heldout.eval.metrics import SURE
from heldout.eval.metrics.selective import COVERAGES
from heldout.eval.report.inputs import Inputs
from heldout.eval.report.kinds import words_of
from heldout.eval.report.pieces import Block, Group, Prose, Section
from heldout.eval.report.tables import Cell, HtmlTable, Row, lift_cell, metric_cell, slice_name
from heldout.eval.report.wording import Bounded, bounded, count, interval, listed, measure, opening, percent
from heldout.eval.run_data import DEV
from heldout.eval.statistics import FEW
from heldout.fits import KEEPS_ANSWERS, spoken

#: The rules by what errors cost.
COST_RULES = ("expected_cost", "cost_threshold")
PARTS = ("reliability", "resolution", "uncertainty", "within_bins")


def sections(inputs: Inputs) -> list[Section]:
    """The sections that the main system's scores have something for."""
    found = (_fits(inputs), _surest(inputs), _parts(inputs), _costs(inputs), _conformal(inputs))
    return [section for section in found if section is not None]


def _scores(inputs: Inputs, *, dev: bool = False) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The main system's scores of each test set, and of dev behind them where it is asked for."""
    for name in [*(data.name for data in inputs.tests), *([DEV] if dev else [])]:
        if name in inputs.main.scores:
            yield name, inputs.main.scores[name]


def _variant(scores: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = scores.get("variants", {}).get(kind, {})
    return found


def _fits(inputs: Inputs) -> Section | None:
    """The change of the ECE that each fit of confidence makes on each set, in words and as a table."""
    kinds = [kind for kind in inputs.main.fits if kind in KEEPS_ANSWERS]
    changes = {kind: dict(_changes(inputs, kind)) for kind in kinds}
    lines = tuple(helped(kind, inputs.tests[0].name, found) for kind, found in changes.items() if found)
    if not lines:
        return None
    rows = [
        Row(
            name,
            tuple(lift_cell("ece", changes[kind].get(name)) for kind in kinds),
            ("fitted on",) if any(_variant(scores, kind).get("in_sample") for kind in kinds) else (),
        )
        for name, scores in _scores(inputs, dev=True)
        if any(name in found for found in changes.values())
    ]
    table = HtmlTable(("set", *(f"ECE after {spoken(kind)}, change" for kind in kinds)), tuple(rows))
    note = "Fitted on dev, applied to every set; minus is better. Intervals are of the paired change."
    return Section("What is fitted on dev, elsewhere", (Prose(lines), Block("Change of the ECE", table)), note)


def _changes(inputs: Inputs, kind: str) -> Iterator[tuple[str, Bounded]]:
    for name, scores in _scores(inputs, dev=True):
        entry = _variant(scores, kind).get("metrics", {}).get("ece") or {}
        if bounded(entry)[0] is None:
            continue
        value, low, high = bounded(entry.get("change") or {"value": 0.0, "low": 0.0, "high": 0.0})
        yield name, (value, None, None) if entry["n"] < FEW else (value, low, high)


def helped(kind: str, first: str, changes: Mapping[str, Bounded]) -> str:
    """Where a fit helps and where it hurts: the first test set is the domain, dev is not counted."""
    told = {name: change for name, change in changes.items() if name != DEV}
    sure = {name: change for name, change in told.items() if change[1] is not None and change[2] is not None}
    better = [name for name, (_, _, high) in sure.items() if high is not None and high < 0]
    worse = [name for name, (_, low, _) in sure.items() if low is not None and low > 0]
    words = opening(spoken(kind))
    if not better and not worse:
        return f"{words} of dev: on no set is the change of the ECE more than chance could give."
    parts = [f"lowers the ECE on {_sets(better, told)}"] if better else []
    parts += (
        [f"raises it on {_sets(worse, told)}" if better else f"raises the ECE on {_sets(worse, told)}"] if worse else []
    )
    open_ = [name for name in told if name not in better and name not in worse]
    rest = f"; on {listed(open_)} the change is no more than chance could give" if open_ else ""
    if first in better and worse:
        rest += f". It helps in the domain, {first}, and hurts out of it"
    return f"{words} of dev {' and '.join(parts)}{rest}."


def _sets(names: Sequence[str], changes: Mapping[str, Bounded]) -> str:
    cells = {name: lift_cell("ece", changes[name]) for name in names}
    return listed([f"{name} ({cell.value}, {cell.note})" for name, cell in cells.items()])


def _surest(inputs: Inputs) -> Section | None:
    """How many are right of the surest 80, 90 and 95%, beside all."""
    names = [f"{SURE[inputs.card.kind]}_at_{share}" for share in COVERAGES] if inputs.card.kind in SURE else []
    rows, lines, words = [], [], words_of(inputs)
    for name, scores in _scores(inputs):
        metrics = scores.get("metrics", {})
        if not any(bounded(metrics.get(metric))[0] is not None for metric in names):
            continue
        risk = ((metrics.get("aurc") or {}).get("curve") or {}).get("risk")
        every = Cell(percent(1 - risk[-1]) if risk else "–")
        rows.append(Row(name, (every, *(metric_cell(metric, metrics.get(metric)) for metric in names))))
        whole = f"; of all {every.value}" if risk else ""
        said = percent(bounded(metrics.get(names[0]))[0])
        lines.append(f"Of the surest {COVERAGES[0]}% of the {name} {words.events} {said} {words.came_true}{whole}.")
    if not rows:
        return None
    table = HtmlTable(("set", "all", *(f"surest {share}%" for share in COVERAGES)), tuple(rows))
    note = f"The share of {words.events} that {words.came_true} when the least sure are left to people."
    return Section("Answering only the surest", (Prose(tuple(lines)), Block("By coverage", table)), note)


def _parts(inputs: Inputs) -> Section | None:
    """Murphy's parts of the Brier score of each set, as answered and after what keeps answers."""
    rows = []
    kinds = [kind for kind in inputs.main.fits if kind in KEEPS_ANSWERS]
    for name, scores in _scores(inputs):
        for when, side in {"": scores, **{f" after {spoken(kind)}": _variant(scores, kind) for kind in kinds}}.items():
            entry = side.get("metrics", {}).get("brier") or {}
            parts = entry.get("decomposition")
            if parts:
                cells = (metric_cell("brier", entry), *(Cell(measure("brier", parts[part])) for part in PARTS))
                rows.append(Row(f"{name}{when}", cells, whole=not when))
    if not rows:
        return None
    note = (
        "Brier score = reliability (how far stated probabilities are off: 0 is best) − resolution (how far they tell "
        "cases apart: more is better) + uncertainty (of the data, whatever the system) + what is left inside the bins "
        "(Murphy 1973; Stephenson, Coelho and Jolliffe 2008)."
    )
    heads = ("set", "Brier score", *(part.replace("_", " ") for part in PARTS))
    return Section(
        "What the Brier score is made of", (Block("", HtmlTable(heads, tuple(rows)), caption="Brier score"),), note
    )


def _costs(inputs: Inputs) -> Section | None:
    """What the answers cost, as given and by each rule, with the paired change."""
    fits = {kind: inputs.main.fits[kind] for kind in COST_RULES if kind in inputs.main.fits}
    rows = []
    for name, scores in _scores(inputs, dev=True):
        before = scores.get("metrics", {}).get("cost")
        if bounded(before)[0] is None:
            continue
        cells = [metric_cell("cost", before)]
        for kind in fits:
            after = _variant(scores, kind).get("metrics", {}).get("cost") or {}
            cells += [metric_cell("cost", after), lift_cell("cost", bounded(after.get("change")))]
        best = _variant(scores, "cost_threshold").get("best_on_this")
        cells.append(Cell(measure("cost", best["metrics"]["cost"]) if best else "–"))
        badges = ("fitted on",) if any(_variant(scores, kind).get("in_sample") for kind in fits) else ()
        rows.append(Row(name, tuple(cells), badges))
    if not rows:
        return None
    labels, costs = (next(iter(fits.values())).parameters[key] for key in ("labels", "costs"))
    dear = [
        f"{gold} called {answer} costs {costs[i][j]:g}"
        for i, gold in enumerate(labels)
        for j, answer in enumerate(labels)
        if i != j
    ]
    rules = [
        f"{spoken(kind)}: {labels[1]} is answered from {fit.parameters['threshold']:.3f} on"
        for kind, fit in fits.items()
        if "threshold" in fit.parameters
    ]
    note = f"{opening(listed(dear))}. Rules of dev{': ' + '; '.join(rules) if rules else ''}. "
    note += "The best threshold on a set itself is chosen on what it is scored on: it is no result."
    after = [head for kind in fits for head in (f"after {spoken(kind)}", "change")]
    heads = ("set", "cost an answer", *after, "best on the set itself, no result")
    return Section("What errors cost", (Block("", HtmlTable(heads, tuple(rows)), caption="cost of answers"),), note)


def _conformal(inputs: Inputs) -> Section | None:
    """Coverage and size of the conformal sets on each set and its slices."""
    found = {name: scores[CONFORMAL] for name, scores in _scores(inputs, dev=True) if CONFORMAL in scores}
    told = [name for name in found if name != DEV]
    if not told:
        return None
    asked = 1 - found[told[0]]["parameters"]["alpha"]
    coverages = {name: bounded(found[name]["metrics"]["conformal_coverage"]) for name in told}
    rows = [_sets_row(name, sets, ("fitted on",) if sets.get("in_sample") else ()) for name, sets in found.items()]
    of_slices = [
        _sets_row(f"{name}, {slice_name(key)}", part, ("few",) if part["n"] < FEW else ())
        for name in told
        for key, part in found[name]["slices"].items()
    ]
    heads = ("set", "n", "hold gold", "labels a set", "empty", "of one label")
    blocks = (
        Prose((covered(asked, coverages),)),
        Block("", HtmlTable(heads, tuple(rows)), caption="conformal sets"),
        Group(
            "The same by slice", (Block("", HtmlTable(heads, tuple(of_slices)), caption="sets by slice"),), folded=True
        ),
    )
    fitted = found[told[0]]["fitted_on"]
    note = (
        f"Instead of one label a set of them, every label whose probability is at least "
        f"{1 - found[told[0]]['parameters']['quantile']:.3f}, so chosen on {fitted['split']} "
        f"({count(fitted['n'])} {words_of(inputs).many}) that {percent(asked, 0)} of the sets hold gold on "
        "others like those (split conformal prediction; Sadinle, Lei and Wasserman 2019). Elsewhere that is no promise."
    )
    return Section("Conformal sets", blocks, note)


def covered(asked: float, coverages: Mapping[str, Bounded]) -> str:
    """The coverage asked for and reached, set by set; what is surely less is called so."""
    parts = []
    for name, (value, low, high) in coverages.items():
        span = interval("accuracy", low, high)
        short = ", less than asked" if high is not None and high < asked else ""
        parts.append(f"{percent(value)} on {name}{f' (interval {span}{short})' if span else ''}")
    return f"Asked for {percent(asked, 0)}, the sets hold gold {listed(parts)}."


def _sets_row(name: str, sets: Mapping[str, Any], badges: tuple[str, ...]) -> Row:
    coverage, size = (sets["metrics"][f"conformal_{of}"] for of in ("coverage", "size"))
    n, sizes = coverage.get("n", 0), size.get("sizes", {})
    shares = [Cell(percent(sizes.get(labels, 0) / n)) if n else Cell("–") for labels in ("0", "1")]
    cells = (Cell(count(n)), metric_cell("conformal_coverage", coverage), metric_cell("conformal_size", size), *shares)
    return Row(name, cells, badges)
