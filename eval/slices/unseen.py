"""unseen: whether an entity's words are an entity of train (``about.unseen``: first words of those that aren't).

Gold alone can say it, so what is measured here is recall. An entity that was found counts on the side of the gold
entity that it shares words with; one that shares none counts on neither, so precision and F1 of both sides are better
than those of the whole set. Examples whose ``about`` has no such list are in no part.
"""

from heldout.bio import Entity
from heldout.eval.slices import EntitySlice
from heldout.records import Example

SEEN, UNSEEN = "in train", "not in train"


def _value(example: Example, entity: Entity) -> str | None:
    unseen = example.about.get("unseen")
    if unseen is None:
        return None
    return UNSEEN if entity[0] in unseen else SEEN


SLICE = EntitySlice(
    "unseen",
    _value,
    order=(UNSEEN, SEEN),
    by_met=True,
    read="entity_recall",
)
