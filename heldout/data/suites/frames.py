"""Sentence frames, from which suites are made: templates of a changed text and of its twin, and what fills them.

    Frame("not", {"text": "The {n} is not {a}.", "label": "negative"}, {"text": "The {n} is {a}.", "label": "positive"},
          (NOUNS, GOOD))

A slot is a list of fillings, each a mapping from names to words, so that one filling can bring words that belong
together ({"do": "play a flute", "wide": "play an instrument"}). Gold is known by construction: it stands in the frame.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import ceil, prod
from typing import Any, TypeAlias

from heldout.cases import CHANGED, ORIGINAL

Slot: TypeAlias = Sequence[Mapping[str, str]]
#: The columns of one row of a suite, as a task's reader reads them.
Values: TypeAlias = Mapping[str, Any]
#: From a frame's templates and a filling to the columns of a task.
Finish: TypeAlias = Callable[[Mapping[str, str], Mapping[str, str]], Values]

#: Pairs of a phenomenon: below 30 a share says little (eval marks such a slice "few").
EACH = 30
#: Before a vowel "a" is "an"; our word lists hold no word that is spelt with a vowel and said without (a unicorn).
ARTICLE = re.compile(r"\b([Aa])(?= [aeiouAEIOU])")
#: Where a sentence begins.
BEGINS = re.compile(r"(?:^|(?<=[.!?] ))[a-z]")


@dataclass(frozen=True)
class Frame:
    """One frame: the columns of the changed text and of its twin as templates, and the slots that fill both.

    ``expect`` is what the changed text must do (about.expect): mft, its gold; inv, its twin's answer.
    """

    phenomenon: str
    changed: Mapping[str, str]
    twin: Mapping[str, str]
    slots: tuple[Slot, ...]
    expect: str = "mft"


def words(name: str, *values: str) -> Slot:
    """A slot of single words: words("n", "film", "plot") fills {n}."""
    return [{name: value} for value in values]


def written(text: str) -> str:
    """A filled template as people write it: "a" before a vowel is "an", sentences begin with a capital.

    >>> written("the man ate a apple. he liked it.")
    'The man ate an apple. He liked it.'
    """
    return BEGINS.sub(lambda found: found[0].upper(), ARTICLE.sub(r"\1n", text))


def fillings(slots: Sequence[Slot], seed: str) -> Iterator[dict[str, str]]:
    """Every filling of the slots, in an order drawn by a seed."""
    total = prod(map(len, slots))
    for place in random.Random(seed).sample(range(total), total):
        filling: dict[str, str] = {}
        for slot in slots:
            place, which = divmod(place, len(slot))
            filling |= slot[which]
        yield filling


def _different(drawn: Iterator[dict[str, str]], text: Callable[[dict[str, str]], str]) -> Iterator[dict[str, str]]:
    """The fillings that give texts of their own: one may hold words that a template has no use for."""
    seen = set[str]()
    for filling in drawn:
        if text(filling) not in seen:
            seen.add(text(filling))
            yield filling


def _text(frame: Frame, finish: Finish, filling: Mapping[str, str]) -> str:
    return str(finish(frame.changed, filling))


def rows_of(frames: Sequence[Frame], finish: Finish, *, each: int, seed: int) -> list[dict[str, Any]]:
    """``each`` pairs of rows of every phenomenon (or a few more), as many of each of its frames: twin, changed text.

    ``finish`` makes a task's columns of a frame's templates and a filling. A row also tells its id, pair, phenomenon,
    frame, role and expectation.
    """
    rows: list[dict[str, Any]] = []
    kinds = Counter(frame.phenomenon for frame in frames)
    for number, frame in enumerate(frames, 1):
        drawn = fillings(frame.slots, f"{seed}/{number}/{frame.phenomenon}")
        different = _different(drawn, partial(_text, frame, finish))
        for k, filling in enumerate(islice(different, ceil(each / kinds[frame.phenomenon])), 1):
            pair = f"frame {number}, pair {k}"
            for role, template in ((ORIGINAL, frame.twin), (CHANGED, frame.changed)):
                about = {"pair": pair, "phenomenon": frame.phenomenon, "frame": str(number), "role": role}
                about |= {"expect": frame.expect} if role == CHANGED else {}
                rows.append({"id": f"{pair}, {role}", **finish(template, filling), **about})
    return rows
