"""Which view a report has of a kind of card; a new kind is a module with a VIEW and a line here."""

from collections.abc import Mapping

from heldout.eval.report import entities, labels, spans
from heldout.eval.report.inputs import Inputs
from heldout.eval.report.models import VIEW as MODELS
from heldout.eval.report.view import View, Words

VIEWS: Mapping[str, View] = {"label": labels.VIEW, "tags": entities.VIEW, "span": spans.VIEW, "lm": MODELS}


def view_of(inputs: Inputs) -> View:
    """The view of these inputs' kind; reading them has refused what cannot be scored."""
    return VIEWS[inputs.card.kind]


def words_of(inputs: Inputs) -> Words:
    """What things are called in a report of these inputs."""
    return view_of(inputs).words(inputs)
