"""What a comparison says, in sentences with their numbers: is the other system better, where, and could it be seen."""

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.bio import strict
from heldout.eval.comparison.compare import ALPHA, RANDOMISATION
from heldout.eval.metrics import find
from heldout.eval.report.pictures import p_value
from heldout.eval.report.tables import slice_name
from heldout.eval.report.wording import (
    PER_CENT,
    amount,
    count,
    difference_interval,
    listed,
    measure,
    percent,
    signed_amount,
    title,
)
from heldout.eval.statistics import FEW

#: What one example is called, and several, by the card's kind.
THINGS = {
    "label": ("text", "texts"),
    "tags": ("sentence", "sentences"),
    "span": ("question", "questions"),
    "lm": ("row", "rows"),
}
#: More slices than these are counted, not named.
NAMED = 6


def verdict(found: Mapping[str, Any], data: str, other: str) -> list[str]:
    """The sentences on one system against the reference on one data set; the first tells the result."""
    pair, metric = found["tests"][data]["pairs"][other], found["metric"]
    entry = pair["metrics"].get(metric) or next(iter(pair["metrics"].values()))
    metric = metric if metric in pair["metrics"] else next(iter(pair["metrics"]))
    lines = [*_result(found, data, other, metric, entry), *_slices(found, pair, metric, other)]
    return [*lines, *_seeds(found, other, metric, entry), *_churn(found, pair, other)]


def shown(entry: Mapping[str, Any], *, adjusted: bool = False) -> bool:
    """Whether a difference was shown: its p, of slices the adjusted one, is below 5%."""
    p = entry.get("p_holm" if adjusted else "p")
    return p is not None and p < ALPHA


def better(metric: str, difference: float) -> bool:
    """Whether a difference other − reference is one to the better."""
    return (difference > 0) == find(metric).higher_is_better


def difference(metric: str, entry: Mapping[str, Any]) -> str:
    """A difference with its unit: +1.6 points, −0.012."""
    words = signed_amount(metric, entry["value"])
    return f"{words} {'point' if words[1:] == '1.0' else 'points'}" if metric in PER_CENT else words


def tested(entry: Mapping[str, Any], block: Mapping[str, Any]) -> str:
    """The interval and the tests of a difference, in brackets."""
    parts = []
    if entry.get("low") is not None:
        metric = entry["metric"]
        parts.append(f"95% {difference_interval(metric, entry['low'], entry['high'])}")
    if "p" in entry:
        parts.append(f"{entry['test']} p {p_value(entry['p'])}")
    if "mcnemar" in block:
        parts.append(f"exact McNemar p {p_value(block['mcnemar']['p'])}")
    return "; ".join(parts)


def answer_of(kind: str, answer: Any, text: Mapping[str, Any]) -> str:
    """An answer, or gold, in words: a label, the entities that tags spell, a span or the texts of gold's spans.

    >>> answer_of("tags", ["B-person", "I-person", "O"], {"words": ["Ada", "Lovelace", "wrote"]})
    'person Ada Lovelace'
    """
    if kind == "tags":
        words = text.get("words", [""] * len(answer))
        return "; ".join(f"{type_} {' '.join(words[start:end])}" for start, end, type_ in strict(answer)) or "no entity"
    if kind == "span":
        texts = [answer] if isinstance(answer, str) else [span["text"] for span in answer]
        return " / ".join(dict.fromkeys(texts)) or "no answer"
    return str(answer)


def _result(found: Mapping[str, Any], data: str, other: str, metric: str, entry: Mapping[str, Any]) -> Iterator[str]:
    reference, test = found["reference"], found["tests"][data]
    n, (_, many) = count(test["n"]), THINGS[found["kind"]]
    if entry["value"] is None:
        yield f"On {data} there is nothing to compare in {title(metric)}: {entry['method']}."
        return
    sides = f"{other} {measure(metric, entry['other'])}, {reference} {measure(metric, entry['reference'])}"
    brackets = tested({**entry, "metric": metric}, test["pairs"][other])
    told = f"{difference(metric, entry)}{f' ({brackets})' if brackets else ''}"
    yield f"On {data} ({n} {many}) {title(metric)} is {sides}: {told}. {_says(found, other, metric, entry, many)}"
    if test["groups"] is not None and "mcnemar" in test["pairs"][other]:
        yield (
            f"The {many} come in {count(test['groups'])} groups, which interval and {entry['test']} keep whole; "
            f"McNemar's test counts {many} as if each stood alone."
        )
    if test["groups"] is not None and test["groups"] < FEW:
        yield (
            f"{test['groups']} groups are few: intervals from so few are too narrow, and the smallest p that swapping "
            f"them can give is {2 / 2 ** test['groups']:.2g}."
        )


def _says(found: Mapping[str, Any], other: str, metric: str, entry: Mapping[str, Any], many: str) -> str:
    if "p" not in entry:
        return f"That is too little to say anything: {entry['method']}."
    if shown(entry):
        return f"{other} is {'better' if better(metric, entry['value']) else 'worse'}."
    could = entry["could_show"]["value"]
    if entry["value"] == 0 and could is None:
        return "They do not differ."
    if could is None:
        return "No difference was shown, and none could have been: they answer too few differently."
    return (
        "No difference was shown; it may be chance. "
        f"With these {many} one of {amount(metric, could)} would have been seen 8 times in 10."
    )


def _slices(found: Mapping[str, Any], pair: Mapping[str, Any], metric: str, other: str) -> Iterator[str]:
    """On which slices a difference is left once it is asked of all of them."""
    blocks = pair["slices"].items()
    read = {key: block["metrics"].get(block.get("read"), block["metrics"][metric]) for key, block in blocks}
    known = {key: entry for key, entry in read.items() if "p" in entry}
    if not known:
        return
    slices = _plural(len(known), "slice")
    left = {key: entry for key, entry in known.items() if shown(entry, adjusted=True)}
    if not left:
        yield f"On none of {slices} is a difference shown (after Holm's correction)."
        return
    sides = {
        word: [slice_name(key) for key, entry in left.items() if better(metric, entry["value"]) is way]
        for word, way in (("better", True), ("worse", False))
    }
    told = [f"{word} on {_named(names)}" for word, names in sides.items() if names]
    yield f"Of {slices} {other} is {listed(told)} (p < 0.05 after Holm's correction)."


def _named(names: list[str]) -> str:
    return listed(names) if len(names) <= NAMED else str(len(names))


def _plural(n: int, one: str) -> str:
    return f"{count(n)} {one}{'' if n == 1 else 's'}"


def _seeds(found: Mapping[str, Any], other: str, metric: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """What the seeds are and how little they can say."""
    told = [
        f"{name} is the mean of {len(side['by_seed'])} seeds "
        f"({', '.join(measure(metric, value) for value in side['by_seed'].values())}; sd {amount(metric, side['sd'])})"
        for name, side in ((found["reference"], entry.get("reference_seeds")), (other, entry.get("other_seeds")))
        if side
    ]
    if not told:
        return
    sides = [found["reference"], other]
    alone = [name for name in sides if not found["systems"][name]["seeds"]]
    yield (
        f"{listed(told)}; the interval draws seeds as well as examples."
        + (
            f" Of {alone[0]} there is one run: how much it would vary with its seed is not in the interval."
            if alone
            else ""
        )
    )
    least, p = entry["least_p_of_seeds"], entry["p_of_seeds"]
    hardly = "; so few runs cannot show a difference by themselves" if least >= ALPHA else ""
    yield (
        f"Dividing the runs anew, with the {THINGS[found['kind']][1]} as they are, gives p {p_value(p)}; "
        f"the smallest that so many can give is {least:.3g}{hardly}."
    )


def _churn(found: Mapping[str, Any], pair: Mapping[str, Any], other: str) -> Iterator[str]:
    if "churn" not in pair:
        return
    churn, reference = pair["churn"], found["reference"]
    lost, won = churn["right_to_wrong"]["n"], churn["wrong_to_right"]["n"]
    one, many = THINGS[found["kind"]]
    yield (
        f"{count(lost)} {one if lost == 1 else many} that {reference} has right {other} has wrong, {count(won)} the "
        f"other way; both are right on {count(churn['both_right'])} and wrong on {count(churn['both_wrong'])}."
    )
    for name, share in churn.get("between_seeds", {}).items():
        yield f"(Of {name} that is the answer of most seeds.)"
        yield f"Two seeds of {name} already differ so on {percent(share)}."
    if "entities" in churn:
        e = churn["entities"]
        yield (
            f"Of gold's entities {count(e['only_reference'])} are found by {reference} alone, "
            f"{count(e['only_other'])} by {other} alone, {count(e['both'])} by both, {count(e['neither'])} by neither."
        )


def methods(found: Mapping[str, Any]) -> list[str]:
    """How the numbers were made, for who wants to know."""
    entries = [
        entry
        for test in found["tests"].values()
        for pair in test["pairs"].values()
        for entry in pair["metrics"].values()
    ]
    tests = dict.fromkeys(entry["test"] for entry in entries if "test" in entry)
    lines = [f"A difference is a system's value minus that of {found['reference']}."]
    intervals = dict.fromkeys(entry["method"] for entry in entries if entry.get("low") is not None)
    lines += [f"Intervals: {method}." for method in intervals]
    if RANDOMISATION in tests:
        lines.append(
            f"Randomisation p: the two systems' answers are swapped at random {count(found['replicates'])} times, "
            "groups whole; p = (1 + swaps with as large a difference) / (1 + swaps)."
        )
    if len(tests) > 1 or RANDOMISATION not in tests:
        lines.append(
            "Bootstrap p (several seeds, and metrics that sort or bin by a system's own confidence): twice the share "
            "of replicates on the far side of 0."
        )
    return [
        *lines,
        "Holm: p adjusted over all slices of one metric and one pair of systems, over all data sets.",
        "Could show: the smallest difference that so many examples would have shown 8 times in 10, at 5%: from how "
        "many are answered differently (Connor 1987), else from the spread of the bootstrap (Card et al. 2020).",
    ]
