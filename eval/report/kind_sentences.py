"""Sentences of the verdict that only one kind of card has; like those of sentences.py pure functions of numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heldout.eval.report.sentences import told
from heldout.eval.report.wording import (
    Bounded,
    count,
    difference_interval,
    listed,
    measure,
    number,
    percent,
    title,
)
from heldout.eval.statistics import FEW


@dataclass(frozen=True)
class Moved:
    """A metric before and after, and after − before with its interval, as an advantage."""

    before: float
    after: float
    difference: Bounded

    def told(self, metric: str) -> str:
        """'from 60.0% to 62.0% (better, change 1.0 to 3.0)', and no more than chance called that."""
        _, low, high = self.difference
        judged = "too few questions to tell"
        if low is not None and high is not None:
            judged = "better" if low > 0 else "worse" if high < 0 else "no more than chance could give"
            judged = "no change" if low == high == 0 else f"{judged}, change {difference_interval(metric, low, high)}"
        return f"from {measure(metric, self.before)} to {measure(metric, self.after)} ({judged})"


def precision_recall(precision: Bounded, recall: Bounded) -> str:
    """What recall and precision are, behind the F1 that they make; empty where one is not known."""
    if precision[0] is None or recall[0] is None:
        return ""
    found = told("entity_recall", recall)
    return (
        f" It finds {found} of gold's entities, and {told('entity_precision', precision)} of those it finds are right."
    )


def lenient(strict: float, value: float) -> str:
    """conlleval's reading beside the strict one."""
    shown = measure("entity_f1_lenient", value)
    same = "the same" if shown == measure("entity_f1", strict) else shown
    return (
        f"That is IOB2 read strictly; read leniently, as conlleval does (an I- that continues nothing begins an "
        f"entity), its F1 is {same}."
    )


def unseen(data: str, new: tuple[Bounded, int], known: tuple[Bounded, int]) -> str:
    """The recall of entities whose words train never had as an entity, and of the others: (recall, gold entities)."""
    (recall, n), (other, m) = new, known
    few = " (few)" if m < FEW else ""
    return (
        f"Of the {count(n)} entities of {data} whose words are no entity of train it finds "
        f"{told('entity_recall', recall)}, of the {count(m)}{few} others {told('entity_recall', other)}."
    )


def exact(value: Bounded) -> str:
    """The share of exact matches, behind F1."""
    return f" Of its answers {told('em', value)} match gold exactly."


def answerable(has: tuple[Bounded, int], no: tuple[Bounded, int]) -> str:
    """F1 of the questions with an answer, and the share of the impossible ones left unanswered: (value, questions)."""
    return (
        f"On the {count(has[1])} questions that have an answer the F1 is {told('has_ans_f1', has[0])}; of the "
        f"{count(no[1])} that have none it leaves {told('no_ans_acc', no[0])} unanswered."
    )


def threshold(
    value: float, fitted_on: Mapping[str, object], data: str, metric: str, change: Moved, best: float | None
) -> str:
    """What the null threshold of dev does to a set, and what the best one of the set itself would have given."""
    text = (
        f"A null threshold of {number(value)}, fitted on {fitted_on.get('split', '?')} ({count(_n(fitted_on))} "
        f"questions), takes the {title(metric)} on {data} {change.told(metric)}"
    )
    if best is None:
        return f"{text}."
    return (
        f"{text}; the best one for {data} itself would give {measure(metric, best)}, which is chosen on the test set."
    )


def _n(fitted_on: Mapping[str, object]) -> int:
    n = fitted_on.get("n", 0)
    return n if isinstance(n, int) else 0


def selective(data: str, share: float, risk: float, whole: float) -> str:
    """How many best spans are wrong among the surest ones, and among all."""
    return (
        f"Of the surest {percent(share, 0)} of its best spans on {data} {percent(risk)} don't match gold exactly, "
        f"of all of them {percent(whole)}."
    )


def pairs(data: str, value: Bounded, n: int) -> str:
    """Pair consistency: the share of contrast pairs whose members are all answered right."""
    return (
        f"Of the {count(n)} contrast pairs of {data} it answers {told('pair_consistency', value)} right in all members."
    )


def collapsed(data: Sequence[str], collapse: Mapping[str, str], labels: int) -> str:
    """Sets whose gold has labels that stand for several of the card's ``labels``: they are scored on another scale."""
    made = {new: [old for old in collapse if collapse[old] == new] for new in dict.fromkeys(collapse.values())}
    words = listed([f"{listed(old)} count as one, {new}" for new, old in made.items()])
    left = labels - len(collapse) + len(made)
    return (
        f"On {listed(data)} {words}: {left} labels instead of {labels}, so the numbers there are not on the scale "
        "of the other sets."
    )


def artefact(system: str, data: str, metric: str, value: float, majority: float | None) -> str:
    """A system that sees the hypothesis alone: what it reaches can be had without the premise."""
    beside = "" if majority is None else f" (always the commonest label: {measure(metric, majority)})"
    return (
        f"Artefact check: {system} never sees the premise and has {_an(metric)} of {measure(metric, value)} on "
        f"{data}{beside}; that much can be had without comparing the two texts."
    )


def _an(metric: str) -> str:
    words = title(metric)
    return f"{'an' if words[0] in 'aeiouAEIOU' or metric == 'mcc' else 'a'} {words}"
