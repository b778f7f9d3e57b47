"""From gold and predictions to the table of the card's kind."""

from collections.abc import Callable, Mapping, Sequence

from heldout.errors import Refused
from heldout.eval.labels import tabulate_labels
from heldout.eval.lm import tabulate_lm
from heldout.eval.spans import tabulate_spans
from heldout.eval.table import BINS, Table
from heldout.eval.tags import tabulate_tags
from heldout.records import Card, Example, Prediction

#: How each kind of card is read; a kind that is not here cannot be scored.
KINDS: Mapping[str, Callable[[Card, Sequence[Example], Sequence[Prediction], int], Table]] = {
    "label": tabulate_labels,
    "lm": tabulate_lm,
    "span": tabulate_spans,
    "tags": tabulate_tags,
}


def tabulate(card: Card, gold: Sequence[Example], predictions: Sequence[Prediction], *, bins: int = BINS) -> Table:
    """Join by id and turn into arrays; Refused where ids don't match or cards of this kind cannot be scored."""
    if card.kind not in KINDS:
        raise Refused(f"card {card.name!r} is of kind {card.kind!r}; scored are {', '.join(KINDS)}")
    return KINDS[card.kind](card, gold, predictions, bins)
