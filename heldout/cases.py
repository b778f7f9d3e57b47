"""What a test case says of itself in ``about``: its pair, its role in it, what is expected of the answer.

    {"pair": "7", "role": "original"}
    {"pair": "7", "role": "changed", "expect": "inv"}                         the answer is that to the original
    {"pair": "7", "role": "changed", "expect": "dir", "direction": "-positive"}   its score of positive is lower
    {"expect": "mft"}                                                         the answer is gold (a minimum)

The three expectations are those of CheckList (Ribeiro et al. 2020): minimum functionality, invariance, direction.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from heldout.errors import Refused

Expect = Literal["mft", "inv", "dir"]
EXPECT: tuple[str, ...] = get_args(Expect)
ORIGINAL, CHANGED = "original", "changed"
#: In the place of a label: the one that the original was answered.
ANSWER = "answer"
DIRECTION = re.compile(r"(?P<sign>[+-])(?P<label>.+?)(?::(?P<margin>-?(?:\d+\.?\d*|\.\d+)))?")


def needs_no_gold(about: Mapping[str, Any]) -> bool:
    """Whether an example is judged by its pair alone: a change (inv, dir), or the original of one.

    >>> needs_no_gold({"pair": "7", "expect": "inv"}), needs_no_gold({"pair": "7", "expect": "mft"})
    (True, False)
    """
    expect = about.get("expect")
    return "pair" in about and (expect in ("inv", "dir") or (expect is None and about.get("role") == ORIGINAL))


def originals(abouts: Iterable[Mapping[str, Any]]) -> Mapping[str, int]:
    """The row of each pair's original: the one in that role, else the first that expects nothing, else the first.

    >>> originals([{"pair": "7", "expect": "inv"}, {}, {"pair": "7"}])
    {'7': 2}
    """
    found: dict[str, tuple[int, int]] = {}
    for row, about in enumerate(abouts):
        if "pair" in about:
            rank = 0 if about.get("role") == ORIGINAL else 1 + ("expect" in about)
            pair = str(about["pair"])
            found[pair] = min(found.get(pair, (rank, row)), (rank, row))
    return {pair: row for pair, (_, row) in found.items()}


@dataclass(frozen=True)
class Direction:
    """Which way the score of a label must move: ``sign`` times the change is more than ``margin``.

    A negative margin lets it stand still, or go the wrong way by so much.
    """

    sign: int
    label: str
    margin: float = 0.0

    def met(self, before: float, after: float) -> bool:
        """Whether a score that was ``before`` and is ``after`` has moved so.

        >>> Direction(-1, "positive", 0.1).met(0.9, 0.7), Direction(-1, "positive", 0.1).met(0.9, 0.85)
        (True, False)
        """
        # A bound that is written as 0.1 is not to fail by what 0.9 - 0.8 is off in binary.
        return self.sign * (after - before) > self.margin + (1e-9 if self.margin == 0 else -1e-9)


def direction(text: str, where: str) -> Direction:
    """A direction of "+LABEL" or "-LABEL:MARGIN"; Refused, saying where, for anything else.

    >>> direction("-very bad:0.05", "row 3")
    Direction(sign=-1, label='very bad', margin=0.05)
    """
    found = DIRECTION.fullmatch(text)
    if found is None:
        raise Refused(
            f"{where}: direction {text!r:.40} must be + or - and a label, such as -positive (its score is lower than "
            f"the original's) or -positive:0.1 (by at least 0.1); {ANSWER} stands for the original's answer"
        )
    return Direction(1 if found["sign"] == "+" else -1, found["label"], float(found["margin"] or 0))
