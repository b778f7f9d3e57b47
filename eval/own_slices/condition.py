"""What an expression of eval/own_slices/expression.py means for an example: which fields it names, whether it holds.

What an example does not have equals nothing, is neither more nor less than anything, and holds no pattern; so
``domain != books`` holds where there is no domain. Of a field with several values (gold answers, entities) one that
holds is enough.
"""

import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from heldout.bio import strict
from heldout.errors import Failed, Refused
from heldout.eval.own_slices.expression import COUNTS, Both, Compare, Field, Match, Not, Tree, compiled, show
from heldout.eval.own_slices.fields import text_of, words_of
from heldout.options import nearest
from heldout.records import Example, Prediction

#: Seconds that a pattern may take on one text: some patterns take longer than anybody lives.
PATIENCE = 2.0
#: What a field may be, beside the text fields and the keys of about.
ROOTS = ("text", "gold", "label", "about", "seen")
ORDERS: Mapping[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def holds(tree: Tree, example: Example, prediction: Prediction) -> bool:
    """Whether an expression holds of an example; only ``seen`` looks at the prediction."""
    if isinstance(tree, Both):
        first = holds(tree.left, example, prediction)
        return first if first == (tree.word == "or") else holds(tree.right, example, prediction)
    if isinstance(tree, Not):
        return not holds(tree.inner, example, prediction)
    found = values(tree if isinstance(tree, Field) else tree.field, example, prediction)
    if isinstance(tree, Field):
        return any(map(bool, found))
    if isinstance(tree, Match):
        return any(_found(tree, as_text(value), example) for value in found) == (tree.op == "~")
    if tree.op in ("=", "!="):
        return any(_equal(value, right) for value in found for right in _rights(tree, example, prediction)) == (
            tree.op == "="
        )
    lefts = [number for value in found if (number := _number(value)) is not None]
    order = ORDERS[tree.op]
    return any(order(a, b) for a in lefts for b in map(_number, _rights(tree, example, prediction)) if b is not None)


def _rights(tree: Compare, example: Example, prediction: Prediction) -> list[Any]:
    return values(tree.value, example, prediction) if isinstance(tree.value, Field) else [tree.value]


def values(field: Field, example: Example, prediction: Prediction) -> list[Any]:
    """The values that an example has of a field: none, one, or several; a count is one number."""
    path = field.path
    if not field.counts:
        return _flat(_walk(path, example, prediction))
    if path[0] == "seen":
        return _flat(_walk(path, example, prediction))
    found = _flat(_walk(path[:-1], example, prediction)) if len(path) > 1 else [text_of(example.text)]
    if not found and len(path) > 1 and path[0] not in ("gold", "label"):
        return []
    return [_count(path[-1], found)]


def _count(what: str, found: Sequence[Any]) -> int:
    if what == "count":
        return len(found)
    texts = list(map(as_text, found))
    return sum(len(text) if what == "characters" else len(text.split()) for text in texts)


def _walk(path: tuple[str, ...], example: Example, prediction: Prediction) -> Any:
    """What stands at a path, None where nothing does."""
    root, rest = path[0], path[1:]
    if root in example.text:
        return words_of(example.text[root]) if not rest else None
    if root == "text":
        return text_of(example.text) if not rest else _at([words_of(example.text.get(rest[0], ""))], rest[1:])
    if root in ("gold", "label"):
        return _at(_gold(example.gold), rest)
    if root == "about":
        return _at(example.about, rest) if rest else None
    if root == "seen":
        return _at(prediction.seen or {}, rest) if rest else None
    return _at(example.about, path)


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _gold(gold: Any) -> Any:
    """Gold as it is compared: a label, the texts of answers, the types of a sentence's entities."""
    if isinstance(gold, list) and all(isinstance(one, str) for one in gold):
        return [kind for _, _, kind in strict(gold)]
    if isinstance(gold, list):
        return [one.get("text") if isinstance(one, Mapping) else one for one in gold]
    return gold


def _flat(value: Any) -> list[Any]:
    """The single values in what may be a list of them; an object has none."""
    if isinstance(value, list | tuple):
        return [one for inside in value for one in _flat(inside)]
    return [] if value is None or isinstance(value, Mapping) else [value]


def as_text(value: Any) -> str:
    """A value as text: true and false in JSON's way, whole numbers without a point.

    >>> as_text(True), as_text(3.0), as_text("x")
    ('true', '3', 'x')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _equal(value: Any, right: Any) -> bool:
    """As numbers where the right is one, else as text."""
    return _number(value) == right if isinstance(right, int | float) else as_text(value) == right


def _found(tree: Match, text: str, example: Example) -> bool:
    with _bounded(f"{show(tree)}: took over {PATIENCE:g} s on id {example.id!r}; write a simpler pattern"):
        return _compiled(tree.pattern, tree.flags).search(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str, flags: str) -> "re.Pattern[str]":
    return compiled(pattern, flags)


@contextmanager
def _bounded(message: str) -> Iterator[None]:
    """Failed with this message where the block takes longer than PATIENCE.

    A signal can stop Python's re in the middle of a match; it reaches the main thread only.
    """
    if threading.current_thread() is not threading.main_thread():
        raise Refused("slices with a pattern are cut in the main thread only, where one that hangs can be stopped")

    def stop(number: int, frame: Any) -> None:
        raise Failed(message)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fields(tree: Tree) -> list[Field]:
    """Every field that an expression names, in its order."""
    if isinstance(tree, Field):
        return [tree]
    if isinstance(tree, Not):
        return fields(tree.inner)
    if isinstance(tree, Both):
        return fields(tree.left) + fields(tree.right)
    right = [tree.value] if isinstance(tree, Compare) and isinstance(tree.value, Field) else []
    return [tree.field, *right]


def refuse_unknown(tree: Tree, examples: Sequence[Example], where: str) -> None:
    """Refused for a field that none of the examples has, naming the nearest that is there."""
    texts = {name for example in examples for name in example.text}
    abouts = {name for example in examples for name in example.about}
    known = [*ROOTS, *COUNTS[:3], *sorted(texts), *sorted(abouts), *(f"about.{name}" for name in sorted(abouts))]
    known += [f"{name}.words" for name in sorted(texts)]
    nothing = Prediction("", None, seen={"tokens": 0, "lost": 0})
    for field in fields(tree):
        if not any(values(field, example, nothing) for example in examples):
            shown = show(field)
            raise Refused(
                f"{where}: no example has {shown!r}{nearest(shown, known)}; there are "
                f"{', '.join(dict.fromkeys(name for name in known if '.' not in name))}"
            )
