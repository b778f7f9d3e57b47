"""entity_type: the type of an entity; precision is of the entities found of that type, recall of gold's."""

from heldout.bio import Entity
from heldout.eval.slices import EntitySlice
from heldout.records import Example


def _value(example: Example, entity: Entity) -> str:
    return entity[2]


SLICE = EntitySlice("entity_type", _value)
