"""What a search may vary: ``NAME=LOW:HIGH``, ``NAME=LOW:HIGH:log``, ``NAME=LOW:HIGH:STEP`` or ``NAME=A,B,C``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from math import isfinite, prod
from typing import Any, Literal, get_args, get_origin, get_type_hints

from heldout.errors import Refused
from heldout.options import flag, nearest, shape

EXAMPLES = "such as learning-rate=1e-5:1e-4:log, warmup=0:0.2 or batch-size=16,32"
WORDS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True)
class Dimension:
    """One option that is varied: over ``choices``, or from ``low`` to ``high``, both included.

    ``whole`` says that only whole numbers count, ``step`` (0 for none) that only low, low + step, … do.
    """

    name: str
    choices: tuple[Any, ...] = ()
    low: float = 0
    high: float = 0
    log: bool = False
    step: float = 0
    whole: bool = False

    @property
    def ends(self) -> tuple[Any, ...]:
        """The values that stand for all: every choice, or the two ends of the range."""
        return self.choices or (self.low, self.high)

    @property
    def count(self) -> int:
        """How many values it has; 0 where there are more than can be counted."""
        if self.choices or not (self.whole or self.step):
            return len(self.choices)
        return int((self.high - self.low) / (self.step or 1) + 1e-9) + 1

    @property
    def values(self) -> tuple[Any, ...]:
        """All its values in order; none where there are more than can be counted."""
        if self.choices or not (self.whole or self.step):
            return self.choices
        found = (self.low + (self.step or 1) * i for i in range(self.count))
        return tuple(found) if self.whole else tuple(float(f"{value:.12g}") for value in found)


def parse_space(texts: Sequence[str], options: Any, varied: Sequence[str]) -> tuple[Dimension, ...]:
    """The dimensions of a search over those of the fields of ``options`` (a dataclass) that are ``varied``.

    Refused, before any work, for a name that is none of them, with the nearest, and for a value that its option would
    refuse beside the others as they are.
    """
    found: dict[str, Dimension] = {}
    for text in texts:
        dimension = _dimension(text, options, varied)
        if dimension.name in found:
            raise Refused(f"--space {text}: {flag(dimension.name)} is given twice; keep one")
        for value in dimension.ends:
            try:
                replace(options, **{dimension.name: value})
            except Refused as refused:
                raise Refused(f"--space {text}: {refused}") from None
        found[dimension.name] = dimension
    if not found:
        raise Refused(f"--space: say what to search over, {EXAMPLES}")
    return tuple(found.values())


def size(space: Sequence[Dimension]) -> int | None:
    """How many points the space holds; None where there are more than can be counted."""
    return prod(dimension.count for dimension in space) or None


def points(space: Sequence[Dimension]) -> Iterator[dict[str, Any]]:
    """Every point of a space that can be counted, the last dimension changing first."""
    names = [dimension.name for dimension in space]
    return (dict(zip(names, point, strict=True)) for point in product(*(d.values for d in space)))


def allowed(options: Any, point: Mapping[str, Any]) -> bool:
    """Whether the options take this point: some refuse one another (a stride longer than a window)."""
    try:
        replace(options, **point)
    except Refused:
        return False
    return True


def _dimension(text: str, options: Any, varied: Sequence[str]) -> Dimension:
    given, equals, values = text.partition("=")
    name = given.strip().lstrip("-").replace("-", "_")
    if not equals or not values.strip():
        raise Refused(f"--space {text}: write NAME=VALUES, {EXAMPLES}")
    if name not in varied:
        known = {field.name for field in fields(options)}
        why = "must be the same for every trial" if name in known else "is not an option"
        shown = [flag(one)[2:] for one in varied]
        close = "" if name in known else nearest(flag(name)[2:], shown)
        raise Refused(f"--space {text}: {given} {why} (a sweep varies {', '.join(shown)}){close}")
    hint = get_type_hints(type(options))[name]
    if ":" in values and shape(hint)[0] in (int, float):
        return _range(text, name, values, whole=shape(hint)[0] is int)
    choices = tuple(_value(text, word.strip(), hint) for word in values.split(","))
    if len(set(choices)) != len(choices):
        raise Refused(f"--space {text}: every value once")
    if len(choices) == 1:
        raise Refused(f"--space {text}: one value is no choice; give it as {flag(name)} {values}")
    return Dimension(name, choices)


def _range(text: str, name: str, values: str, *, whole: bool) -> Dimension:
    first, *rest = values.split(":")
    words = [word.strip() for word in (first, *rest)]
    log = words[2:] == ["log"]
    try:
        numbers = [int(word) if whole else float(word) for word in (words[:2] if log else words)]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(map(isfinite, numbers)):
        kind = "whole numbers" if whole else "numbers"
        raise Refused(f"--space {text}: a range is LOW:HIGH, LOW:HIGH:log or LOW:HIGH:STEP, in {kind}")
    low, high, step = (*numbers, 0)[:3]
    if low >= high:
        raise Refused(f"--space {text}: the first number must be the lower one")
    if log and low <= 0:
        raise Refused(f"--space {text}: a range on a log scale begins above 0")
    if len(numbers) == 3 and not 0 < step <= high - low:
        raise Refused(f"--space {text}: the step must be more than 0 and fit into the range")
    return Dimension(name, low=low, high=high, log=log, step=step, whole=whole)


def _value(text: str, word: str, hint: Any) -> Any:
    """A choice as its option has it."""
    kind, _ = shape(hint)
    if word == "none" and type(None) in get_args(hint):
        return None
    if get_origin(kind) is Literal:
        if word not in get_args(kind):
            known = [str(one) for one in get_args(kind)]
            raise Refused(f"--space {text}: {word!r} is none of {', '.join(filter(None, known))}{nearest(word, known)}")
        return word
    if kind is bool:
        if word not in WORDS:
            raise Refused(f"--space {text}: {word!r} is none of {', '.join(WORDS)}")
        return WORDS[word]
    try:
        value = kind(word)
    except ValueError:
        value = None
    if value is None or word == "" or (kind is float and not isfinite(value)):
        wanted = {int: "a whole number", float: "a number"}.get(kind, "a value")
        raise Refused(f"--space {text}: {word!r} is not {wanted}")
    return value
