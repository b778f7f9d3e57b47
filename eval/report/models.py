"""Kind lm in the report: language models, whose records are sums of losses; there is no answer to call a mistake."""

from collections.abc import Iterator

from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.sentences import measured
from heldout.eval.report.view import Body, Cards, View, Words
from heldout.eval.report.wording import bounded, interval, percent

#: The metric of pretraining on pairs of segments.
NEXT = "nsp_accuracy"


def _no_cards(inputs: Inputs, system: System, data: DataSet) -> Cards:
    return Cards((), lambda row, room: Body("", ()))


def _how_good(inputs: Inputs) -> Iterator[str]:
    """The main model's loss, and how often it tells the true next segment, where it was asked."""
    first, n = inputs.tests[0].name, len(inputs.tests[0].examples)
    metrics = inputs.main.scores.get(first, {}).get("metrics", {})
    yield measured(inputs.main.name, first, inputs.metric, bounded(metrics.get(inputs.metric)), n, "texts")
    value, low, high = bounded(metrics.get(NEXT))
    if value is not None:
        yield (
            f"It tells the true next segment from another document's in {percent(value)} of the pairs of {first} "
            f"(95% interval {interval(NEXT, low, high)}); a coin would in 50%."
        )


VIEW = View(words=lambda inputs: Words("text", "texts"), cards=_no_cards, filters=(), trust="", lead=_how_good)
