"""entity_length: how many words an entity has; precision is of the entities found of that length, recall of gold's."""

from heldout.bio import Entity
from heldout.eval.slices import EntitySlice
from heldout.records import Example

NAMES = ("1 word", "2 words", "3 words or more")


def _value(example: Example, entity: Entity) -> str:
    start, end, _ = entity
    return NAMES[min(end - start, len(NAMES)) - 1]


SLICE = EntitySlice("entity_length", _value, order=NAMES)
