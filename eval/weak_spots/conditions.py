"""What a leaf of the tree asks of a case: conditions on features, in words and as an expression of --slice."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from heldout.eval.own_slices.expression import show_text
from heldout.eval.weak_spots.features import Feature
from heldout.eval.weak_spots.tree import Step


@dataclass(frozen=True)
class Column:
    """A column of the tree's codes: a feature, and what its codes stand for (borders, or one part against others)."""

    feature: Feature
    borders: tuple[float, ...] = ()
    part: int = -1


@dataclass(frozen=True)
class Condition:
    """A feature between two borders, or in a part or in none of some."""

    feature: Feature
    above: float | None = None
    at_most: float | None = None
    part: str | None = None
    none_of: tuple[str, ...] = ()


def conditions(way: Sequence[Step], columns: Sequence[Column]) -> list[Condition]:
    """The way to a leaf in as few conditions as there are features on it."""
    by_name: dict[str, Condition] = {}
    for step in way:
        column = columns[step.column]
        name = column.feature.name
        before = by_name.get(name, Condition(column.feature))
        above, at_most, part, none_of = before.above, before.at_most, before.part, before.none_of
        if column.feature.parts:
            value = column.feature.parts[column.part]
            part, none_of = (value, ()) if step.above else (part, none_of if part else (*none_of, value))
            left = [one for one in column.feature.parts if one not in none_of]
            # Of two labels, not the one is the other; where some cases have none, it is not.
            if none_of and len(left) == 1 and (column.feature.values >= 0).all():
                part, none_of = left[0], ()
        elif step.above:
            above = max(column.borders[step.code], -math.inf if above is None else above)
        else:
            at_most = min(column.borders[step.code], math.inf if at_most is None else at_most)
        by_name[name] = Condition(column.feature, above, at_most, part, none_of)
    return list(by_name.values())


def said(condition: Condition) -> str:
    """A condition in words: length over 50, up to 200."""
    name = condition.feature.name
    if condition.part is not None:
        return f"{name} is {condition.part}"
    if condition.none_of:
        return f"{name} is not {' or '.join(condition.none_of)}"
    if condition.above is not None and condition.at_most is not None:
        return f"{name} over {_number(condition.above)}, up to {_number(condition.at_most)}"
    return (
        f"{name} over {_number(condition.above)}"
        if condition.at_most is None
        else (f"{name} up to {_number(condition.at_most)}")
    )


def _number(value: float | None) -> str:
    return f"{value:.0f}" if value is not None and float(value).is_integer() else f"{value:.1f}"


def expression(found: Sequence[Condition]) -> str | None:
    """The spot as an expression of --slice, None where the language lacks a word for it."""
    parts = []
    for condition in found:
        name = condition.feature.expression
        if not name:
            return None
        parts += [f"{name} > {_number(condition.above)}"] if condition.above is not None else []
        parts += [f"{name} <= {_number(condition.at_most)}"] if condition.at_most is not None else []
        parts += [f"{name} = {show_text(condition.part)}"] if condition.part is not None else []
        parts += [f"{name} != {show_text(part)}" for part in condition.none_of]
    return " and ".join(parts)
