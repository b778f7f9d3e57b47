"""Kind lm in the report: language models, whose records are sums of losses; there is no answer to call a mistake."""

from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.view import Body, Cards, View, Words


def _no_cards(inputs: Inputs, system: System, data: DataSet) -> Cards:
    return Cards((), lambda row, room: Body("", ()))


VIEW = View(words=lambda inputs: Words("text", "texts"), cards=_no_cards, filters=(), trust="")
