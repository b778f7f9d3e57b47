"""The sentences of the verdict: each a pure function from the numbers of the records to words.

Whoever reads only these must not be misled: a difference whose interval holds zero is called no more than chance,
a loss is called a loss, and a sentence without its numbers is not written. Differences come in as advantages:
positive is better, also where a lower value is.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev

from heldout.eval.report.wording import (
    TOO_FEW,
    Bounded,
    amount,
    bounds,
    count,
    difference_interval,
    interval,
    listed,
    measure,
    percent,
    title,
)

#: Of more sets than MANY, where a sentence could not be read to its end, only the TOLD worst are told one by one.
MANY, TOLD = 5, 3


def answered(
    system: str, data: str, right: int, n: int, low: float | None, high: float | None, things: str = "texts"
) -> str:
    """How many texts (or other things) of a set are answered right."""
    span = f", 95% interval {bounds(low, high)}" if bounds(low, high) else ""
    return f"{system} answers {count(right)} of {count(n)} {data} {things} right ({percent(right / n)}{span})."


def measured(system: str, data: str, metric: str, value: Bounded, n: int, things: str = "texts") -> str:
    """The main metric where it is another than accuracy."""
    if value[0] is None:
        return f"{system} has no {title(metric)} on {data}: it needs scores, and its predictions hold none."
    shown = _within(metric, value)
    return f"On the {count(n)} {data} {things} the {title(metric)} of {system} is {measure(metric, value[0])}{shown}."


def _within(metric: str, value: Bounded) -> str:
    span = interval(metric, value[1], value[2])
    return f" (95% interval {span})" if span else ""


def told(metric: str, value: Bounded) -> str:
    """A metric's value with its interval in brackets."""
    return measure(metric, value[0]) + _within(metric, value)


def lift(subject: str, other: str, other_value: float, metric: str, difference: Bounded) -> str:
    """What a system adds to another on the same texts, with the paired interval of the difference.

    ``subject`` opens the sentence ('It'), ``other`` names the other with its article ('the best baseline, tf-idf').
    """
    value, low, high = difference
    than = f"{other} ({measure(metric, other_value)})"
    if value is None:
        return f"No difference between it and {than} can be computed from the records."
    comma = "," if "," in other else ""
    size = amount(metric, value)
    side = f"is {size} {'better' if value > 0 else 'worse'} than" if value else "does exactly as well as"
    if low is None or high is None:
        return f"{subject} {side} {than}; {TOO_FEW}."
    span = f"interval {difference_interval(metric, low, high)}"
    if low > 0:
        return f"{subject} beats {than}{comma} by {size} ({span})."
    if high < 0:
        return f"{subject} does worse than {than}{comma} by {size} ({span})."
    return f"{subject} {side} {than}: {span}{', no more than chance could give' if value else ''}."


def no_baseline(reason: str) -> str:
    """Why the verdict names no best baseline."""
    return f"How much that is worth is not known: {reason}."


def slice_gap(
    of: str,
    inside: tuple[float, int],
    rest: tuple[float, int],
    metric: str,
    gap: Bounded,
    elsewhere: str = "elsewhere",
) -> str:
    """How much worse or better a slice goes than the rest; ``gap`` is inside minus rest, as two unpaired samples."""
    value, low, high = gap
    shown = f"it reaches {measure(metric, inside[0])} (n = {count(inside[1])}), {elsewhere} {measure(metric, rest[0])}"
    text = f"On {of} {shown} (n = {count(rest[1])})"
    if value is None or low is None or high is None:
        return f"{text}; {TOO_FEW}."
    span = f"interval {difference_interval(metric, low, high)}"
    if low > 0:
        return f"{text}: it gains {amount(metric, value)} there ({span})."
    if high < 0:
        return f"{text}: it loses {amount(metric, value)} there ({span})."
    return f"{text}: a difference of {amount(metric, value)} ({span}), no more than chance could give."


def weakest(name: str, inside: Bounded, n: int, whole: float, metric: str) -> str:
    """The slice where the main metric is worst, which is told only where its interval leaves out that of the whole."""
    return (
        f"It is weakest on the slice “{name}” (n = {count(n)}): {told(metric, inside)}, against "
        f"{measure(metric, whole)} on all."
    )


def drops(first: str, changes: Mapping[str, Bounded], metric: str) -> str:
    """What is lost from the first test set to each shifted one (positive = a drop), and which is the worst, if one is.

    Where the interval of the largest loss holds zero it may be nothing: it is then called the lowest here, no more.
    """
    known = {data: change for data, change in changes.items() if change[0] is not None}
    told, rest = (known, {}) if len(known) <= MANY else _worst(known)
    parts = [_change(first, data, change, metric) for data, change in told.items()]
    if not parts:
        return ""
    text = f"From {first} " + "; ".join([*parts, *([_range(rest, metric)] if rest else [])])
    lost = {data: change[0] for data, change in changes.items() if change[0] is not None and change[0] > 0}
    if len(changes) > 1 and lost:
        worst = max(lost, key=lambda data: lost[data])
        sure = (changes[worst][1] or 0) > 0
        text += (
            f". The worst domain is {worst}" if sure else f". The lowest here is {worst}, not told apart from {first}"
        )
    return text + "."


def _worst(changes: Mapping[str, Bounded]) -> tuple[dict[str, Bounded], dict[str, Bounded]]:
    """The TOLD sets where most is lost, and the others."""
    order = sorted(changes.items(), key=lambda entry: -(entry[1][0] or 0.0))
    return dict(order[:TOLD]), dict(order[TOLD:])


def _range(changes: Mapping[str, Bounded], metric: str) -> str:
    """Between what the changes of several sets lie."""
    values = [change[0] for change in changes.values() if change[0] is not None]
    ends = [
        f"a {'loss' if value > 0 else 'gain'} of {amount(metric, value)}" if value else "no change"
        for value in (max(values), min(values))
    ]
    return f"on the other {count(len(values))} its change lies between {listed(ends)}"


def _change(first: str, data: str, change: Bounded, metric: str) -> str:
    value, low, high = change
    assert value is not None
    verb = f"{'loses' if value > 0 else 'gains'} {amount(metric, value)}" if value else "changes nothing"
    if low is None or high is None:
        return f"to {data} it {verb} ({TOO_FEW})"
    span = difference_interval(metric, *((-high, -low) if value < 0 else (low, high)))
    doubt = ", no more than chance could give" if low <= 0 <= high and value else ""
    return f"to {data} it {verb} (interval {span}{doubt})"


def confident(
    data: str,
    n: int,
    right: int,
    low: float,
    high: float,
    mean: float,
    things: tuple[str, str] = ("answers given", "were right"),
) -> str:
    """What a stated confidence is worth: one bin of the reliability diagram, with at least one answer.

    ``things``: what has the confidence, and what became of those whose confidence came true.
    """
    return (
        f"Of the {count(n)} {data} {things[0]} with {percent(low, 0)} to {percent(high, 0)} confidence "
        f"(mean {percent(mean)}), {count(right)} {things[1]} ({percent(right / n)})."
    )


@dataclass(frozen=True)
class Change:
    """An ECE before and after, and after − before with its interval.

    ``chance`` where both are what a perfectly calibrated system would show.
    """

    before: float
    after: float
    difference: Bounded
    chance: bool = False

    def __str__(self) -> str:
        span = difference_interval("ece", *self.difference[1:])
        told = f", change {span}" if span and self.difference[1:] != (0, 0) else ""
        return f"from {self.before:.3f} to {self.after:.3f} ({self.judged}{told})"

    @property
    def judged(self) -> str:
        """The change in words."""
        _, low, high = self.difference
        if self.chance:
            return "both no more than chance"
        if low is None or high is None:
            return "too few texts to tell"
        if low <= 0 <= high:
            return "no more than chance could give" if low < high else "no change"
        return "better" if high < 0 else "worse"


def temperature(value: float, split: str, n: int, changes: Mapping[str, Change], things: str = "texts") -> str:
    """What one temperature does to the ECE of each test set; worse is called worse. Empty where the card has no ECE."""
    text = f"A temperature of {value:.2f}, fitted on {split} ({count(n)} {things}), "
    told = list(changes.items()) if len(changes) <= MANY else list(changes.items())[:1]
    moved = [f"on {data} {change}" for data, change in told]
    rest = Counter(change.judged for change in list(changes.values())[len(told) :])
    others = ", ".join(f"{judged} on {count(n)}" for judged, n in rest.most_common())
    return f"{text}takes the ECE {listed(moved)}{'; elsewhere ' + others if others else ''}." if moved else ""


def cut(data: Mapping[str, tuple[int, int]], limit: int | None, one: str = "text", many: str = "texts") -> str:
    """How many texts were longer than what the model reads: {data: (cut, n)}."""
    at = f"at {count(limit)} tokens" if limit else "at the model's limit"
    parts = [f"{count(k)} of {count(n)} {name} {many}" for name, (k, n) in data.items() if k]
    if not data:
        return ""
    if not parts:
        return f"No {one} was cut {at}."
    return f"{listed(parts)} were cut {at}."


def overlap(data: str, counts: tuple[int, int, int], metric: str, without: float | None, things: str = "texts") -> str:
    """How many test texts also stand in train, and the main metric without them.

    ``counts``: all, those that stand there word for word or nearly, those that only share a premise or a passage.
    """
    n, inside, shared = counts
    found = [f"{count(inside)} also stand in train, word for word or nearly"] if inside else []
    found += [f"{count(shared)} share a premise or a passage with train"] if shared else []
    rest = "" if without is None else f"; without them its {title(metric)} is {measure(metric, without)}"
    return f"Of the {count(n)} {data} {things} {' and '.join(found)}{rest}."


def seeds(data: str, metric: str, values: Sequence[float], shown: str) -> str:
    """How far several seeds lie apart; the rest of the page shows one of them."""
    mean = sum(values) / len(values)
    spread = f"sd {amount(metric, stdev(values))}, {measure(metric, min(values))} to {measure(metric, max(values))}"
    where = f"over {len(values)} seeds the {title(metric)} on {data} averages {measure(metric, mean)} ({spread})"
    return f"{where[0].upper()}{where[1:]}; everything else here is {shown}."


def fitted_on(data: str, things: Sequence[str]) -> str:
    """The red banner: a test set that something was fitted on."""
    were = "was" if len(things) == 1 else "were"
    return f"{data} is no held-out test: {listed(things)} {were} fitted on these very texts. Its numbers flatter."
