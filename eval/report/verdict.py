"""The verdict: picks the numbers of each sentence from the records, in the order in which a reader needs them."""

from collections.abc import Iterator
from dataclasses import dataclass

from heldout.eval.metrics import find
from heldout.eval.permuted import OPENING
from heldout.eval.report import sentences
from heldout.eval.report.calibration import TEMPERATURE, answers_of, reliability_bins, variant
from heldout.eval.report.comparisons import Comparisons
from heldout.eval.report.coverage import cut_texts
from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.kinds import view_of, words_of
from heldout.eval.report.tables import metric_of, slice_name
from heldout.eval.report.wording import Bounded, advantage, bounded, listed
from heldout.eval.statistics import FEW
from heldout.fits import spoken

#: What the texts of a slice are called in a sentence, and the rest; only slices (or parts) named here get one.
SLICE_WORDS = {
    "negation": ("texts with a negated opinion", "elsewhere"),
    "pair_negation=hypothesis only": ("pairs with a negation in the hypothesis alone", "on those with none"),
    "pair_negation=premise only": ("pairs with a negation in the premise alone", "on those with none"),
    "pair_negation=both": ("pairs with a negation in both texts", "on those with none"),
}
#: The confidence whose worth the verdict tells; where none is given, that of most answers.
CONFIDENCE = 0.9


@dataclass(frozen=True)
class Told:
    """The sentences that answer one question of a reader."""

    heading: str
    sentences: tuple[str, ...]


def verdict_groups(inputs: Inputs, found: Comparisons) -> tuple[Told, ...]:
    """The verdict by question, 'how good is it' first and what to bear in mind last; no sentence is empty."""
    parts = {
        "How good is it?": (_how_good,),
        "Against what?": (_against,),
        "Where does it break?": (_of_kind, _where),
        "Can its confidence be trusted?": (_trust,),
        "To bear in mind": (_limits,),
    }
    told = {
        heading: tuple(said for part in made for said in part(inputs, found) if said) for heading, made in parts.items()
    }
    *first, last = (Told(heading, sentences) for heading, sentences in told.items())
    return (*(group for group in first if group.sentences), last)


def verdict(inputs: Inputs, found: Comparisons) -> list[str]:
    """The sentences of the verdict in their order."""
    return [sentence for group in verdict_groups(inputs, found) for sentence in group.sentences]


def banners(inputs: Inputs) -> list[str]:
    """A red line for each test set that something was fitted on, or that is the very train split; and for each on which
    a system is so far below chance that its labels must be in another order.
    """
    lines = []
    for data in inputs.tests:
        for system in inputs.systems:
            things = fitted_things(system, data)
            if things:
                lines.append(sentences.fitted_on(data.name, [f"the {thing} of {system.name}" for thing in things]))
            notes = system.scores.get(data.name, {}).get("notes", [])
            lines += [f"{system.name} on {data.name}. {note}" for note in notes if note.startswith(OPENING)]
    return list(dict.fromkeys(lines))


def fitted_things(system: System, data: DataSet) -> list[str]:
    """What of a system was fitted on a set, as its ledger and its fits say."""
    things = [name.replace("_", " ") for name in system.ledger.fitted_on(data.hash, data.name)]
    things += [spoken(name) for name, fit in system.fits.items() if fit.fitted_on.get("hash") == data.hash]
    return list(dict.fromkeys(things))


def _how_good(inputs: Inputs, found: Comparisons) -> Iterator[str]:
    first, main, metric = inputs.tests[0], inputs.main, inputs.metric
    entry = main.scores.get(first.name, {}).get("metrics", {}).get(metric)
    if entry is None:
        yield f"{main.name} has no predictions on {first.name}."
        return
    value, low, high = bounded(entry)
    n, view, many = len(first.examples), view_of(inputs), words_of(inputs).many
    if view.lead is not None and value is not None:
        yield from view.lead(inputs)
    elif metric == "accuracy" and value is not None:
        right = int(inputs.table(main, first).correct.sum())
        yield sentences.answered(main.name, first.name, right, n, low, high, many)
    else:
        yield sentences.measured(main.name, first.name, metric, (value, low, high), n, many)
    seeds = [s for s in inputs.systems if s.seed_of and s.seed_of == main.seed_of and first.name in s.scores]
    values = [v for s in seeds if (v := value_on(s, first.name, metric)) is not None]
    if len(values) > 1:
        yield sentences.seeds(first.name, metric, values, f"about {main.name}")


def _better(metric: str, difference: Bounded) -> Bounded:
    return advantage(difference, find(metric).higher_is_better)


def value_on(system: System, data: str, metric: str) -> float | None:
    """A system's value of a metric on a whole set."""
    return bounded(system.scores.get(data, {}).get("metrics", {}).get(metric))[0]


def _against(inputs: Inputs, found: Comparisons) -> Iterator[str]:
    first, metric = inputs.tests[0].name, inputs.metric
    if found.best is None:
        yield sentences.no_baseline(found.reason)
    for other, name in [(found.best, "the best baseline, "), *((s, "") for s in found.others)]:
        if other is None:
            continue
        value = value_on(other, first, metric)
        if value is not None and (other.name, first, "") in found.lifts:
            difference = _better(metric, found.lifts[other.name, first, ""].difference)
            if len(inputs.tests[0].examples) < FEW:
                difference = (difference[0], None, None)
            yield sentences.lift("It", f"{name}{other.name}", value, metric, difference)


def _of_kind(inputs: Inputs, found: Comparisons) -> Iterator[str]:
    yield from view_of(inputs).more(inputs)


def _where(inputs: Inputs, found: Comparisons) -> Iterator[str]:
    first, metric = inputs.tests[0].name, inputs.metric
    slices = inputs.main.scores.get(first, {}).get("slices", {})
    for (inside, rest), gap in found.gaps.items():
        words = SLICE_WORDS.get(inside) or SLICE_WORDS.get(inside.split("=")[0])
        sides = [(bounded(slices[key]["metrics"].get(metric))[0], slices[key]["n"]) for key in (inside, rest)]
        (a, n), (b, m) = sides
        few = inside in SLICE_WORDS and min(n, m) < FEW
        if words and not few and a is not None and b is not None:
            yield sentences.slice_gap(words[0], (a, n), (b, m), metric, _better(metric, gap), words[1])
    yield _weakest(inputs)
    yield sentences.drops(first, {data: _better(metric, drop) for data, drop in found.drops.items()}, metric)


def _weakest(inputs: Inputs) -> str:
    """The worst slice of the first test set, of those that are no part of it by chance: not few, and its interval apart
    from that of the whole. Slices that read another metric are not comparable and left out.
    """
    scores, metric = inputs.main.scores.get(inputs.tests[0].name, {}), inputs.metric
    higher = find(metric).higher_is_better
    whole = bounded(scores.get("metrics", {}).get(metric))
    parts = scores.get("slices", {})
    found = {
        key: value
        for key, part in parts.items()
        if metric_of(inputs, scores, key) == metric and part.get("n", 0) >= FEW
        if (value := bounded(part.get("metrics", {}).get(metric)))[0] is not None
    }
    if not found or whole[0] is None:
        return ""
    key = min(found, key=lambda key: (found[key][0] or 0.0) * (1 if higher else -1))
    apart = _below(found[key], whole) if higher else _below(whole, found[key])
    return sentences.weakest(slice_name(key), found[key], int(parts[key]["n"]), whole[0], metric) if apart else ""


def _below(first: Bounded, second: Bounded) -> bool:
    """Whether an interval ends before another begins."""
    return first[2] is not None and second[1] is not None and first[2] < second[1]


def _trust(inputs: Inputs, found: Comparisons) -> Iterator[str]:
    first = inputs.tests[0]
    if first.name not in inputs.main.predictions:
        return
    answers, words = answers_of(inputs, first), words_of(inputs)
    if answers is None:
        # A language model gives no answers that could be trusted: nothing is missing then.
        if view_of(inputs).trust:
            yield f"{inputs.main.name} gives no scores: how far to trust an answer cannot be told."
        return
    bins = [b for b in reliability_bins(answers) if b.n]
    if not bins:
        return
    fullest = max(bins, key=lambda b: b.n)
    held = next((b for b in bins if b.low < CONFIDENCE <= b.high), fullest)
    things = (words.given, words.came_true)
    yield sentences.confident(first.name, held.n, held.right, held.low, held.high, held.confidence, things)
    fit = inputs.main.fits.get(TEMPERATURE)
    if fit is None:
        return
    found_changes = {data.name: _change(inputs, data.name) for data in inputs.tests}
    changes = {name: change for name, change in found_changes.items() if change is not None}
    split, n = str(fit.fitted_on.get("split", "?")), int(fit.fitted_on.get("n", 0))
    yield sentences.temperature(fit.parameters["temperature"], split, n, changes, words.many)


def _change(inputs: Inputs, data: str) -> sentences.Change | None:
    """The ECE of a set before and after temperature; None where there is none."""
    sides = [inputs.main.scores.get(data, {}), variant(inputs, data)]
    entries = [side.get("metrics", {}).get("ece") or {} for side in sides]
    before, after = (bounded(entry)[0] for entry in entries)
    if before is None or after is None:
        return None
    moved = bounded(entries[1].get("change") or {"value": 0, "low": 0, "high": 0})
    if entries[1]["n"] < FEW:
        moved = (moved[0], None, None)
    # The 95th percentile of what perfect calibration gives with this many answers.
    chance = [(entry.get("expected_if_calibrated") or {}).get("high", 0) for entry in entries]
    return sentences.Change(before, after, moved, before <= chance[0] and after <= chance[1])


def _limits(inputs: Inputs, found: Comparisons) -> Iterator[str]:
    words = words_of(inputs)
    cuts = {data.name: cut_texts(inputs.main, data.name) for data in inputs.tests}
    limit = inputs.main.options.get("max_length")
    yield sentences.cut(
        {d: c for d, c in cuts.items() if c[1]}, limit if isinstance(limit, int) else None, words.one, words.many
    )
    for data in inputs.tests:
        marks = [example.about["overlap"] for example in data.examples if "overlap" in example.about]
        shared = marks.count("shared")
        without = inputs.main.scores.get(data.name, {}).get("slices", {}).get("overlap=not in train", {})
        value = bounded(without.get("metrics", {}).get(inputs.metric))[0]
        if marks:
            counts = (len(data.examples), len(marks) - shared, shared)
            yield sentences.overlap(data.name, counts, inputs.metric, value, words.many)
    silent = [d.name for d in inputs.tests if d.name not in inputs.main.predictions]
    if silent:
        yield f"{inputs.main.name} has no predictions on {listed(silent)}."
