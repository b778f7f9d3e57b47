"""What a report shows of one kind of card and of no other: its words, its sections, its sentences, its mistakes.

A kind is a View in a module of its own, which kinds.py lists; everything else of the report is the same for all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeAlias

from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.pieces import Field, Member, Section


@dataclass(frozen=True)
class Body:
    """The card of one mistake: its heading, its texts, what it is filtered by ({filter: values}), a line of numbers,
    and the other members of its contrast pair.
    """

    heading: str
    fields: tuple[Field, ...]
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    note: str = ""
    beside: tuple[Member, ...] = ()


@dataclass(frozen=True)
class Cards:
    """The mistakes of a system on a set: (confidence, row) in the order to show them, and the card of a row.

    Its texts take at most so many bytes of HTML; with 0 bytes it holds no text of the set at all.
    """

    order: Sequence[tuple[float | None, int]]
    body: Callable[[int, int], Body]


def in_turn(first: Sequence[Any], second: Sequence[Any]) -> list[int]:
    """Rows from both lists in turn, so that any number of the first of them holds as many of each as there are.

    >>> in_turn([1, 2, 3], [7])
    [1, 7, 2, 3]
    """
    return [int(row) for pair in zip_longest(first, second) for row in pair if row is not None]


Sentences: TypeAlias = Callable[[Inputs], Iterator[str]]


@dataclass(frozen=True)
class Words:
    """What things are called: one example and several; the answers that calibration is about, what an answer is
    called whose confidence came true; what McNemar's test counts.
    """

    one: str
    many: str
    events: str = "answers"
    given: str = "answers given"
    came_true: str = "were right"
    counted: str = ""


@dataclass(frozen=True)
class View:
    """One kind.

    words: of these inputs. lead: how good the main system is on the first test set, in sentences that open the verdict;
        None where accuracy or the main metric says it all.
    more: sentences on what this kind must be told of. sections: those of its own. cards: its mistakes.
    filters: (name, label) of what its mistakes are filtered by beside system, set, slice and text. order: which
        mistakes are shown first.
    trust: what stands before the reliability diagrams, empty where a kind has none. clustered: whether several answers
        stand in one example, so that no interval may count them one by one.
    """

    words: Callable[[Inputs], Words]
    cards: Callable[[Inputs, System, DataSet], Cards]
    filters: Sequence[tuple[str, str]]
    trust: str
    lead: Sentences | None = None
    more: Sentences = lambda inputs: iter(())
    sections: Callable[[Inputs], Sequence[Section]] = lambda inputs: ()
    order: str = ""
    clustered: bool = False
